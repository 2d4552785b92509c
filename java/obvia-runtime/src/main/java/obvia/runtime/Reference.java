package obvia.runtime;

import java.lang.ref.Cleaner;
import obvia.Hresult;
import obvia.RpcException;

/**
 * An interface pointer of another process, with references that belong to this process. Each proxy
 * has an interface pointer of its own.
 */
public final class Reference {
    private static final Cleaner CLEANER = Cleaner.create();

    private final Transport transport;
    private final long target;
    private final long oid;
    private final Owned owned;
    /** The release of the references when the proxy is collected. */
    private Cleaner.Cleanable release;

    /** The references to be released. */
    private static final class Owned implements Runnable {
        private final Transport transport;
        private final long target;
        private int refs;

        Owned(Transport transport, long target, int refs) {
            this.transport = transport;
            this.target = target;
            this.refs = refs;
        }

        @Override
        public synchronized void run() {
            if (refs > 0) {
                transport.releaseLater(target, refs);
                refs = 0;
            }
        }

        synchronized boolean isReleased() {
            return refs == 0;
        }
    }

    /**
     * Creates an interface pointer with references that belong to this process from now on: see
     * {@link Transport#proxy}.
     */
    Reference(Transport transport, long target, long oid, int refs) {
        this.transport = transport;
        this.target = target;
        this.oid = oid;
        owned = new Owned(transport, target, refs);
    }

    /** Returns the transport by which the object is reached. */
    Transport transport() {
        return transport;
    }

    /** Returns the interface pointer, a number that is only meaningful to its transport. */
    long target() {
        return target;
    }

    /** Returns the OID of the object. */
    long oid() {
        return oid;
    }

    /** Throws RPC_E_DISCONNECTED if the references were released. */
    void check() {
        if (owned.isReleased()) {
            throw RpcException.of(Hresult.RPC_E_DISCONNECTED, "the reference was released");
        }
    }

    /** Queries the object of a proxy for another interface, and returns a proxy. */
    public static <T> T query(Proxy proxy, InterfaceInfo<T> info) {
        Reference reference = proxy.reference();
        reference.check();
        try {
            return reference.transport.query(reference.target, reference.oid, info);
        } finally {
            java.lang.ref.Reference.reachabilityFence(proxy);
        }
    }

    /** Releases the references of a proxy. */
    public static void release(Proxy proxy) {
        proxy.reference().release.clean();
    }

    /**
     * Registers the references for release when the proxy is collected.
     *
     * @throws IllegalStateException if the references belong to another proxy
     */
    void releaseWith(Proxy proxy) {
        if (release != null) {
            throw new IllegalStateException("the reference belongs to another proxy: a factory makes one proxy of each reference");
        }
        release = CLEANER.register(proxy, owned);
    }

    /** Releases the references now if they belong to no proxy. */
    void releaseUnlessOwned() {
        if (release == null) {
            owned.run();
        }
    }

    /** Whether the other interface pointer leads to the same object. */
    boolean isSame(Reference other) {
        return other.oid == oid && other.transport.oxid() == transport.oxid();
    }

    int identity() {
        return Long.hashCode(oid * 31 + transport.oxid());
    }
}
