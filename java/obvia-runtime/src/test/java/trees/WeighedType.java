// Made by obvia-idl 0.1.0 from trees.idl. Change the IDL, not this.
package trees;

import obvia.runtime.Frame;
import obvia.runtime.Frames;
import obvia.runtime.GraphReader;
import obvia.runtime.GraphType;
import obvia.runtime.GraphWriter;

/** {@link Weighed} as the runtime knows it. */
final class WeighedType extends GraphType {
    static final WeighedType TYPE = new WeighedType();

    private WeighedType() {
        super(40);
    }

    @Override
    protected void verify(GraphReader in, int at) {
        long which_8 = in.getLong(at);
        if (which_8 == 1L) {
            // Nothing to look at.
        } else if (which_8 == 5000000000L || which_8 == 5000000001L) {
            in.checkOne(at + 8, ItemType.TYPE, GraphReader.UNIQUE);
        } else if (which_8 == -7L) {
            // Nothing to look at.
        } else {
            in.checkText16(at + 8, GraphReader.UNIQUE);
        }
        switch (in.which(at + 24, in.value(at, () -> Math.addExact(Math.multiplyExact((long) in.getShort(at + 16), 2L), Byte.toUnsignedLong(in.getByte(at + 18)))), -2147483648L, 2147483647L)) {
            case 1 -> {}
            case 2 -> {}
            case 3 -> {
                in.checkText16(at + 24, GraphReader.UNIQUE);
            }
            case 4 -> {
                in.checkOne(at + 24, ItemType.TYPE, GraphReader.UNIQUE);
            }
            case 5, 6 -> {
                switch (in.getInt(at + 24)) {
                    case 0, 5, 6 -> {}
                    default -> throw in.badEnum(at + 24);
                }
            }
            default -> {}
        }
        switch (in.which(at + 32, in.value(at, () -> Frames.remainder(in.getLong(at), 8L)), -2147483648L, 2147483647L)) {
            case 1 -> {}
            case 2 -> {}
            case 3 -> {
                in.checkText16(at + 32, GraphReader.UNIQUE);
            }
            case 4 -> {
                in.checkOne(at + 32, ItemType.TYPE, GraphReader.UNIQUE);
            }
            case 5, 6 -> {
                switch (in.getInt(at + 32)) {
                    case 0, 5, 6 -> {}
                    default -> throw in.badEnum(at + 32);
                }
            }
            default -> {}
        }
    }

    @Override
    protected void write(GraphWriter out, Object value, int at) {
        Weighed of = (Weighed) value;
        out.putLong(at, of.kind());
        BigType.put(out, of.big(), at + 8);
        out.putShort(at + 16, of.level());
        out.putByte(at + 18, of.more());
        AnyType.put(out, of.any(), at + 24);
        AnyType.put(out, of.other(), at + 32);
    }

    @Override
    protected Weighed view(Frame frame, int at) {
        return new Weighed.View(frame, at);
    }

    @Override
    protected Weighed.Rec build(GraphReader in, int at) {
        return new Weighed.Rec(
            in.getLong(at),
            BigType.build(in, at + 8, in.getLong(at)),
            in.getShort(at + 16),
            in.getByte(at + 18),
            AnyType.build(in, at + 24, (int) Math.addExact(Math.multiplyExact((long) in.getShort(at + 16), 2L), Byte.toUnsignedLong(in.getByte(at + 18)))),
            AnyType.build(in, at + 32, (int) Frames.remainder(in.getLong(at), 8L)));
    }
}
