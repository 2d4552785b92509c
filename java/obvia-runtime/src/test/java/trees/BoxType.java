// Made by obvia-idl 0.1.0 from trees.idl. Change the IDL, not this.
package trees;

import obvia.runtime.Frame;
import obvia.runtime.Frames;
import obvia.runtime.GraphReader;
import obvia.runtime.GraphType;
import obvia.runtime.GraphWriter;

/** {@link Box} as the runtime knows it. */
final class BoxType extends GraphType {
    static final BoxType TYPE = new BoxType();

    private BoxType() {
        super(144);
    }

    @Override
    protected void verify(GraphReader in, int at) {
        switch (in.getInt(at)) {
            case 0, 5, 6 -> {}
            default -> throw in.badEnum(at);
        }
        for (int i0 = 0; i0 < 2; i0++) {
            int at0 = at + 8 + i0 * 24;
            in.checkBoolean(at0 + 4);
            in.checkText16(at0 + 8, GraphReader.UNIQUE);
            in.checkOne(at0 + 16, ItemType.TYPE, GraphReader.UNIQUE);
        }
        for (int i0 = 0; i0 < 3; i0++) {
            int at0 = at + 56 + i0 * 8;
            in.checkOne(at0, TreeType.TYPE, GraphReader.UNIQUE);
        }
        switch (in.getInt(at + 80)) {
            case 0 -> {}
            case 5 -> {
                in.checkOne(at + 96, TreeType.TYPE, GraphReader.UNIQUE);
                in.checkOne(at + 104, TreeType.TYPE, GraphReader.UNIQUE);
            }
            case 6 -> {}
            default -> throw in.bad(at + 88, "the union has no arm for its discriminant");
        }
        in.checkRange(at + 112, in.getInt(at + 112), 1L, 9L);
        in.checkMany(at + 120, ChoiceType.TYPE, GraphReader.UNIQUE, Short.toUnsignedLong(in.getShort(at + 116)));
        in.checkMany(at + 128, GraphType.TEXT8.pointer(GraphReader.UNIQUE), GraphReader.UNIQUE, Short.toUnsignedLong(in.getShort(at + 116)));
        in.checkMany(at + 136, NodeType.TYPE.pointer(GraphReader.FULL), GraphReader.UNIQUE, Short.toUnsignedLong(in.getShort(at + 116)));
    }

    @Override
    protected void write(GraphWriter out, Object value, int at) {
        Box of = (Box) value;
        out.putInt(at, of.color().value());
        out.putList(at + 8, ItemType.TYPE, of.items());
        out.putList(at + 56, TreeType.TYPE.pointer(GraphReader.UNIQUE), of.trees());
        out.inner(at + 80, ChoiceType.TYPE, of.choice());
        out.putInt(at + 112, of.digit());
        out.putShort(at + 116, (short) Frames.length(of.choices(), of.words(), of.nodes()));
        out.list(at + 120, ChoiceType.TYPE, of.choices());
        out.list(at + 128, GraphType.TEXT8.pointer(GraphReader.UNIQUE), of.words());
        out.list(at + 136, NodeType.TYPE.pointer(GraphReader.FULL), of.nodes());
    }

    @Override
    protected Box view(Frame frame, int at) {
        return new Box.View(frame, at);
    }

    @Override
    protected Box.Rec build(GraphReader in, int at) {
        return new Box.Rec(
            Color.of(in.getInt(at)),
            in.list(at + 8, 2, ItemType.TYPE),
            in.list(at + 56, 3, TreeType.TYPE.pointer(GraphReader.UNIQUE)),
            ChoiceType.TYPE.build(in, at + 80),
            in.getInt(at + 112),
            in.list(at + 120),
            in.list(at + 128),
            in.list(at + 136));
    }
}
