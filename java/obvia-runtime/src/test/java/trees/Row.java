// Made by obvia-idl 0.1.0 from trees.idl. Change the IDL, not this.
package trees;

import java.util.List;
import java.util.Objects;
import obvia.Retained;
import obvia.runtime.Frame;
import obvia.runtime.Frames;
import obvia.runtime.GraphType;
import obvia.runtime.GraphView;
import obvia.runtime.Graphs;

/** {@code struct Row}: a {@link Rec} that a program makes, or a {@link View} of what a call has brought. */
public sealed interface Row permits Row.Rec, Row.View {
    /** {@code title}: may be {@code null} */
    String title();

    /** {@code items} */
    List<Item> items();

    /** One with these values. */
    static Rec of(String title, List<Item> items) {
        return new Rec(title, items);
    }

    /** The same with everything that it points to, in memory of its own: it can be read for good. */
    default Row copy() {
        return Graphs.copy(RowType.TYPE, this);
    }

    /** The same for as long as it is needed, and not changed by anybody: to be closed then. */
    default Retained<Row> retain() {
        return Graphs.retain(this);
    }

    /** A {@link Row} that a program makes. */
    record Rec(String title, List<Item> items) implements Row {
        /** One with these values. */
        public Rec {
            Objects.requireNonNull(items, "items");
            items = Frames.copy(items);
            Frames.checkLengths(65535, items);
        }
    }

    /** A {@link Row} as it lies in a frame: to be read until its call returns. */
    final class View extends GraphView implements Row {
        View(Frame frame, int at) {
            super(frame, at);
        }

        @Override
        public String title() {
            return frame.text8(at);
        }

        @Override
        public List<Item> items() {
            return frame.list(at + 16, frame.count(at), ItemType.TYPE);
        }

        @Override
        protected GraphType graphType() {
            return RowType.TYPE;
        }
    }
}
