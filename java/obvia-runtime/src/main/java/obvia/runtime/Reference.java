package obvia.runtime;

/**
 * An interface pointer of another process, with references that belong to this process: what a proxy is made of.
 */
public final class Reference {
    final Way way;
    final long target;
    final long oid;
    final Owned owned;

    /** What is to be given back. */
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
     * References that belong to this process from now on.
     *
     * @param way how the object is reached
     * @param target the interface pointer
     * @param oid the object: the same number for the same object of a process
     * @param refs how many are to be given back
     */
    public Reference(Way way, long target, long oid, int refs) {
        this.way = way;
        this.target = target;
        this.oid = oid;
        owned = new Owned(way, target, refs);
    }
}
