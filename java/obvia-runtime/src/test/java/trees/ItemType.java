// Made by obvia-idl 0.1.0 from trees.idl. Change the IDL, not this.
package trees;

import obvia.runtime.Frame;
import obvia.runtime.Frames;
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
        int word = at >> 3;
        do {
            out.word(word, Frames.bits(of.value(), 0) | Frames.bits(of.marked(), 32));
            out.text16(8 * word + 8, of.name());
            of = of.next();
            word = out.last(word + 2, out.end(), TYPE, of);
        } while (word != 0);
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
