package obvia.bench;

import obvia.Bytes;
import obvia.runtime.BareFrame;
import obvia.runtime.GraphKinds;
import obvia.runtime.GraphReader;
import obvia.runtime.GraphType;

/** Frames in shared memory: lists of structures with unique pointers, which are trees. */
final class ByFrames implements Coder {
    private final BareFrame frame = new BareFrame(1 << 20);
    private final boolean hasArrays;
    private final GraphType type;
    private final GraphKinds kinds;
    private int length;
    private GraphReader reader;

    ByFrames(String shape) {
        hasArrays = Sample.hasArrays(shape);
        type = hasArrays ? BlocksType.TYPE : NumbersType.TYPE;
        kinds = GraphKinds.of(type, GraphType.BYTE);
    }

    @Override
    public Object list(String shape, int length) {
        Object list = null;
        for (int at = length - 1; at >= 0; at--) {
            int value = Sample.value(at);
            list = hasArrays ? Blocks.of(value, Bytes.of(Sample.data(at)), (Blocks) list) : Numbers.of(value, (Numbers) list);
        }
        return list;
    }

    @Override
    public int write(Object list) {
        length = frame.write(kinds, type, list);
        return length;
    }

    @Override
    public Object read() {
        reader = frame.check(kinds, type, length);
        int place = BareFrame.place(reader);
        return hasArrays ? new Blocks.View(reader.frame(), place) : new Numbers.View(reader.frame(), place);
    }

    /** The list as objects of its own, as results of calls are. */
    Object build() {
        reader = frame.check(kinds, type, length);
        return BareFrame.build(reader);
    }

    @Override
    public void done() {
        reader.close();
    }
}
