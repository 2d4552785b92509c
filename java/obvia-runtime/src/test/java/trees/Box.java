// Made by obvia-idl 0.1.0 from trees.idl. Change the IDL, not this.
package trees;

import java.util.List;
import java.util.Objects;
import obvia.Retained;
import obvia.runtime.Frame;
import obvia.runtime.Frames;
import obvia.runtime.GraphReader;
import obvia.runtime.GraphType;
import obvia.runtime.GraphView;
import obvia.runtime.Graphs;

/** {@code struct Box}: a {@link Rec} that a program makes, or a {@link View} of what a call has brought. */
public sealed interface Box permits Box.Rec, Box.View {
    /** {@code color} */
    Color color();

    /** {@code items} */
    List<Item> items();

    /** {@code trees} */
    List<Tree> trees();

    /** {@code choice} */
    Choice choice();

    /** {@code digit}: from 1 to 9 */
    int digit();

    /** {@code choices}: may be {@code null} */
    List<Choice> choices();

    /** {@code words}: may be {@code null} */
    List<String> words();

    /** {@code nodes}: may be {@code null} */
    List<Node> nodes();

    /** One with these values. */
    static Rec of(Color color, List<Item> items, List<Tree> trees, Choice choice, int digit, List<Choice> choices, List<String> words, List<Node> nodes) {
        return new Rec(color, items, trees, choice, digit, choices, words, nodes);
    }

    /** The same with everything that it points to, in memory of its own: it can be read for good. */
    default Box copy() {
        return Graphs.copy(BoxType.TYPE, this);
    }

    /** The same for as long as it is needed, and not changed by anybody: to be closed then. */
    default Retained<Box> retain() {
        return Graphs.retain(this);
    }

    /** A {@link Box} that a program makes. */
    record Rec(Color color, List<Item> items, List<Tree> trees, Choice choice, int digit, List<Choice> choices, List<String> words, List<Node> nodes) implements Box {
        /** One with these values. */
        public Rec {
            Objects.requireNonNull(color, "color");
            Objects.requireNonNull(items, "items");
            items = Frames.copy(items);
            Frames.checkLength(items.size(), 2);
            Objects.requireNonNull(trees, "trees");
            trees = Frames.copyOfOptional(trees);
            Frames.checkLength(trees.size(), 3);
            Objects.requireNonNull(choice, "choice");
            Frames.checkRange(digit, 1L, 9L);
            choices = Frames.copy(choices);
            words = Frames.copyOfOptional(words);
            nodes = Frames.copyOfOptional(nodes);
            Frames.checkLengths(65535, choices, words, nodes);
        }
    }

    /** A {@link Box} as it lies in a frame: to be read until its call returns. */
    final class View extends GraphView implements Box {
        View(Frame frame, int at) {
            super(frame, at);
        }

        @Override
        public Color color() {
            return Color.of(frame.getInt(at));
        }

        @Override
        public List<Item> items() {
            return frame.list(at + 8, 2, ItemType.TYPE);
        }

        @Override
        public List<Tree> trees() {
            return frame.list(at + 56, 3, TreeType.TYPE.pointer(GraphReader.UNIQUE));
        }

        @Override
        public Choice choice() {
            return ChoiceType.TYPE.view(frame, at + 80);
        }

        @Override
        public int digit() {
            return frame.getInt(at + 112);
        }

        @Override
        public List<Choice> choices() {
            return frame.list(at + 120, ChoiceType.TYPE);
        }

        @Override
        public List<String> words() {
            return frame.list(at + 128, GraphType.TEXT8.pointer(GraphReader.UNIQUE));
        }

        @Override
        public List<Node> nodes() {
            return frame.list(at + 136, NodeType.TYPE.pointer(GraphReader.FULL));
        }

        @Override
        protected GraphType graphType() {
            return BoxType.TYPE;
        }
    }
}
