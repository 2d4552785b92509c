// Made by obvia-idl 0.1.0 from trees.idl. Change the IDL, not this.
package trees;

import obvia.runtime.Frame;
import obvia.runtime.GraphReader;
import obvia.runtime.GraphType;
import obvia.runtime.GraphWriter;

/** {@link Tree} as the runtime knows it. */
final class TreeType extends GraphType {
    static final TreeType TYPE = new TreeType();

    private TreeType() {
        super(24);
    }

    @Override
    protected void verify(GraphReader in, int at) {
        in.checkOne(at + 8, TreeType.TYPE, GraphReader.UNIQUE);
        in.checkOne(at + 16, TreeType.TYPE, GraphReader.UNIQUE);
    }

    @Override
    protected void write(GraphWriter out, Object value, int at) {
        Tree of = (Tree) value;
        out.putLong(at, of.key());
        out.one(at + 8, TreeType.TYPE, of.left());
        out.one(at + 16, TreeType.TYPE, of.right());
    }

    @Override
    protected Tree view(Frame frame, int at) {
        return new Tree.View(frame, at);
    }

    @Override
    protected Tree.Rec build(GraphReader in, int at) {
        return new Tree.Rec(in.getLong(at), (Tree) in.one(at + 8), (Tree) in.one(at + 16));
    }
}
