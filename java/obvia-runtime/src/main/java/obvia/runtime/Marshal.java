package obvia.runtime;

import static java.lang.ref.Reference.reachabilityFence;

import java.util.List;
import obvia.Hresult;
import obvia.RpcException;

/**
 * Marshaling of interface pointers in frames.
 *
 * <p>An object of this process is sent with references that are counted for the peer; a proxy is
 * sent with some of the references that this process holds. {@code null} is {@code null}.
 */
public final class Marshal {
    private Marshal() {}

    /**
     * Marshals a reference in the arguments of a call.
     *
     * @param through the proxy that is called
     */
    public static byte[] reference(Proxy through, Object object, InterfaceInfo<?> info) {
        try {
            return object == null ? null : through.way().reference(through.target(), object, info);
        } finally {
            reachabilityFence(through);
        }
    }

    /** Marshals a reference in the results of a call. */
    public static byte[] reference(InCall call, Object object, InterfaceInfo<?> info) {
        return object == null ? null : call.reference(object, info);
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
            return reference == null ? null : through.way().object(through.target(), reference, info);
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
            throw new InCall.Refused(isGone ? Hresult.CO_E_OBJNOTCONNECTED : e.result());
        }
    }

    /** Marshals a reference for another process of this host. */
    static byte[] marshal(ProcessRuntime runtime, long to, Object object, InterfaceInfo<?> info, Sent sent, boolean isVirtual) {
        // Calls of objects that are reached over a network go through this process.
        if (!(object instanceof Proxy proxy) || !(proxy.way() instanceof Link home)) {
            ObjRef reference = runtime.marshalOwn(object, info, to, isVirtual);
            sent.addOwn(runtime.exports(), to, reference);
            return reference.toBytes();
        }
        proxy.check();
        int refs = RuntimeCalls.REFS_PER_QUERY;
        long target;
        try {
            target = RuntimeCalls.query(home, proxy.target(), info);
        } finally {
            reachabilityFence(proxy);
        }
        if (home.oxid() == to) {
            sent.add(() -> home.releaseLater(target, refs));
        } else {
            // The object's process counts the references for the receiver, and this process
            // releases its own.
            RuntimeCalls.transfer(home, target, to, refs);
            home.releaseLater(target, refs);
        }
        return new ObjRef(info.iid(), refs, home.oxid(), proxy.oid(), target, List.of(Link.endpoint(home.oxid()))).toBytes();
    }
}
