package obvia.runtime;

import java.lang.foreign.MemorySegment;
import obvia.Retained;
import obvia.spi.Hold;

/** Operations on structures with pointers, outside of calls. */
public final class Graphs {
    private Graphs() {}

    /** Returns a deep copy of a structure that does not depend on any frame. */
    @SuppressWarnings("unchecked")
    public static <T> T copy(GraphType type, T value) {
        GraphWriter writer = GraphWriter.of(GraphKinds.EVERY, 8);
        boolean isShared = type.isShared();
        if (isShared) {
            writer.shared(0, type, value);
        } else {
            writer.one(0, type, value);
        }
        Object[] objects = writer.finishHere();
        byte[] bytes = new byte[writer.length()];
        writer.copyTo(MemorySegment.ofArray(bytes), 0);
        writer.close();
        GraphReader reader = GraphReader.of(MemorySegment.ofArray(bytes), 0, bytes.length, 8, GraphKinds.EVERY, "a structure's members");
        reader.checkOne(0, type, isShared ? GraphReader.FULL : GraphReader.UNIQUE);
        reader.verify();
        reader.resolve((reference, _) -> objects[(int) FrameBytes.INTS.get(reference, 0)]);
        reader.build();
        Object copy = reader.one(0);
        reader.close();
        return (T) copy;
    }

    /**
     * Retains a structure. Until the returned object is closed, the structure can be read and does
     * not change.
     */
    @SuppressWarnings("unchecked")
    public static <T> Retained<T> retain(T value) {
        if (!(value instanceof GraphView view)) {
            return Retained.of(value, NOTHING);
        }
        Frame kept = view.frame.keep();
        return Retained.of((T) view.graphType().view(kept, view.at), kept.hold());
    }

    /** The hold of values that have no frame. */
    private static final Hold NOTHING = new Hold() {
        @Override
        public int bytes() {
            return 0;
        }

        @Override
        public void release() {}
    };
}
