// Made by obvia-idl 0.1.0 from trees.idl. Change the IDL, not this.
package trees;

import obvia.runtime.Frames;

/** {@code union Big}: one of its arms. */
public sealed interface Big {
    /** The discriminant: which arm it is. */
    long which();

    /** The arm for 1. */
    record Number(int number) implements Big {
        @Override
        public long which() {
            return 1L;
        }
    }

    /**
     * The arm for 5000000000, 5000000001.
     *
     * @param which the discriminant
     * @param list may be {@code null}
     */
    record List_(long which, Item list) implements Big {
        /** One with these values. */
        public List_ {
            if (which != 5000000000L && which != 5000000001L) {
                throw Frames.badCase(which);
            }
        }
    }

    /** The arm for -7. */
    record CaseMinus7() implements Big {
        @Override
        public long which() {
            return -7L;
        }
    }

    /**
     * The arm for every other discriminant.
     *
     * @param which the discriminant
     * @param text may be {@code null}
     */
    record Text(long which, String text) implements Big {
        /** One with these values. */
        public Text {
            if (which == 1L || which == 5000000000L || which == 5000000001L || which == -7L) {
                throw Frames.badCase(which);
            }
        }
    }
}
