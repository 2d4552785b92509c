// Made by obvia-idl 0.1.0 from trees.idl. Change the IDL, not this.
package trees;

import obvia.Retained;
import obvia.runtime.Frame;
import obvia.runtime.GraphType;
import obvia.runtime.GraphView;
import obvia.runtime.Graphs;

/** {@code struct Pair}: a {@link Rec} that a program makes, or a {@link View} of what a call has brought. */
public sealed interface Pair permits Pair.Rec, Pair.View {
    /** {@code left}: may be {@code null} */
    ITrees left();

    /** {@code word}: may be {@code null} */
    String word();

    /** {@code right}: may be {@code null} */
    ITrees right();

    /** One with these values. */
    static Rec of(ITrees left, String word, ITrees right) {
        return new Rec(left, word, right);
    }

    /** The same with everything that it points to, in memory of its own: it can be read for good. */
    default Pair copy() {
        return Graphs.copy(PairType.TYPE, this);
    }

    /** The same for as long as it is needed, and not changed by anybody: to be closed then. */
    default Retained<Pair> retain() {
        return Graphs.retain(this);
    }

    /** A {@link Pair} that a program makes. */
    record Rec(ITrees left, String word, ITrees right) implements Pair {
    }

    /** A {@link Pair} as it lies in a frame: to be read until its call returns. */
    final class View extends GraphView implements Pair {
        View(Frame frame, int at) {
            super(frame, at);
        }

        @Override
        public ITrees left() {
            return frame.object(at);
        }

        @Override
        public String word() {
            return frame.text8(at + 8);
        }

        @Override
        public ITrees right() {
            return frame.object(at + 16);
        }

        @Override
        protected GraphType graphType() {
            return PairType.TYPE;
        }
    }
}
