// Made by obvia-idl 0.1.0 from trees.idl. Change the IDL, not this.
package trees;

import java.util.Objects;
import obvia.Ints;
import obvia.Retained;
import obvia.runtime.Frame;
import obvia.runtime.Frames;
import obvia.runtime.GraphType;
import obvia.runtime.GraphView;
import obvia.runtime.Graphs;

/** {@code struct Digits}: a {@link Rec} that a program makes, or a {@link View} of what a call has brought. */
public sealed interface Digits permits Digits.Rec, Digits.View {
    /** {@code room}: an unsigned small */
    byte room();

    /** {@code count}: an unsigned small */
    byte count();

    /** {@code all} */
    Ints all();

    /** One with these values. */
    static Rec of(byte room, byte count, Ints all) {
        return new Rec(room, count, all);
    }

    /** The same with everything that it points to, in memory of its own: it can be read for good. */
    default Digits copy() {
        return Graphs.copy(DigitsType.TYPE, this);
    }

    /** The same for as long as it is needed, and not changed by anybody: to be closed then. */
    default Retained<Digits> retain() {
        return Graphs.retain(this);
    }

    /** A {@link Digits} that a program makes. */
    record Rec(byte room, byte count, Ints all) implements Digits {
        /** One with these values. */
        public Rec {
            Objects.requireNonNull(all, "all");
            Frames.checkLength(all.size(), Frames.count(Byte.toUnsignedLong(count)));
            Frames.checkRange(all.size(), 0, Frames.count(Byte.toUnsignedLong(room)));
        }
    }

    /** A {@link Digits} as it lies in a frame: to be read until its call returns. */
    final class View extends GraphView implements Digits {
        View(Frame frame, int at) {
            super(frame, at);
        }

        @Override
        public byte room() {
            return frame.getByte(at);
        }

        @Override
        public byte count() {
            return frame.getByte(at + 1);
        }

        @Override
        public Ints all() {
            return frame.ints(at + 4, frame.count(at));
        }

        @Override
        protected GraphType graphType() {
            return DigitsType.TYPE;
        }
    }
}
