// Made by obvia-idl 0.1.0 from trees.idl. Change the IDL, not this.
package trees;

import java.util.Objects;
import obvia.Bytes;
import obvia.Ints;
import obvia.Retained;
import obvia.runtime.Frame;
import obvia.runtime.Frames;
import obvia.runtime.GraphType;
import obvia.runtime.GraphView;
import obvia.runtime.Graphs;

/** {@code struct Chunk}: a {@link Rec} that a program makes, or a {@link View} of what a call has brought. */
public sealed interface Chunk permits Chunk.Rec, Chunk.View {
    /** {@code part} */
    float part();

    /** {@code marked} */
    boolean marked();

    /** {@code color} */
    Color color();

    /** {@code data}: may be {@code null} */
    Bytes data();

    /** {@code rest}: may be {@code null} */
    Bytes rest();

    /** {@code whole} */
    double whole();

    /** {@code name}: may be {@code null} */
    String name();

    /** {@code beyond} */
    long beyond();

    /** {@code mark} */
    char mark();

    /** {@code values}: may be {@code null} */
    Ints values();

    /** {@code next}: may be {@code null} */
    Chunk next();

    /** One with these values. */
    static Rec of(float part, boolean marked, Color color, Bytes data, Bytes rest, double whole, String name, long beyond, char mark, Ints values, Chunk next) {
        return new Rec(part, marked, color, data, rest, whole, name, beyond, mark, values, next);
    }

    /** The same with everything that it points to, in memory of its own: it can be read for good. */
    default Chunk copy() {
        return Graphs.copy(ChunkType.TYPE, this);
    }

    /** The same for as long as it is needed, and not changed by anybody: to be closed then. */
    default Retained<Chunk> retain() {
        return Graphs.retain(this);
    }

    /** A {@link Chunk} that a program makes. */
    record Rec(float part, boolean marked, Color color, Bytes data, Bytes rest, double whole, String name, long beyond, char mark, Ints values, Chunk next) implements Chunk {
        /** One with these values. */
        public Rec {
            Objects.requireNonNull(color, "color");
            Frames.checkLengths(255, data);
            Frames.checkLengths(2147483647, rest);
            Frames.checkLengths(32767, values);
        }
    }

    /** A {@link Chunk} as it lies in a frame: to be read until its call returns. */
    final class View extends GraphView implements Chunk {
        View(Frame frame, int at) {
            super(frame, at);
        }

        @Override
        public float part() {
            return frame.getFloat(at);
        }

        @Override
        public boolean marked() {
            return frame.getBoolean(at + 4);
        }

        @Override
        public Color color() {
            return Color.of(frame.getInt(at + 8));
        }

        @Override
        public Bytes data() {
            return frame.bytes(at + 16);
        }

        @Override
        public Bytes rest() {
            return frame.bytes(at + 24);
        }

        @Override
        public double whole() {
            return frame.getDouble(at + 32);
        }

        @Override
        public String name() {
            return frame.text8(at + 40);
        }

        @Override
        public long beyond() {
            return frame.getLong(at + 48);
        }

        @Override
        public char mark() {
            return frame.getChar(at + 56);
        }

        @Override
        public Ints values() {
            return frame.ints(at + 64);
        }

        @Override
        public Chunk next() {
            int place = frame.place(at + 72);
            return place == 0 ? null : new Chunk.View(frame, place);
        }

        @Override
        protected GraphType graphType() {
            return ChunkType.TYPE;
        }
    }
}
