package obvia.runtime;

import java.lang.foreign.MemorySegment;
import obvia.runtime.call.CallContext;

/**
 * The transport by which objects of other processes are reached: a link through shared memory, or a
 * {@link Network} for everything else.
 *
 * <p>An interface pointer is a number that is only meaningful to its transport.
 */
public abstract class Transport {
    /** Creates a transport. Only subclasses call this constructor. */
    protected Transport() {}

    /** Returns a channel for a call of this thread. */
    protected abstract Channel channel();

    /** Whether the peer accepts arrays by reference: see {@link Channel#refer}. */
    protected boolean takesReferences() {
        return false;
    }

    /**
     * Whether an array can be passed by reference: it lies in shared memory with the access that
     * the method needs.
     */
    protected boolean isShared(MemorySegment array, boolean isWritten) {
        return false;
    }

    /** Returns the OXID, which distinguishes objects with the same OID in different processes. */
    protected abstract long oxid();

    /**
     * Marshals a reference in the arguments of a call.
     *
     * @param through the interface pointer that is called
     * @param object the object, not {@code null}
     */
    protected abstract byte[] reference(long through, Object object, InterfaceInfo<?> info);

    /** Takes back the references that this thread has marshaled for a call that was not made. */
    protected void takeBackUnsent() {}

    /**
     * Unmarshals a reference in the results of a call.
     *
     * @param through the interface pointer that was called
     */
    protected abstract <T> T object(long through, byte[] reference, InterfaceInfo<T> info);

    /** Queries an object for another interface, and returns a proxy. */
    protected abstract <T> T query(long through, long oid, InterfaceInfo<T> info);

    /** Releases references soon, without waiting. */
    protected abstract void releaseLater(long target, int refs);

    /** Returns the remaining time of this thread's calls in nanoseconds. */
    protected static long timeLeft() {
        return CallContext.currentDeadline().left();
    }

    /**
     * Creates a proxy, which releases its references when it is collected. The references are
     * released at once if the factory makes no proxy.
     *
     * @param target the interface pointer
     * @param oid the OID, which is the same for all interface pointers of an object
     * @param refs the number of references to be released, which belong to the proxy from now on
     */
    protected final <T> T proxy(InterfaceInfo<T> info, long target, long oid, int refs) {
        var reference = new Reference(this, target, oid, refs);
        try {
            return info.proxy().apply(reference);
        } finally {
            reference.releaseUnlessOwned();
        }
    }

    /** Returns the transport of a proxy; {@code null} for any other object. */
    protected static Transport transportOf(Object object) {
        return object instanceof Proxy proxy ? proxy.transport() : null;
    }

    /** Returns the OID of a proxy's object. */
    protected static long oidOf(Proxy proxy) {
        return proxy.reference().oid();
    }

    /**
     * Whether a thread is in a method of a proxy. The check stops that thread for a moment.
     * Afterwards the calling thread sees everything that the stopped thread wrote before.
     */
    protected static boolean isCalling(Thread thread) {
        return Proxy.isCalling(thread);
    }

    /**
     * Returns the interface pointer of a proxy of this transport; 0 for any other object. The
     * pointer is valid as long as the proxy is reachable: the caller has to keep the proxy
     * reachable.
     *
     * @throws obvia.RpcException with RPC_E_DISCONNECTED if the reference was released
     */
    protected final long targetOf(Object object) {
        if (!(object instanceof Proxy proxy) || proxy.transport() != this) {
            return 0;
        }
        proxy.reference().check();
        return proxy.target();
    }
}
