package obvia.runtime.objects;

import obvia.runtime.InterfaceInfo;
import obvia.runtime.Interfaces;

/** An object that is exported under a name. */
record NamedExport(Object object, InterfaceInfo<?> info, boolean isVirtual) {
    /**
     * Returns the description of the interface for another object. The class loader of that object
     * may have its own class of the interface.
     */
    InterfaceInfo<?> infoFor(Object other) {
        return Interfaces.find(info.iid(), other);
    }
}
