// Made by obvia-idl 0.1.0 from trees.idl. Change the IDL, not this.
package trees;

import obvia.Retained;
import obvia.runtime.Frame;
import obvia.runtime.GraphType;
import obvia.runtime.GraphView;
import obvia.runtime.Graphs;

/** {@code struct Node}: a {@link Rec} that a program makes, or a {@link View} of what a call has brought. */
public sealed interface Node permits Node.Rec, Node.View {
    /** {@code number} */
    int number();

    /** {@code label}: may be {@code null} */
    String label();

    /** {@code first}: may be {@code null} */
    Node first();

    /** {@code second}: may be {@code null} */
    Node second();

    /** {@code item}: may be {@code null} */
    Item item();

    /** {@code tree}: may be {@code null} */
    Tree tree();

    /** One with these values. */
    static Rec of(int number, String label, Node first, Node second, Item item, Tree tree) {
        return new Rec(number, label, first, second, item, tree);
    }

    /** The same with everything that it points to, in memory of its own: it can be read for good. */
    default Node copy() {
        return Graphs.copy(NodeType.TYPE, this);
    }

    /** The same for as long as it is needed, and not changed by anybody: to be closed then. */
    default Retained<Node> retain() {
        return Graphs.retain(this);
    }

    /** A {@link Node} that a program makes: others may lead to the same, in circles too. */
    final class Rec implements Node {
        int number;
        String label;
        Node first;
        Node second;
        Item item;
        Tree tree;

        /** One to be filled. */
        Rec() {}

        /** One with these values. */
        public Rec(int number, String label, Node first, Node second, Item item, Tree tree) {
            this.number = number;
            this.label = label;
            this.first = first;
            this.second = second;
            this.item = item;
            this.tree = tree;
        }

        @Override
        public int number() {
            return number;
        }

        @Override
        public String label() {
            return label;
        }

        @Override
        public Node first() {
            return first;
        }

        /** Has {@link #first} lead elsewhere. */
        public void setFirst(Node first) {
            this.first = first;
        }

        @Override
        public Node second() {
            return second;
        }

        /** Has {@link #second} lead elsewhere. */
        public void setSecond(Node second) {
            this.second = second;
        }

        @Override
        public Item item() {
            return item;
        }

        /** Has {@link #item} lead elsewhere. */
        public void setItem(Item item) {
            this.item = item;
        }

        @Override
        public Tree tree() {
            return tree;
        }
    }

    /** A {@link Node} as it lies in a frame: to be read until its call returns. */
    final class View extends GraphView implements Node {
        View(Frame frame, int at) {
            super(frame, at);
        }

        @Override
        public int number() {
            return frame.getInt(at);
        }

        @Override
        public String label() {
            return frame.text8(at + 8);
        }

        @Override
        public Node first() {
            int place = frame.place(at + 16);
            return place == 0 ? null : new Node.View(frame, place);
        }

        @Override
        public Node second() {
            int place = frame.place(at + 24);
            return place == 0 ? null : new Node.View(frame, place);
        }

        @Override
        public Item item() {
            int place = frame.place(at + 32);
            return place == 0 ? null : new Item.View(frame, place);
        }

        @Override
        public Tree tree() {
            int place = frame.place(at + 40);
            return place == 0 ? null : new Tree.View(frame, place);
        }

        @Override
        protected GraphType graphType() {
            return NodeType.TYPE;
        }
    }
}
