// Made by obvia-idl 0.1.0 from trees.idl. Change the IDL, not this.
package trees;

import obvia.runtime.Frame;
import obvia.runtime.GraphReader;
import obvia.runtime.GraphType;
import obvia.runtime.GraphWriter;

/** {@link Entry} as the runtime knows it. */
final class EntryType extends GraphType {
    static final EntryType TYPE = new EntryType();

    private EntryType() {
        super(24);
    }

    @Override
    protected void verify(GraphReader in, int at) {
        in.checkText8(at, GraphReader.REF);
        switch (in.getInt(at + 8)) {
            case 1 -> {}
            case 2 -> {}
            case 3 -> {
                in.checkText16(at + 16, GraphReader.UNIQUE);
            }
            case 4 -> {
                in.checkOne(at + 16, ItemType.TYPE, GraphReader.UNIQUE);
            }
            case 5, 6 -> {
                switch (in.getInt(at + 16)) {
                    case 0, 5, 6 -> {}
                    default -> throw in.badEnum(at + 16);
                }
            }
            default -> {}
        }
    }

    @Override
    protected void write(GraphWriter out, Object value, int at) {
        Entry of = (Entry) value;
        out.text8(at, of.name());
        out.putInt(at + 8, of.kind());
        AnyType.put(out, of.value(), at + 16);
    }

    @Override
    protected Entry view(Frame frame, int at) {
        return new Entry.View(frame, at);
    }

    @Override
    protected Entry.Rec build(GraphReader in, int at) {
        return new Entry.Rec(in.text8(at), in.getInt(at + 8), AnyType.build(in, at + 16, in.getInt(at + 8)));
    }
}
