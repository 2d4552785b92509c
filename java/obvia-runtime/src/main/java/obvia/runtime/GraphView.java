package obvia.runtime;

/** A structure in a verified frame: the base of the compiler's views. */
public abstract class GraphView {
    /** The frame that contains the structure. */
    protected final Frame frame;

    /** The offset of the structure in the frame. */
    protected final int at;

    /** Creates a view of the structure at an offset of a frame. */
    protected GraphView(Frame frame, int at) {
        this.frame = frame;
        this.at = at;
    }

    /** Returns the type of the structure. */
    protected abstract GraphType graphType();

    /** Whether the other object is a view of the same structure in the same frame. */
    final boolean isSame(Object other) {
        return other instanceof GraphView view && view.frame == frame && view.at == at;
    }

    final int identity() {
        return System.identityHashCode(frame) * 31 + at;
    }

    /**
     * Whether the other object has the same class, and is a view of the same structure in the same
     * frame.
     */
    @Override
    public final boolean equals(Object other) {
        return isSame(other) && getClass() == other.getClass();
    }

    @Override
    public final int hashCode() {
        return identity();
    }

    @Override
    public final String toString() {
        return getClass().getName() + "[at " + at + "]";
    }
}
