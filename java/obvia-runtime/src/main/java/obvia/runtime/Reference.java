package obvia.runtime;

/**
 * An interface pointer of another process, with references that belong to this process: what a proxy is made of.
 */
public final class Reference {
    final Link link;
    final long target;
    final long oid;
    final Owned owned;

    /** What is to be given back. */
    static final class Owned implements Runnable {
        private final Link link;
        private final long target;
        private int refs;

        Owned(Link link, long target, int refs) {
            this.link = link;
            this.target = target;
            this.refs = refs;
        }

        @Override
        public synchronized void run() {
            if (refs > 0) {
                link.releaseLater(target, refs);
                refs = 0;
            }
        }

        synchronized boolean isReleased() {
            return refs == 0;
        }
    }

    Reference(Link link, long target, long oid, int refs) {
        this.link = link;
        this.target = target;
        this.oid = oid;
        owned = new Owned(link, target, refs);
    }
}
