package obvia.bench;

import obvia.Bytes;
import obvia.runtime.BareFrame;
import obvia.runtime.GraphKinds;
import obvia.runtime.GraphReader;
import obvia.runtime.GraphType;

/**
 * Frames in shared memory with lists of structures. Lists with unique pointers are trees, and lists
 * with full pointers are graphs.
 */
final class ByFrames implements Coder {
    private final BareFrame frame = new BareFrame(1 << 20);
    private final Maker maker;
    private final GraphType type;
    private final GraphKinds kinds;
    private int length;
    private GraphReader reader;

    /** The factory of list elements. Each new element precedes the existing elements. */
    private interface Maker {
        Object element(int value, byte[] data, Object next);
    }

    private ByFrames(GraphType type, Maker maker) {
        this.type = type;
        this.maker = maker;
        kinds = GraphKinds.of(type, GraphType.BYTE);
    }

    static ByFrames trees(String shape) {
        return Sample.hasArrays(shape)
                ? new ByFrames(BlocksType.TYPE, (value, data, next) -> Blocks.of(value, Bytes.of(data), (Blocks) next))
                : new ByFrames(NumbersType.TYPE, (value, _, next) -> Numbers.of(value, (Numbers) next));
    }

    static ByFrames graphs(String shape) {
        return Sample.hasArrays(shape)
                ? new ByFrames(BlocksGraphType.TYPE, (value, data, next) -> BlocksGraph.of(value, Bytes.of(data), (BlocksGraph) next))
                : new ByFrames(NumbersGraphType.TYPE, (value, _, next) -> NumbersGraph.of(value, (NumbersGraph) next));
    }

    @Override
    public Object list(String shape, int length) {
        Object list = null;
        for (int at = length - 1; at >= 0; at--) {
            list = maker.element(Sample.value(at), Sample.data(at), list);
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
        return BareFrame.view(reader, type);
    }

    /**
     * Builds the list as objects that do not depend on the frame, as proxies build the results of
     * calls.
     */
    Object build() {
        reader = frame.check(kinds, type, length);
        return BareFrame.build(reader);
    }

    @Override
    public void done() {
        reader.close();
    }
}
