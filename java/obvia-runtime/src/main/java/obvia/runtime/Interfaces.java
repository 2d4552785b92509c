package obvia.runtime;

import obvia.Guid;
import obvia.Hresult;
import obvia.Remote;
import obvia.RpcException;

/** Interfaces that are known by their IIDs. */
public final class Interfaces {
    private Interfaces() {}

    /**
     * The interface of this IID, by which an object is passed whose interface an argument says.
     *
     * @throws RpcException with E_NOINTERFACE where this process does not know it, or its objects are no {@link Remote}
     */
    public static InterfaceInfo<? extends Remote> of(Guid iid) {
        return of(iid, null);
    }

    /**
     * The same where an object is to have it: where several class loaders have the interface, the object's own.
     *
     * @throws RpcException with E_NOINTERFACE where this process does not know it, or its objects are no {@link Remote}
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
