// Made by obvia-idl 0.1.0 from trees.idl. Change the IDL, not this.
package trees;

import java.util.List;
import java.util.Objects;
import obvia.Guid;
import obvia.Ints;
import obvia.Retained;
import obvia.runtime.Frame;
import obvia.runtime.Frames;
import obvia.runtime.GraphType;
import obvia.runtime.GraphView;
import obvia.runtime.Graphs;

/** {@code struct Holder}: a {@link Rec} that a program makes, or a {@link View} of what a call has brought. */
public sealed interface Holder permits Holder.Rec, Holder.View {
    /** {@code item} */
    Item item();

    /** {@code color} */
    Color color();

    /** {@code points}: 2 elements */
    List<Point> points();

    /** {@code grid}: 6 elements */
    Ints grid();

    /** {@code id} */
    Guid id();

    /** {@code label} */
    String label();

    /** {@code more}: may be {@code null} */
    List<Point> more();

    /** {@code maybe}: may be {@code null} */
    Integer maybe();

    /** {@code items}: may be {@code null} */
    List<Item> items();

    /** {@code p} */
    Point p();

    /** One with these values. */
    static Rec of(Item item, Color color, List<Point> points, Ints grid, Guid id, String label, List<Point> more, Integer maybe, List<Item> items, Point p) {
        return new Rec(item, color, points, grid, id, label, more, maybe, items, p);
    }

    /** The same with everything that it points to, in memory of its own: it can be read for good. */
    default Holder copy() {
        return Graphs.copy(HolderType.TYPE, this);
    }

    /** The same for as long as it is needed, and not changed by anybody: to be closed then. */
    default Retained<Holder> retain() {
        return Graphs.retain(this);
    }

    /** A {@link Holder} that a program makes. */
    record Rec(Item item, Color color, List<Point> points, Ints grid, Guid id, String label, List<Point> more, Integer maybe, List<Item> items, Point p) implements Holder {
        /** One with these values. */
        public Rec {
            Objects.requireNonNull(item, "item");
            Objects.requireNonNull(color, "color");
            Objects.requireNonNull(points, "points");
            points = Frames.copy(points);
            Frames.checkLength(points.size(), 2);
            Objects.requireNonNull(grid, "grid");
            Frames.checkLength(grid.size(), 6);
            Objects.requireNonNull(id, "id");
            Objects.requireNonNull(label, "label");
            more = Frames.copy(more);
            items = Frames.copy(items);
            Objects.requireNonNull(p, "p");
            Frames.checkLengths(255, more, items);
        }
    }

    /** A {@link Holder} as it lies in a frame: to be read until its call returns. */
    final class View extends GraphView implements Holder {
        View(Frame frame, int at) {
            super(frame, at);
        }

        @Override
        public Item item() {
            return new Item.View(frame, at);
        }

        @Override
        public Color color() {
            return Color.of(frame.getInt(at + 24));
        }

        @Override
        public List<Point> points() {
            return frame.list(at + 28, 2, PointType.TYPE);
        }

        @Override
        public Ints grid() {
            return frame.ints(at + 52, 6);
        }

        @Override
        public Guid id() {
            return frame.getGuid(at + 76);
        }

        @Override
        public String label() {
            return frame.text8(at + 96);
        }

        @Override
        public List<Point> more() {
            return frame.list(at + 112, PointType.TYPE);
        }

        @Override
        public Integer maybe() {
            return (Integer) frame.one(at + 120, GraphType.LONG);
        }

        @Override
        public List<Item> items() {
            return frame.list(at + 128, ItemType.TYPE);
        }

        @Override
        public Point p() {
            return Point.read(frame.values(), at + 136);
        }

        @Override
        protected GraphType graphType() {
            return HolderType.TYPE;
        }
    }
}
