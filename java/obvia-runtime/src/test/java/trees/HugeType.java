// Made by obvia-idl 0.1.0 from trees.idl. Change the IDL, not this.
package trees;

import obvia.runtime.Frame;
import obvia.runtime.Frames;
import obvia.runtime.GraphReader;
import obvia.runtime.GraphType;
import obvia.runtime.GraphWriter;

/** {@link Huge} as the runtime knows it. */
final class HugeType extends GraphType {
    static final HugeType TYPE = new HugeType();

    private HugeType() {
        super(32);
    }

    @Override
    protected void verify(GraphReader in, int at) {
        long which_8 = in.value(at, () -> Frames.unsigned(in.getLong(at)));
        if (which_8 == 1L) {
            in.checkBoolean(at + 12);
            in.checkText16(at + 16, GraphReader.UNIQUE);
            in.checkOne(at + 24, ItemType.TYPE, GraphReader.UNIQUE);
        }
    }

    @Override
    protected void write(GraphWriter out, Object value, int at) {
        Huge of = (Huge) value;
        out.putLong(at, of.which());
        put(out, of, at + 8);
    }

    @Override
    protected Huge view(Frame frame, int at) {
        return view(frame, at + 8, frame.getLong(at));
    }

    @Override
    protected Huge build(GraphReader in, int at) {
        return build(in, at + 8, in.getLong(at));
    }

    /** Writes the arm. */
    static void put(GraphWriter out, Huge value, int at) {
        switch (value) {
            case Huge.Item_ of -> {
                out.inner(at, ItemType.TYPE, of.item());
            }
            case Huge.Number of -> {
                out.putLong(at, of.number());
            }
            case Huge.Default none -> {}
        }
    }

    /** The arm as it lies in a frame that was checked. */
    static Huge view(Frame frame, int at, long which) {
        if (which == 1L) {
            return new Huge.Item_(new Item.View(frame, at));
        }
        if (which == 4294967297L) {
            return new Huge.Number(frame.getLong(at));
        }
        return new Huge.Default(which);
    }

    /** The same, apart from the frame. */
    static Huge build(GraphReader in, int at, long which) {
        if (which == 1L) {
            return new Huge.Item_(ItemType.TYPE.build(in, at));
        }
        if (which == 4294967297L) {
            return new Huge.Number(in.getLong(at));
        }
        return new Huge.Default(which);
    }
}
