// Made by obvia-idl 0.1.0 from trees.idl. Change the IDL, not this.
package trees;

import obvia.runtime.Frame;
import obvia.runtime.Frames;
import obvia.runtime.GraphReader;
import obvia.runtime.GraphType;
import obvia.runtime.GraphWriter;

/** {@link Choice} as the runtime knows it. */
final class ChoiceType extends GraphType {
    static final ChoiceType TYPE = new ChoiceType();

    private ChoiceType() {
        super(32);
    }

    @Override
    protected void verify(GraphReader in, int at) {
        switch (in.getInt(at)) {
            case 0 -> {}
            case 5 -> {
                in.checkOne(at + 16, TreeType.TYPE, GraphReader.UNIQUE);
                in.checkOne(at + 24, TreeType.TYPE, GraphReader.UNIQUE);
            }
            case 6 -> {}
            default -> throw in.bad(at + 8, "the union has no arm for its discriminant");
        }
    }

    @Override
    protected void write(GraphWriter out, Object value, int at) {
        Choice of = (Choice) value;
        out.putInt(at, of.which().value());
        put(out, of, at + 8);
    }

    @Override
    protected Choice view(Frame frame, int at) {
        return view(frame, at + 8, frame.getInt(at));
    }

    @Override
    protected Choice build(GraphReader in, int at) {
        return build(in, at + 8, in.getInt(at));
    }

    /** Writes the arm. */
    static void put(GraphWriter out, Choice value, int at) {
        switch (value) {
            case Choice.Number of -> {
                out.putInt(at, of.number());
            }
            case Choice.Tree_ of -> {
                out.inner(at, TreeType.TYPE, of.tree());
            }
            case Choice.Blue none -> {}
        }
    }

    /** The arm as it lies in a frame that was checked. */
    static Choice view(Frame frame, int at, int which) {
        return switch (which) {
            case 0 -> new Choice.Number(frame.getInt(at));
            case 5 -> new Choice.Tree_(new Tree.View(frame, at));
            case 6 -> new Choice.Blue();
            default -> throw Frames.badCase(which);
        };
    }

    /** The same, apart from the frame. */
    static Choice build(GraphReader in, int at, int which) {
        return switch (which) {
            case 0 -> new Choice.Number(in.getInt(at));
            case 5 -> new Choice.Tree_(TreeType.TYPE.build(in, at));
            case 6 -> new Choice.Blue();
            default -> throw Frames.badCase(which);
        };
    }
}
