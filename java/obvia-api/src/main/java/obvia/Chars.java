package obvia;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import obvia.spi.Scope;

/**
 * An array of {@code char}s in a structure. The elements are read in place, in memory of this
 * process or of the peer.
 *
 * <p>An array from a call's arguments can be read until the method returns; later reads throw an
 * {@link IllegalStateException}. While the method runs, the caller may be able to change the
 * elements. {@link #toArray} returns a copy that does not change.
 */
public final class Chars {
    private static final ValueLayout.OfChar LAYOUT = ValueLayout.JAVA_CHAR_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final MemorySegment segment;
    private final Scope scope;
    private final int size;

    private Chars(MemorySegment segment, Scope scope) {
        this.segment = segment;
        this.scope = scope;
        size = (int) (segment.byteSize() / 2);
    }

    /**
     * Returns an array with a copy of the elements.
     *
     * @param elements the elements
     * @return an array that owns its elements
     */
    public static Chars of(char... elements) {
        MemorySegment copy = MemorySegment.ofArray(new byte[Math.multiplyExact(elements.length, 2)]);
        MemorySegment.copy(elements, 0, copy, LAYOUT, 0, elements.length);
        return new Chars(copy.asReadOnly(), null);
    }

    /**
     * Returns an array that reads its elements in memory, in little-endian byte order. Only
     * runtimes call this method.
     *
     * @param segment the memory
     * @param scope the scope that limits when the memory may be read; {@code null} for no limit
     * @return an array that reads the memory in place
     */
    public static Chars of(MemorySegment segment, Scope scope) {
        return new Chars(segment.asReadOnly(), scope);
    }

    /**
     * Returns the number of elements.
     *
     * @return the number
     */
    public int size() {
        return size;
    }

    /**
     * Returns an element.
     *
     * @param index the index, from 0
     * @return the element
     * @throws IndexOutOfBoundsException if the index is outside the array
     */
    public char get(int index) {
        return reached().get(LAYOUT, (long) index * 2);
    }

    /**
     * Returns a copy of the elements.
     *
     * @return a new array
     */
    public char[] toArray() {
        char[] copy = new char[size];
        MemorySegment.copy(reached(), LAYOUT, 0, copy, 0, size);
        return copy;
    }

    /**
     * Returns an array that can be read at any time: this object if its lifetime is unlimited, else
     * a copy.
     *
     * @return an array that can be read at any time
     */
    public Chars copy() {
        return scope == null ? this : new Chars(MemorySegment.ofArray(reached().toArray(ValueLayout.JAVA_BYTE)).asReadOnly(), null);
    }

    /**
     * Returns the bytes of the elements, read-only and little-endian, in memory that can be read at
     * any time: a copy if the lifetime of this object is limited.
     *
     * @return a segment whose content does not change
     */
    public MemorySegment segment() {
        return copy().reached();
    }

    /**
     * Returns the bytes of the elements in place. This method checks the scope. Later accesses to
     * the segment are not checked: after the call has returned, they read other data. Only runtimes
     * call this method.
     *
     * @return a segment, read-only and little-endian
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

    /** Whether the other array has the same bytes. */
    @Override
    public boolean equals(Object other) {
        return other instanceof Chars array && reached().mismatch(array.reached()) < 0;
    }

    @Override
    public int hashCode() {
        int hash = 1;
        for (int i = 0; i < size; i++) {
            hash = 31 * hash + Character.hashCode(get(i));
        }
        return hash;
    }

    @Override
    public String toString() {
        return size + " elements of char";
    }
}
