package obvia.runtime;

import static java.lang.ref.Reference.reachabilityFence;

import obvia.Guid;
import obvia.Hresult;
import obvia.Remote;
import obvia.RpcException;
import obvia.runtime.call.CallContext;
import obvia.runtime.call.Fault;

/**
 * Marshaling of interface pointers in frames.
 *
 * <p>The process of an object counts the references that are sent. {@code null} stays {@code null}.
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
        if (object == null) {
            return null;
        }
        InterfaceInfo<?> info;
        try {
            info = Interfaces.of(iid, object);
        } catch (RuntimeException | Error e) {
            through.transport().takeBackUnsent();
            throw e;
        }
        return reference(through, object, info);
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
     * @param rest further references in the results, which are given back if {@code reference}
     *     cannot be unmarshaled
     * @throws RpcException with RPC_E_INVALID_OBJREF if the bytes are no OBJREF, or with the reason
     *     why the object's process cannot be reached
     */
    public static <T> T object(Proxy through, byte[] reference, InterfaceInfo<T> info, byte[]... rest) {
        return info.type().cast(object(reference, info, (bytes, wanted) -> result(through, bytes, wanted), rest));
    }

    /**
     * Unmarshals a reference in the arguments of a call.
     *
     * @param rest further references in the arguments, which are given back if {@code reference}
     *     cannot be unmarshaled
     */
    public static <T> T object(InCall call, byte[] reference, InterfaceInfo<T> info, byte[]... rest) {
        return info.type().cast(object(reference, info, (bytes, wanted) -> argument(call, bytes, wanted), rest));
    }

    /**
     * Unmarshals a reference in the results of a call, to an interface that is given by its IID.
     *
     * @param through the proxy that was called
     * @param rest further references in the results, which are given back if {@code reference}
     *     cannot be unmarshaled
     * @throws RpcException as for the other interfaces, or with E_NOINTERFACE if this process does
     *     not know the interface
     */
    public static Remote object(Proxy through, byte[] reference, Guid iid, byte[]... rest) {
        return (Remote) object(reference, iid, (bytes, wanted) -> result(through, bytes, wanted), rest);
    }

    /**
     * Unmarshals a reference in the arguments of a call, to an interface that is given by its IID.
     *
     * @param rest further references in the arguments, which are given back if {@code reference}
     *     cannot be unmarshaled
     * @throws RpcException with E_NOINTERFACE if this process does not know the interface
     */
    public static Remote object(InCall call, byte[] reference, Guid iid, byte[]... rest) {
        return (Remote) object(reference, iid, (bytes, wanted) -> argument(call, bytes, wanted), rest);
    }

    static Object result(Proxy through, byte[] reference, InterfaceInfo<?> info) {
        try {
            return through.transport().object(through.target(), reference, info);
        } finally {
            reachabilityFence(through);
        }
    }

    static Object argument(InCall call, byte[] reference, InterfaceInfo<?> info) {
        try {
            return call.object(reference, info);
        } catch (RpcException e) {
            // To the caller, RPC_E_DISCONNECTED would mean that the called object is gone and the
            // arguments were not read.
            boolean isGone = e.result() == Hresult.RPC_E_DISCONNECTED;
            throw new Fault.Refused(isGone ? Hresult.CO_E_OBJNOTCONNECTED : e.result());
        }
    }

    /**
     * Unmarshals a reference. If that fails, gives the remaining references back.
     *
     * @param type the interface, or its IID
     */
    static Object object(byte[] reference, Object type, Adoption adoption, byte[]... rest) {
        if (reference == null) {
            return null;
        }
        try {
            return adoption.adopt(reference, type instanceof Guid iid ? known(iid, reference, adoption) : (InterfaceInfo<?>) type);
        } catch (RuntimeException | Error e) {
            giveBack(adoption, rest);
            throw e;
        }
    }

    /**
     * Returns the interface of a reference. If this process does not know the interface, gives the
     * reference back.
     */
    private static InterfaceInfo<?> known(Guid iid, byte[] reference, Adoption adoption) {
        try {
            return Interfaces.of(iid);
        } catch (RpcException e) {
            giveBack(adoption, reference);
            throw e;
        }
    }

    /**
     * Gives references back under one deadline: unmarshals them as references to IUnknown. The
     * collector then releases the references with their proxies. Failures are ignored.
     */
    private static void giveBack(Adoption adoption, byte[]... references) {
        CallContext.current().by(CallContext.currentDeadline()).during(() -> {
            for (byte[] reference : references) {
                try {
                    if (reference != null) {
                        adoption.adopt(reference, Interfaces.UNKNOWN);
                    }
                } catch (RuntimeException e) {
                    // The caller reports an earlier failure.
                }
            }
            return null;
        });
    }
}
