package obvia.runtime;

/**
 * An interface pointer of another process, with references that belong to this process: the content
 * of a proxy.
 */
public final class Reference {
    final Way way;
    final long target;
    final long oid;
    final Owned owned;

    /** The references to be released. */
    static final class Owned implements Runnable {
        private final Way way;
        private final long target;
        private int refs;

        Owned(Way way, long target, int refs) {
            this.way = way;
            this.target = target;
            this.refs = refs;
        }

        @Override
        public synchronized void run() {
            if (refs > 0) {
                way.releaseLater(target, refs);
                refs = 0;
            }
        }

        synchronized boolean isReleased() {
            return refs == 0;
        }
    }

    /**
     * Creates an interface pointer with references that belong to this process from now on.
     *
     * @param way the way to the object
     * @param target the interface pointer
     * @param oid the OID, which is the same for all interface pointers of an object
     * @param refs the number of references to be released
     */
    public Reference(Way way, long target, long oid, int refs) {
        this.way = way;
        this.target = target;
        this.oid = oid;
        owned = new Owned(way, target, refs);
    }
}
