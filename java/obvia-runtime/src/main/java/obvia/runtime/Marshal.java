package obvia.runtime;

import static java.lang.ref.Reference.reachabilityFence;

import java.util.List;
import obvia.Hresult;
import obvia.RpcException;

/**
 * Interface pointers in frames: what they travel as, and what stands for them where they arrive.
 *
 * <p>An object of this process goes with references that are counted for the peer; a proxy goes with some of those that this process has. {@code null} is {@code null}.
 */
public final class Marshal {
    private Marshal() {}

    /**
     * The bytes of a reference in the arguments of a call.
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

    /** The bytes of a reference in the results of a call. */
    public static byte[] reference(InCall call, Object object, InterfaceInfo<?> info) {
        return object == null ? null : call.reference(object, info);
    }

    /**
     * What a reference in the results of a call leads to.
     *
     * @param through the proxy that was called
     * @throws obvia.RpcException with RPC_E_INVALID_OBJREF where it is none, and where its process cannot be reached
     */
    public static <T> T object(Proxy through, byte[] reference, InterfaceInfo<T> info) {
        try {
            return reference == null ? null : through.way().object(through.target(), reference, info);
        } finally {
            reachabilityFence(through);
        }
    }

    /** What a reference in the arguments of a call leads to. */
    public static <T> T object(InCall call, byte[] reference, InterfaceInfo<T> info) {
        try {
            return reference == null ? null : call.object(reference, info);
        } catch (RpcException e) {
            // RPC_E_DISCONNECTED is for the object that is called, and says that nobody has looked at the arguments.
            boolean isGone = e.result() == Hresult.RPC_E_DISCONNECTED;
            throw new InCall.Refused(isGone ? Hresult.CO_E_OBJNOTCONNECTED : e.result());
        }
    }

    /** The bytes of a reference that another process of this host gets. */
    static byte[] marshal(ProcessRuntime runtime, long to, Object object, InterfaceInfo<?> info, Sent sent, boolean isVirtual) {
        // What is reached over a network goes through this process.
        if (!(object instanceof Proxy proxy) || !(proxy.way() instanceof Link home)) {
            ObjRef reference = runtime.marshalOwn(object, info, to, isVirtual);
            sent.add(() -> runtime.exports().release(to, reference.target(), reference.refs()));
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
            // The object's process counts them for whoever gets the pointer, and this one gives its own back.
            RuntimeCalls.transfer(home, target, to, refs);
            home.releaseLater(target, refs);
        }
        return new ObjRef(info.iid(), refs, home.oxid(), proxy.oid(), target, List.of(Link.endpoint(home.oxid()))).toBytes();
    }
}
