// Made by obvia-idl 0.1.0 from trees.idl. Change the IDL, not this.
package trees;

import obvia.runtime.Frame;
import obvia.runtime.Frames;
import obvia.runtime.GraphReader;
import obvia.runtime.GraphType;
import obvia.runtime.GraphWriter;

/** {@link Row} as the runtime knows it. */
final class RowType extends GraphType {
    static final RowType TYPE = new RowType();

    private RowType() {
        super(16, 16, ItemType.TYPE);
    }

    @Override
    protected void verify(GraphReader in, int at) {
        in.checkText8(at, GraphReader.UNIQUE);
        in.checkTail(at, at + 16, ItemType.TYPE, Short.toUnsignedLong(in.getShort(at + 8)));
    }

    @Override
    protected void write(GraphWriter out, Object value, int at) {
        Row of = (Row) value;
        out.text8(at, of.title());
        out.putShort(at + 8, (short) Frames.length(of.items()));
        out.putList(at + 16, ItemType.TYPE, of.items());
    }

    @Override
    protected Row view(Frame frame, int at) {
        return new Row.View(frame, at);
    }

    @Override
    protected int count(Object value) {
        return ((Row) value).items().size();
    }

    @Override
    protected Row.Rec build(GraphReader in, int at) {
        return new Row.Rec(in.text8(at), in.list(at + 16, in.frame().count(at), ItemType.TYPE));
    }
}
