package obvia.runtime;

import obvia.Guid;
import obvia.Hresult;
import obvia.Remote;
import obvia.RpcException;

/** Interfaces by their IIDs. */
public final class Interfaces {
    private Interfaces() {}

    /**
     * Returns the interface with this IID, for an object whose interface is given by an argument.
     *
     * @throws RpcException with E_NOINTERFACE if this process does not know the interface, or it
     *     does not extend {@link Remote}
     */
    public static InterfaceInfo<? extends Remote> of(Guid iid) {
        return of(iid, null);
    }

    /**
     * Returns the interface with this IID that an object implements: if several class loaders have
     * the interface, that of the object's class loader.
     *
     * @throws RpcException with E_NOINTERFACE if this process does not know the interface, or it
     *     does not extend {@link Remote}
     */
    @SuppressWarnings("unchecked")
    public static InterfaceInfo<? extends Remote> of(Guid iid, Object object) {
        InterfaceInfo<?> info = Known.find(iid, object);
        if (!Remote.class.isAssignableFrom(info.type())) {
            throw RpcException.of(Hresult.E_NOINTERFACE, info.type().getName() + " does not extend " + Remote.class.getName());
        }
        return (InterfaceInfo<? extends Remote>) info;
    }
}
