package obvia.runtime;

import obvia.Guid;

/** Interfaces that are known by their IIDs. */
public final class Interfaces {
    private Interfaces() {}

    /**
     * The interface of this IID.
     *
     * @throws obvia.RpcException with E_NOINTERFACE where this process does not know it
     */
    public static InterfaceInfo<?> of(Guid iid) {
        return Known.find(iid);
    }
}
