// Made by obvia-idl 0.1.0 from trees.idl. Change the IDL, not this.
package trees;

import java.util.Objects;
import obvia.runtime.Frames;

/** {@code union Huge}: one of its arms. */
public sealed interface Huge {
    /** The discriminant: which arm it is. */
    long which();

    /** The arm for 1. */
    record Item_(Item item) implements Huge {
        /** One with these values. */
        public Item_ {
            Objects.requireNonNull(item, "item");
        }

        @Override
        public long which() {
            return 1L;
        }
    }

    /** The arm for 4294967297. */
    record Number(long number) implements Huge {
        @Override
        public long which() {
            return 4294967297L;
        }
    }

    /**
     * The arm for every other discriminant.
     *
     * @param which the discriminant
     */
    record Default(long which) implements Huge {
        /** One with these values. */
        public Default {
            if (which < 0 || which == 1L || which == 4294967297L) {
                throw Frames.badCase(which);
            }
        }
    }
}
