package obvia;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import obvia.spi.Scope;

/**
 * An array of {@code float}s in a structure: read where it lies, be that this process's memory or the peer's.
 *
 * <p>One of a call's arguments can be read until the method returns. Its elements may lie in memory that the caller can change while it is read: {@link #toArray} takes a copy of them.
 */
public final class Floats {
    private static final ValueLayout.OfFloat LAYOUT = ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final MemorySegment segment;
    private final Scope scope;
    private final int size;

    private Floats(MemorySegment segment, Scope scope) {
        this.segment = segment;
        this.scope = scope;
        size = (int) (segment.byteSize() / 4);
    }

    /**
     * A copy of these elements.
     *
     * @param elements the elements
     * @return an array of its own
     */
    public static Floats of(float... elements) {
        MemorySegment copy = MemorySegment.ofArray(new byte[Math.multiplyExact(elements.length, 4)]);
        MemorySegment.copy(elements, 0, copy, LAYOUT, 0, elements.length);
        return new Floats(copy.asReadOnly(), null);
    }

    /**
     * Elements in memory, little endian, which can be read as long as their scope allows it; {@code null} where that is for good. For runtimes.
     *
     * @param segment the memory
     * @param scope how long it may be read, or {@code null}
     * @return an array that reads them there
     */
    public static Floats of(MemorySegment segment, Scope scope) {
        return new Floats(segment.asReadOnly(), scope);
    }

    /**
     * How many elements there are.
     *
     * @return the number
     */
    public int size() {
        return size;
    }

    /**
     * An element.
     *
     * @param index its place, from 0 on
     * @return the element
     * @throws IndexOutOfBoundsException where there are not as many
     */
    public float get(int index) {
        return reached().get(LAYOUT, (long) index * 4);
    }

    /**
     * A copy of the elements.
     *
     * @return an array that anybody may change
     */
    public float[] toArray() {
        float[] copy = new float[size];
        MemorySegment.copy(reached(), LAYOUT, 0, copy, 0, size);
        return copy;
    }

    /**
     * A copy which can be read for good; itself, where it can.
     *
     * @return such an array
     */
    public Floats copy() {
        return scope == null ? this : new Floats(MemorySegment.ofArray(reached().toArray(ValueLayout.JAVA_BYTE)).asReadOnly(), null);
    }

    /**
     * The bytes of the elements, read-only and little endian, for good: a copy of them, unless they are in memory of this one's own.
     *
     * @return a segment that stays as it is
     */
    public MemorySegment segment() {
        return copy().reached();
    }

    /**
     * The bytes of the elements where they lie. Whether they may be read is checked now, and not while they are: the memory has something else in it when the call has returned. For
     * runtimes.
     *
     * @return a segment, read-only and little endian
     */
    public MemorySegment uncopied() {
        return reached();
    }

    private MemorySegment reached() {
        if (scope != null) {
            scope.check();
        }
        return segment;
    }

    /** Whether another array has the same bytes. */
    @Override
    public boolean equals(Object other) {
        return other instanceof Floats array && reached().mismatch(array.reached()) < 0;
    }

    @Override
    public int hashCode() {
        int hash = 1;
        for (int i = 0; i < size; i++) {
            hash = 31 * hash + Float.hashCode(get(i));
        }
        return hash;
    }

    @Override
    public String toString() {
        return size + " elements of float";
    }
}
