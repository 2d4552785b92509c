// Made by obvia-idl 0.1.0 from trees.idl. Change the IDL, not this.
package trees;

import java.util.Objects;
import obvia.runtime.Frames;

/** {@code union Any}: one of its arms. */
public sealed interface Any {
    /** The discriminant: which arm it is. */
    int which();

    /** The arm for 1. */
    record Number(int number) implements Any {
        @Override
        public int which() {
            return 1;
        }
    }

    /** The arm for 2. */
    record Real(double real) implements Any {
        @Override
        public int which() {
            return 2;
        }
    }

    /**
     * The arm for 3.
     *
     * @param text may be {@code null}
     */
    record Text(String text) implements Any {
        @Override
        public int which() {
            return 3;
        }
    }

    /**
     * The arm for 4.
     *
     * @param list may be {@code null}
     */
    record List_(Item list) implements Any {
        @Override
        public int which() {
            return 4;
        }
    }

    /**
     * The arm for 5, 6.
     *
     * @param which the discriminant
     */
    record Color_(int which, Color color) implements Any {
        /** One with these values. */
        public Color_ {
            Objects.requireNonNull(color, "color");
            switch (which) {
                case 5, 6 -> {}
                default -> throw Frames.badCase(which);
            }
        }
    }

    /**
     * The arm for every other discriminant.
     *
     * @param which the discriminant
     */
    record Default(int which) implements Any {
        /** One with these values. */
        public Default {
            switch (which) {
                case 1, 2, 3, 4, 5, 6 -> throw Frames.badCase(which);
                default -> {}
            }
        }
    }
}
