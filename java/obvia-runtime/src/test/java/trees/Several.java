// Made by obvia-idl 0.1.0 from trees.idl. Change the IDL, not this.
package trees;

import java.util.List;
import java.util.Objects;
import obvia.Ints;
import obvia.runtime.Frames;

/** {@code union Several}: one of its arms. */
public sealed interface Several {
    /** The discriminant: which arm it is. */
    int which();

    /**
     * The arm for 1.
     *
     * @param three 3 elements
     */
    record Three(Ints three) implements Several {
        /** One with these values. */
        public Three {
            Objects.requireNonNull(three, "three");
            Frames.checkLength(three.size(), 3);
        }

        @Override
        public int which() {
            return 1;
        }
    }

    /**
     * The arm for 2.
     *
     * @param two 2 elements
     */
    record Two(List<Item> two) implements Several {
        /** One with these values. */
        public Two {
            Objects.requireNonNull(two, "two");
            two = Frames.copy(two);
            Frames.checkLength(two.size(), 2);
        }

        @Override
        public int which() {
            return 2;
        }
    }

    /**
     * The arm for 3.
     *
     * @param object may be {@code null}
     */
    record Object_(ITrees object) implements Several {
        @Override
        public int which() {
            return 3;
        }
    }
}
