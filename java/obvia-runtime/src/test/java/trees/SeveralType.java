// Made by obvia-idl 0.1.0 from trees.idl. Change the IDL, not this.
package trees;

import obvia.runtime.Frame;
import obvia.runtime.Frames;
import obvia.runtime.GraphReader;
import obvia.runtime.GraphType;
import obvia.runtime.GraphWriter;

/** {@link Several} as the runtime knows it. */
final class SeveralType extends GraphType {
    static final SeveralType TYPE = new SeveralType();

    private SeveralType() {
        super(56);
    }

    @Override
    protected void verify(GraphReader in, int at) {
        switch (in.getInt(at)) {
            case 1 -> {}
            case 2 -> {
                for (int i0 = 0; i0 < 2; i0++) {
                    int at0 = at + 8 + i0 * 24;
                    in.checkBoolean(at0 + 4);
                    in.checkText16(at0 + 8, GraphReader.UNIQUE);
                    in.checkOne(at0 + 16, ItemType.TYPE, GraphReader.UNIQUE);
                }
            }
            case 3 -> {
                in.checkReference(at + 8, ITreesInfo.INFO);
            }
            default -> throw in.bad(at + 8, "the union has no arm for its discriminant");
        }
    }

    @Override
    protected void write(GraphWriter out, Object value, int at) {
        Several of = (Several) value;
        out.putInt(at, of.which());
        put(out, of, at + 8);
    }

    @Override
    protected Several view(Frame frame, int at) {
        return view(frame, at + 8, frame.getInt(at));
    }

    @Override
    protected Several build(GraphReader in, int at) {
        return build(in, at + 8, in.getInt(at));
    }

    /** Writes the arm. */
    static void put(GraphWriter out, Several value, int at) {
        switch (value) {
            case Several.Three of -> {
                out.putArray(at, of.three().uncopied());
            }
            case Several.Two of -> {
                out.putList(at, ItemType.TYPE, of.two());
            }
            case Several.Object_ of -> {
                out.reference(at, of.object(), ITreesInfo.INFO);
            }
        }
    }

    /** The arm as it lies in a frame that was checked. */
    static Several view(Frame frame, int at, int which) {
        return switch (which) {
            case 1 -> new Several.Three(frame.ints(at, 3));
            case 2 -> new Several.Two(frame.list(at, 2, ItemType.TYPE));
            case 3 -> new Several.Object_(frame.object(at));
            default -> throw Frames.badCase(which);
        };
    }

    /** The same, apart from the frame. */
    static Several build(GraphReader in, int at, int which) {
        return switch (which) {
            case 1 -> new Several.Three(in.frame().ints(at, 3).copy());
            case 2 -> new Several.Two(in.list(at, 2, ItemType.TYPE));
            case 3 -> new Several.Object_(in.object(at));
            default -> throw Frames.badCase(which);
        };
    }
}
