// Made by obvia-idl 0.1.0 from trees.idl. Change the IDL, not this.
package trees;

import java.util.Objects;
import obvia.Retained;
import obvia.runtime.Frame;
import obvia.runtime.Frames;
import obvia.runtime.GraphType;
import obvia.runtime.GraphView;
import obvia.runtime.Graphs;

/** {@code struct Weighed}: a {@link Rec} that a program makes, or a {@link View} of what a call has brought. */
public sealed interface Weighed permits Weighed.Rec, Weighed.View {
    /** {@code kind} */
    long kind();

    /** {@code big} */
    Big big();

    /** {@code level} */
    short level();

    /** {@code more}: an unsigned small */
    byte more();

    /** {@code any} */
    Any any();

    /** {@code other} */
    Any other();

    /** One with these values. */
    static Rec of(long kind, Big big, short level, byte more, Any any, Any other) {
        return new Rec(kind, big, level, more, any, other);
    }

    /** The same with everything that it points to, in memory of its own: it can be read for good. */
    default Weighed copy() {
        return Graphs.copy(WeighedType.TYPE, this);
    }

    /** The same for as long as it is needed, and not changed by anybody: to be closed then. */
    default Retained<Weighed> retain() {
        return Graphs.retain(this);
    }

    /** A {@link Weighed} that a program makes. */
    record Rec(long kind, Big big, short level, byte more, Any any, Any other) implements Weighed {
        /** One with these values. */
        public Rec {
            Objects.requireNonNull(big, "big");
            Frames.checkCase(big.which(), kind);
            Objects.requireNonNull(any, "any");
            Frames.checkCase(any.which(), () -> Math.addExact(Math.multiplyExact((long) level, 2L), Byte.toUnsignedLong(more)));
            Objects.requireNonNull(other, "other");
            Frames.checkCase(other.which(), () -> Frames.remainder(kind, 8L));
        }
    }

    /** A {@link Weighed} as it lies in a frame: to be read until its call returns. */
    final class View extends GraphView implements Weighed {
        View(Frame frame, int at) {
            super(frame, at);
        }

        @Override
        public long kind() {
            return frame.getLong(at);
        }

        @Override
        public Big big() {
            return BigType.view(frame, at + 8, frame.getLong(at));
        }

        @Override
        public short level() {
            return frame.getShort(at + 16);
        }

        @Override
        public byte more() {
            return frame.getByte(at + 18);
        }

        @Override
        public Any any() {
            return AnyType.view(frame, at + 24, (int) Math.addExact(Math.multiplyExact((long) frame.getShort(at + 16), 2L), Byte.toUnsignedLong(frame.getByte(at + 18))));
        }

        @Override
        public Any other() {
            return AnyType.view(frame, at + 32, (int) Frames.remainder(frame.getLong(at), 8L));
        }

        @Override
        protected GraphType graphType() {
            return WeighedType.TYPE;
        }
    }
}
