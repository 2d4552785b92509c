package obvia.runtime;

/**
 * How objects elsewhere are reached: a {@link Link} through shared memory, or what a {@link Network} has for everything else.
 *
 * <p>An interface pointer is a number, which means nothing to any other way.
 */
public abstract class Way {
    /** For those who know one. */
    protected Way() {}

    /** A channel for a call of this thread's. */
    protected abstract Channel channel();

    /** Whether the other side takes arrays by reference: see {@link Channel#refer}. */
    protected boolean takesReferences() {
        return false;
    }

    /** What tells objects apart that have the same number in different processes. */
    protected abstract long oxid();

    /**
     * The bytes of a reference in the arguments of a call.
     *
     * @param through the interface pointer that is called
     * @param object what is passed, not {@code null}
     */
    protected abstract byte[] reference(long through, Object object, InterfaceInfo<?> info);

    /**
     * What a reference in the results of a call leads to.
     *
     * @param through the interface pointer that was called
     */
    protected abstract <T> T object(long through, byte[] reference, InterfaceInfo<T> info);

    /** Asks an object for another interface. */
    protected abstract Reference query(long through, long oid, InterfaceInfo<?> info);

    /** Gives references back, soon; never waits. */
    protected abstract void releaseLater(long target, int refs);

    /** How many nanoseconds calls of this thread may take from now on. */
    protected static long timeLeft() {
        return Deadline.ofCall().left();
    }

    /**
     * The interface pointer behind a proxy of this way's; 0 for any other object. It is good as long as the proxy is: who uses it keeps that.
     *
     * @throws obvia.RpcException with RPC_E_DISCONNECTED where it was given back
     */
    protected final long targetOf(Object object) {
        if (!(object instanceof Proxy proxy) || proxy.way() != this) {
            return 0;
        }
        proxy.check();
        return proxy.target();
    }
}
