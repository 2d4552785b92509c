// Made by obvia-idl 0.1.0 from trees.idl. Change the IDL, not this.
package trees;

import java.util.Objects;
import obvia.Bytes;
import obvia.Doubles;
import obvia.Ints;
import obvia.Retained;
import obvia.Shorts;
import obvia.runtime.Frame;
import obvia.runtime.Frames;
import obvia.runtime.GraphType;
import obvia.runtime.GraphView;
import obvia.runtime.Graphs;

/** {@code struct Samples}: a {@link Rec} that a program makes, or a {@link View} of what a call has brought. */
public sealed interface Samples permits Samples.Rec, Samples.View {
    /** {@code values}: may be {@code null} */
    Doubles values();

    /** {@code flags}: may be {@code null} */
    Bytes flags();

    /** {@code rows}: an unsigned short */
    short rows();

    /** {@code columns}: an unsigned short */
    short columns();

    /** {@code table}: may be {@code null} */
    Shorts table();

    /** {@code used}: from 0 to 8 */
    int used();

    /** {@code tail} */
    Ints tail();

    /** One with these values. */
    static Rec of(Doubles values, Bytes flags, short rows, short columns, Shorts table, int used, Ints tail) {
        return new Rec(values, flags, rows, columns, table, used, tail);
    }

    /** The same with everything that it points to, in memory of its own: it can be read for good. */
    default Samples copy() {
        return Graphs.copy(SamplesType.TYPE, this);
    }

    /** The same for as long as it is needed, and not changed by anybody: to be closed then. */
    default Retained<Samples> retain() {
        return Graphs.retain(this);
    }

    /** A {@link Samples} that a program makes. */
    record Rec(Doubles values, Bytes flags, short rows, short columns, Shorts table, int used, Ints tail) implements Samples {
        /** One with these values. */
        public Rec {
            if (table != null) {
                Frames.checkLength(table.size(), Frames.count(() -> Math.addExact(Math.multiplyExact(Short.toUnsignedLong(rows), Short.toUnsignedLong(columns)), 1L)));
            }
            Frames.checkRange(used, 0L, 8L);
            Objects.requireNonNull(tail, "tail");
            Frames.checkLength(tail.size(), Frames.count(used));
            Frames.checkRange(tail.size(), 0, Frames.count(8));
            Frames.checkLengths(2147483647, values, flags);
        }
    }

    /** A {@link Samples} as it lies in a frame: to be read until its call returns. */
    final class View extends GraphView implements Samples {
        View(Frame frame, int at) {
            super(frame, at);
        }

        @Override
        public Doubles values() {
            return frame.doubles(at + 8);
        }

        @Override
        public Bytes flags() {
            return frame.bytes(at + 16);
        }

        @Override
        public short rows() {
            return frame.getShort(at + 24);
        }

        @Override
        public short columns() {
            return frame.getShort(at + 26);
        }

        @Override
        public Shorts table() {
            return frame.shorts(at + 32);
        }

        @Override
        public int used() {
            return frame.getInt(at + 40);
        }

        @Override
        public Ints tail() {
            return frame.ints(at + 48);
        }

        @Override
        protected GraphType graphType() {
            return SamplesType.TYPE;
        }
    }
}
