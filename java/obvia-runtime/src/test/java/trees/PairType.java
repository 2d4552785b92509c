// Made by obvia-idl 0.1.0 from trees.idl. Change the IDL, not this.
package trees;

import obvia.runtime.Frame;
import obvia.runtime.GraphReader;
import obvia.runtime.GraphType;
import obvia.runtime.GraphWriter;

/** {@link Pair} as the runtime knows it. */
final class PairType extends GraphType {
    static final PairType TYPE = new PairType();

    private PairType() {
        super(24);
    }

    @Override
    protected void verify(GraphReader in, int at) {
        in.checkReference(at, ITreesInfo.INFO);
        in.checkText8(at + 8, GraphReader.UNIQUE);
        in.checkReference(at + 16, ITreesInfo.INFO);
    }

    @Override
    protected void write(GraphWriter out, Object value, int at) {
        Pair of = (Pair) value;
        out.reference(at, of.left(), ITreesInfo.INFO);
        out.text8(at + 8, of.word());
        out.reference(at + 16, of.right(), ITreesInfo.INFO);
    }

    @Override
    protected Pair view(Frame frame, int at) {
        return new Pair.View(frame, at);
    }

    @Override
    protected Pair.Rec build(GraphReader in, int at) {
        return new Pair.Rec(in.object(at), in.text8(at + 8), in.object(at + 16));
    }
}
