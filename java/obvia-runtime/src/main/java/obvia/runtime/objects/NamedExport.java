package obvia.runtime.objects;

import obvia.runtime.InterfaceInfo;
import obvia.runtime.Interfaces;

/** An object that is exported under a name. */
record NamedExport(Object object, InterfaceInfo<?> info, boolean isVirtual) {
    /**
     * Returns the interface for another object, whose class loader may have its own class of the
     * interface.
     */
    InterfaceInfo<?> infoFor(Object other) {
        return Interfaces.find(info.iid(), other);
    }
}
