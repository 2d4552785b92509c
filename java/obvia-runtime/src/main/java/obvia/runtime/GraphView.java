package obvia.runtime;

/** A structure as it lies in a frame that was checked: the compiler's views extend it. */
public abstract class GraphView {
    /** Where it lies. */
    protected final Frame frame;

    /** The place there. */
    protected final int at;

    /** The structure at a place of a frame. */
    protected GraphView(Frame frame, int at) {
        this.frame = frame;
        this.at = at;
    }

    /** What it is. */
    protected abstract GraphType graphType();

    /** Whether it is the same structure of the same frame. */
    final boolean isSame(Object other) {
        return other instanceof GraphView view && view.frame == frame && view.at == at;
    }

    final int identity() {
        return System.identityHashCode(frame) * 31 + at;
    }

    /** Whether it is the same structure of the same call. */
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
