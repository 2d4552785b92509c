// Made by obvia-idl 0.1.0 from trees.idl. Change the IDL, not this.
package trees;

import java.util.List;
import obvia.runtime.Frame;
import obvia.runtime.Frames;
import obvia.runtime.GraphReader;
import obvia.runtime.GraphType;
import obvia.runtime.GraphWriter;

/** {@link Holder} as the runtime knows it. */
final class HolderType extends GraphType {
    static final HolderType TYPE = new HolderType();

    private HolderType() {
        super(152);
    }

    @Override
    protected void verify(GraphReader in, int at) {
        in.checkBoolean(at + 4);
        in.checkText16(at + 8, GraphReader.UNIQUE);
        in.checkOne(at + 16, ItemType.TYPE, GraphReader.UNIQUE);
        switch (in.getInt(at + 24)) {
            case 0, 5, 6 -> {}
            default -> throw in.badEnum(at + 24);
        }
        for (int i0 = 0; i0 < 2; i0++) {
            int at0 = at + 28 + i0 * 12;
            switch (in.getInt(at0 + 4)) {
                case 0, 5, 6 -> {}
                default -> throw in.badEnum(at0 + 4);
            }
            in.checkBoolean(at0 + 8);
        }
        in.checkText8(at + 96, GraphReader.REF);
        in.checkMany(at + 112, PointType.TYPE, GraphReader.UNIQUE, Byte.toUnsignedLong(in.getByte(at + 104)));
        in.checkOne(at + 120, GraphType.LONG, GraphReader.UNIQUE);
        in.checkMany(at + 128, ItemType.TYPE, GraphReader.UNIQUE, Byte.toUnsignedLong(in.getByte(at + 104)));
        switch (in.getInt(at + 140)) {
            case 0, 5, 6 -> {}
            default -> throw in.badEnum(at + 140);
        }
        in.checkBoolean(at + 144);
    }

    @Override
    protected void write(GraphWriter out, Object value, int at) {
        Holder of = (Holder) value;
        out.inner(at, ItemType.TYPE, of.item());
        out.putInt(at + 24, of.color().value());
        out.putList(at + 28, PointType.TYPE, of.points());
        out.putArray(at + 52, of.grid().uncopied());
        out.putGuid(at + 76, of.id());
        out.text8(at + 96, of.label());
        out.putByte(at + 104, (byte) Frames.length(of.more(), of.items()));
        out.list(at + 112, PointType.TYPE, of.more());
        out.one(at + 120, GraphType.LONG, of.maybe());
        out.list(at + 128, ItemType.TYPE, of.items());
        of.p().write(out.memory(), at + 136);
    }

    @Override
    protected Holder view(Frame frame, int at) {
        return new Holder.View(frame, at);
    }

    @Override
    protected Holder.Rec build(GraphReader in, int at) {
        return new Holder.Rec(
            ItemType.TYPE.build(in, at),
            Color.of(in.getInt(at + 24)),
            List.copyOf(in.frame().list(at + 28, 2, PointType.TYPE)),
            in.frame().ints(at + 52, 6).copy(),
            in.getGuid(at + 76),
            in.text8(at + 96),
            in.list(at + 112),
            (Integer) in.number(at + 120, GraphType.LONG),
            in.list(at + 128),
            Point.read(in.frame().values(), at + 136));
    }
}
