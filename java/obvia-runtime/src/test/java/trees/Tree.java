// Made by obvia-idl 0.1.0 from trees.idl. Change the IDL, not this.
package trees;

import obvia.Retained;
import obvia.runtime.Frame;
import obvia.runtime.GraphType;
import obvia.runtime.GraphView;
import obvia.runtime.Graphs;

/** {@code struct Tree}: a {@link Rec} that a program makes, or a {@link View} of what a call has brought. */
public sealed interface Tree permits Tree.Rec, Tree.View {
    /** {@code key} */
    long key();

    /** {@code left}: may be {@code null} */
    Tree left();

    /** {@code right}: may be {@code null} */
    Tree right();

    /** One with these values. */
    static Rec of(long key, Tree left, Tree right) {
        return new Rec(key, left, right);
    }

    /** The same with everything that it points to, in memory of its own: it can be read for good. */
    default Tree copy() {
        return Graphs.copy(TreeType.TYPE, this);
    }

    /** The same for as long as it is needed, and not changed by anybody: to be closed then. */
    default Retained<Tree> retain() {
        return Graphs.retain(this);
    }

    /** A {@link Tree} that a program makes. */
    record Rec(long key, Tree left, Tree right) implements Tree {
    }

    /** A {@link Tree} as it lies in a frame: to be read until its call returns. */
    final class View extends GraphView implements Tree {
        View(Frame frame, int at) {
            super(frame, at);
        }

        @Override
        public long key() {
            return frame.getLong(at);
        }

        @Override
        public Tree left() {
            int place = frame.place(at + 8);
            return place == 0 ? null : new Tree.View(frame, place);
        }

        @Override
        public Tree right() {
            int place = frame.place(at + 16);
            return place == 0 ? null : new Tree.View(frame, place);
        }

        @Override
        protected GraphType graphType() {
            return TreeType.TYPE;
        }
    }
}
