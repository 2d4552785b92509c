// Made by obvia-idl 0.1.0 from trees.idl. Change the IDL, not this.
package trees;

import java.util.Objects;

/** {@code union Choice}: one of its arms. */
public sealed interface Choice {
    /** The discriminant: which arm it is. */
    Color which();

    /** The arm for 0. */
    record Number(int number) implements Choice {
        @Override
        public Color which() {
            return Color.of(0);
        }
    }

    /** The arm for 5. */
    record Tree_(Tree tree) implements Choice {
        /** One with these values. */
        public Tree_ {
            Objects.requireNonNull(tree, "tree");
        }

        @Override
        public Color which() {
            return Color.of(5);
        }
    }

    /** The arm for 6. */
    record Blue() implements Choice {
        @Override
        public Color which() {
            return Color.of(6);
        }
    }
}
