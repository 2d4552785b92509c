// Made by obvia-idl 0.1.0 from trees.idl. Change the IDL, not this.
package trees;

import obvia.runtime.Frame;
import obvia.runtime.GraphReader;
import obvia.runtime.GraphType;
import obvia.runtime.GraphWriter;

/** {@link Node} as the runtime knows it. */
final class NodeType extends GraphType {
    static final NodeType TYPE = new NodeType();

    private NodeType() {
        super(48);
    }

    @Override
    protected void verify(GraphReader in, int at) {
        in.checkText8(at + 8, GraphReader.UNIQUE);
        in.checkOne(at + 16, NodeType.TYPE, GraphReader.FULL);
        in.checkOne(at + 24, NodeType.TYPE, GraphReader.FULL);
        in.checkOne(at + 32, ItemType.TYPE, GraphReader.FULL);
        in.checkOne(at + 40, TreeType.TYPE, GraphReader.UNIQUE);
    }

    @Override
    protected void write(GraphWriter out, Object value, int at) {
        Node of = (Node) value;
        out.putInt(at, of.number());
        out.text8(at + 8, of.label());
        out.shared(at + 16, NodeType.TYPE, of.first());
        out.shared(at + 24, NodeType.TYPE, of.second());
        out.shared(at + 32, ItemType.TYPE, of.item());
        out.one(at + 40, TreeType.TYPE, of.tree());
    }

    @Override
    protected Node view(Frame frame, int at) {
        return new Node.View(frame, at);
    }

    @Override
    protected boolean isShared() {
        return true;
    }

    @Override
    protected Node.Rec make() {
        return new Node.Rec();
    }

    @Override
    protected void fill(GraphReader in, int at, Object value) {
        Node.Rec of = (Node.Rec) value;
        of.number = in.getInt(at);
        of.label = in.text8(at + 8);
        of.first = (Node) in.one(at + 16);
        of.second = (Node) in.one(at + 24);
        of.item = (Item) in.one(at + 32);
        of.tree = (Tree) in.one(at + 40);
    }
}
