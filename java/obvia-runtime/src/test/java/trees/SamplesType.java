// Made by obvia-idl 0.1.0 from trees.idl. Change the IDL, not this.
package trees;

import obvia.runtime.Frame;
import obvia.runtime.Frames;
import obvia.runtime.GraphReader;
import obvia.runtime.GraphType;
import obvia.runtime.GraphWriter;

/** {@link Samples} as the runtime knows it. */
final class SamplesType extends GraphType {
    static final SamplesType TYPE = new SamplesType();

    private SamplesType() {
        super(56);
    }

    @Override
    protected void verify(GraphReader in, int at) {
        in.checkMany(at + 8, GraphType.DOUBLE, GraphReader.UNIQUE, Integer.toUnsignedLong(in.getInt(at)));
        in.checkMany(at + 16, GraphType.BYTE, GraphReader.UNIQUE, Integer.toUnsignedLong(in.getInt(at)));
        in.checkMany(at + 32, GraphType.SHORT, GraphReader.UNIQUE, in.value(at, () -> Math.addExact(Math.multiplyExact(Short.toUnsignedLong(in.getShort(at + 24)), Short.toUnsignedLong(in.getShort(at + 26))), 1L)));
        in.checkRange(at + 40, in.getInt(at + 40), 0L, 8L);
        in.checkMany(at + 48, GraphType.LONG, GraphReader.REF, in.getInt(at + 40), 8);
    }

    @Override
    protected void write(GraphWriter out, Object value, int at) {
        Samples of = (Samples) value;
        out.putInt(at, Frames.length(of.values(), of.flags()));
        out.array(at + 8, GraphType.DOUBLE, of.values());
        out.array(at + 16, GraphType.BYTE, of.flags());
        out.putShort(at + 24, of.rows());
        out.putShort(at + 26, of.columns());
        out.array(at + 32, GraphType.SHORT, of.table());
        out.putInt(at + 40, of.used());
        out.array(at + 48, GraphType.LONG, of.tail());
    }

    @Override
    protected Samples view(Frame frame, int at) {
        return new Samples.View(frame, at);
    }

    @Override
    protected Samples.Rec build(GraphReader in, int at) {
        return new Samples.Rec(
            in.doubles(at + 8),
            in.bytes(at + 16),
            in.getShort(at + 24),
            in.getShort(at + 26),
            in.shorts(at + 32),
            in.getInt(at + 40),
            in.ints(at + 48));
    }
}
