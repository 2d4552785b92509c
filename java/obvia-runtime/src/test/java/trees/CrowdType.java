// Made by obvia-idl 0.1.0 from trees.idl. Change the IDL, not this.
package trees;

import obvia.runtime.Frame;
import obvia.runtime.Frames;
import obvia.runtime.GraphReader;
import obvia.runtime.GraphType;
import obvia.runtime.GraphWriter;

/** {@link Crowd} as the runtime knows it. */
final class CrowdType extends GraphType {
    static final CrowdType TYPE = new CrowdType();

    private CrowdType() {
        super(56);
    }

    @Override
    protected void verify(GraphReader in, int at) {
        in.checkMany(at + 8, GraphType.object(ITrees.class), GraphReader.UNIQUE, Integer.toUnsignedLong(in.getInt(at)));
        for (int i0 = 0; i0 < 2; i0++) {
            int at0 = at + 16 + i0 * 8;
            in.checkReference(at0, ITreesInfo.INFO);
        }
        in.checkReference(at + 48, in.getGuid(at + 32));
    }

    @Override
    protected void write(GraphWriter out, Object value, int at) {
        Crowd of = (Crowd) value;
        out.putInt(at, Frames.length(of.all()));
        out.list(at + 8, GraphType.object(ITrees.class), of.all());
        out.putList(at + 16, GraphType.object(ITrees.class), of.two());
        out.putGuid(at + 32, of.iid());
        out.reference(at + 48, of.other(), of.iid());
    }

    @Override
    protected Crowd view(Frame frame, int at) {
        return new Crowd.View(frame, at);
    }

    @Override
    protected Crowd.Rec build(GraphReader in, int at) {
        return new Crowd.Rec(
            in.list(at + 8),
            in.list(at + 16, 2, GraphType.object(ITrees.class)),
            in.getGuid(at + 32),
            in.object(at + 48));
    }
}
