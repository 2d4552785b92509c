// Made by obvia-idl 0.1.0 from trees.idl. Change the IDL, not this.
package trees;

import obvia.Retained;
import obvia.runtime.Frame;
import obvia.runtime.GraphType;
import obvia.runtime.GraphView;
import obvia.runtime.Graphs;

/** {@code struct Item}: a {@link Rec} that a program makes, or a {@link View} of what a call has brought. */
public sealed interface Item permits Item.Rec, Item.View {
    /** {@code value} */
    int value();

    /** {@code marked} */
    boolean marked();

    /** {@code name}: may be {@code null} */
    String name();

    /** {@code next}: may be {@code null} */
    Item next();

    /** One with these values. */
    static Rec of(int value, boolean marked, String name, Item next) {
        return new Rec(value, marked, name, next);
    }

    /** The same with everything that it points to, in memory of its own: it can be read for good. */
    default Item copy() {
        return Graphs.copy(ItemType.TYPE, this);
    }

    /** The same for as long as it is needed, and not changed by anybody: to be closed then. */
    default Retained<Item> retain() {
        return Graphs.retain(this);
    }

    /** A {@link Item} that a program makes. */
    record Rec(int value, boolean marked, String name, Item next) implements Item {
    }

    /** A {@link Item} as it lies in a frame: to be read until its call returns. */
    final class View extends GraphView implements Item {
        View(Frame frame, int at) {
            super(frame, at);
        }

        @Override
        public int value() {
            return frame.getInt(at);
        }

        @Override
        public boolean marked() {
            return frame.getBoolean(at + 4);
        }

        @Override
        public String name() {
            return frame.text16(at + 8);
        }

        @Override
        public Item next() {
            int place = frame.place(at + 16);
            return place == 0 ? null : new Item.View(frame, place);
        }

        @Override
        protected GraphType graphType() {
            return ItemType.TYPE;
        }
    }
}
