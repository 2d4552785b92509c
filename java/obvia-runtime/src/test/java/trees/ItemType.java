// Made by obvia-idl 0.1.0 from trees.idl. Change the IDL, not this.
package trees;

import obvia.runtime.Frame;
import obvia.runtime.GraphReader;
import obvia.runtime.GraphType;
import obvia.runtime.GraphWriter;

/** {@link Item} as the runtime knows it. */
final class ItemType extends GraphType {
    static final ItemType TYPE = new ItemType();

    private ItemType() {
        super(24);
    }

    @Override
    protected void verify(GraphReader in, int at) {
        in.checkBoolean(at + 4);
        in.checkText16(at + 8, GraphReader.UNIQUE);
        in.checkOne(at + 16, ItemType.TYPE, GraphReader.UNIQUE);
    }

    @Override
    protected void write(GraphWriter out, Object value, int at) {
        Item of = (Item) value;
        do {
            out.putInt(at, of.value());
            out.putBoolean(at + 4, of.marked());
            out.text16(at + 8, of.name());
            of = of.next();
            at = out.last(at + 16, TYPE, of);
        } while (at != 0);
    }

    @Override
    protected Item view(Frame frame, int at) {
        return new Item.View(frame, at);
    }

    @Override
    protected Item.Rec build(GraphReader in, int at) {
        return new Item.Rec(in.getInt(at), in.getBoolean(at + 4), in.text16(at + 8), (Item) in.one(at + 16));
    }
}
