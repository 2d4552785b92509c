// Made by obvia-idl 0.1.0 from trees.idl. Change the IDL, not this.
package trees;

import obvia.runtime.Frame;
import obvia.runtime.GraphReader;
import obvia.runtime.GraphType;
import obvia.runtime.GraphWriter;

/** {@link Digits} as the runtime knows it. */
final class DigitsType extends GraphType {
    static final DigitsType TYPE = new DigitsType();

    private DigitsType() {
        super(4, 4, GraphType.LONG);
    }

    @Override
    protected void verify(GraphReader in, int at) {
        in.checkTail(at, at + 4, GraphType.LONG, Byte.toUnsignedLong(in.getByte(at + 1)), Byte.toUnsignedLong(in.getByte(at)));
    }

    @Override
    protected void write(GraphWriter out, Object value, int at) {
        Digits of = (Digits) value;
        out.putByte(at, of.room());
        out.putByte(at + 1, of.count());
        out.putArray(at + 4, of.all().uncopied());
    }

    @Override
    protected Digits view(Frame frame, int at) {
        return new Digits.View(frame, at);
    }

    @Override
    protected int count(Object value) {
        return ((Digits) value).all().size();
    }

    @Override
    protected Digits.Rec build(GraphReader in, int at) {
        return new Digits.Rec(
            in.getByte(at),
            in.getByte(at + 1),
            in.frame().ints(at + 4, in.frame().count(at)).copy());
    }
}
