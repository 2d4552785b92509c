package obvia.runtime;

import static java.lang.ref.Reference.reachabilityFence;

import obvia.Guid;
import obvia.Hresult;
import obvia.Remote;
import obvia.RpcException;
import obvia.runtime.call.Fault;

/**
 * Marshaling of interface pointers in frames.
 *
 * <p>An object of this process is sent with references that are counted for the peer; a proxy is
 * sent with some of the references that this process holds. {@code null} is {@code null}.
 */
public final class Marshal {
    private Marshal() {}

    /** Unmarshals a reference. */
    @FunctionalInterface
    interface Adoption {
        Object adopt(byte[] reference, InterfaceInfo<?> info);
    }

    /**
     * Marshals a reference in the arguments of a call.
     *
     * @param through the proxy that is called
     */
    public static byte[] reference(Proxy through, Object object, InterfaceInfo<?> info) {
        try {
            return object == null ? null : through.transport().reference(through.target(), object, info);
        } finally {
            reachabilityFence(through);
        }
    }

    /** Marshals a reference in the results of a call. */
    public static byte[] reference(InCall call, Object object, InterfaceInfo<?> info) {
        return object == null ? null : call.reference(object, info);
    }

    /**
     * Marshals a reference in the arguments of a call, to an interface that is given by its IID.
     *
     * @param through the proxy that is called
     */
    public static byte[] reference(Proxy through, Object object, Guid iid) {
        return object == null ? null : reference(through, object, Interfaces.of(iid, object));
    }

    /**
     * Marshals a reference in the results of a call, to an interface that is given by its IID.
     */
    public static byte[] reference(InCall call, Object object, Guid iid) {
        return object == null ? null : reference(call, object, Interfaces.of(iid, object));
    }

    /**
     * Unmarshals a reference in the results of a call.
     *
     * @param through the proxy that was called
     * @throws obvia.RpcException with RPC_E_INVALID_OBJREF if the bytes are no OBJREF, or with the
     *     failure if the object's process cannot be reached
     */
    public static <T> T object(Proxy through, byte[] reference, InterfaceInfo<T> info) {
        try {
            return reference == null ? null : through.transport().object(through.target(), reference, info);
        } finally {
            reachabilityFence(through);
        }
    }

    /** Unmarshals a reference in the arguments of a call. */
    public static <T> T object(InCall call, byte[] reference, InterfaceInfo<T> info) {
        try {
            return reference == null ? null : call.object(reference, info);
        } catch (RpcException e) {
            // RPC_E_DISCONNECTED means that the called object is gone and the arguments were not
            // read.
            boolean isGone = e.result() == Hresult.RPC_E_DISCONNECTED;
            throw new Fault.Refused(isGone ? Hresult.CO_E_OBJNOTCONNECTED : e.result());
        }
    }

    /**
     * Unmarshals a reference in the results of a call, to an interface that is given by its IID.
     *
     * @param through the proxy that was called
     * @throws RpcException with E_NOINTERFACE if this process does not know the interface
     */
    public static Remote object(Proxy through, byte[] reference, Guid iid) {
        return reference == null ? null : object(reference, iid, (bytes, info) -> object(through, bytes, info));
    }

    /**
     * Unmarshals a reference in the arguments of a call, to an interface that is given by its IID.
     *
     * @throws RpcException with E_NOINTERFACE if this process does not know the interface
     */
    public static Remote object(InCall call, byte[] reference, Guid iid) {
        return reference == null ? null : object(reference, iid, (bytes, info) -> object(call, bytes, info));
    }

    /** Unmarshals a reference to an interface that is given by its IID. */
    static Remote object(byte[] reference, Guid iid, Adoption adoption) {
        InterfaceInfo<? extends Remote> info;
        try {
            info = Interfaces.of(iid);
        } catch (RpcException e) {
            giveBack(reference, adoption);
            throw e;
        }
        return info.type().cast(adoption.adopt(reference, info));
    }

    /** Gives a reference to an unknown interface back. */
    private static void giveBack(byte[] reference, Adoption adoption) {
        try {
            // The reference has another interface than IUnknown, so it is refused.
            adoption.adopt(reference, Interfaces.UNKNOWN);
        } catch (RuntimeException e) {
            // The caller reports that the interface is unknown.
        }
    }
}
