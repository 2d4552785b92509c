package obvia;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import obvia.spi.Scope;

/**
 * An array of {@code byte}s in a structure. The elements are read in place, in memory of this
 * process or of the peer.
 *
 * <p>An array from a call's arguments can be read until the method returns; later reads throw an
 * {@link IllegalStateException}. While the method runs, the caller may be able to change the
 * elements. {@link #toArray} returns a copy that does not change.
 */
public final class Bytes {
    private static final ValueLayout.OfByte LAYOUT = ValueLayout.JAVA_BYTE;
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private final MemorySegment segment;
    private final Scope scope;
    private final int size;

    /** The elements if this object has an array of its own, else {@code null}. */
    private final byte[] array;

    private Bytes(MemorySegment segment, Scope scope) {
        this.segment = segment;
        this.scope = scope;
        size = (int) segment.byteSize();
        array = null;
    }

    private Bytes(byte[] array) {
        segment = MemorySegment.ofArray(array).asReadOnly();
        scope = null;
        size = array.length;
        this.array = array;
    }

    /**
     * Returns an array with a copy of the elements.
     *
     * @param elements the elements
     * @return an array that owns its elements
     */
    public static Bytes of(byte... elements) {
        return new Bytes(elements.clone());
    }

    /**
     * Returns an array that reads its elements in memory, in little-endian byte order. Only
     * runtimes call this method.
     *
     * @param segment the memory
     * @param scope the scope that limits when the memory may be read; {@code null} for no limit
     * @return an array that reads the memory in place
     */
    public static Bytes of(MemorySegment segment, Scope scope) {
        return new Bytes(segment.asReadOnly(), scope);
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
    public byte get(int index) {
        return reached().get(LAYOUT, index);
    }

    /**
     * Returns a copy of the elements.
     *
     * @return a new array
     */
    public byte[] toArray() {
        byte[] copy = new byte[size];
        copyTo(copy, 0);
        return copy;
    }

    /**
     * Copies the elements to an array.
     *
     * @param to the destination
     * @param at the index of the first element in the destination
     */
    public void copyTo(byte[] to, int at) {
        if (array == null) {
            MemorySegment.copy(reached(), LAYOUT, 0, to, at, size);
        } else {
            System.arraycopy(array, 0, to, at, size);
        }
    }

    /**
     * Packs the elements into words: the first element into the lowest bits of the first word. If
     * the elements do not fill the last word, its remaining bits must be zero before the call. Only
     * runtimes call this method.
     *
     * @param to the destination
     * @param at the index of the first word
     */
    public void copyTo(long[] to, int at) {
        byte[] from = array;
        if (from != null && from.length >= 8 && from.length <= 16) {
            to[at] = (long) LONGS.get(from, 0);
            if (from.length > 8) {
                to[at + 1] = (long) LONGS.get(from, from.length - 8) >>> 8 * (16 - from.length);
            }
            return;
        }
        MemorySegment.copy(reached(), 0, MemorySegment.ofArray(to), 8L * at, size);
    }

    /**
     * Returns an array that can be read at any time: this object if its lifetime is unlimited, else
     * a copy.
     *
     * @return an array that can be read at any time
     */
    public Bytes copy() {
        return scope == null ? this : new Bytes(toArray());
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

    /**
     * Returns the elements as a read-only buffer that can be read at any time: see
     * {@link #segment}.
     *
     * @return a buffer whose content does not change
     */
    public ByteBuffer asByteBuffer() {
        return segment().asByteBuffer();
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
        return other instanceof Bytes array && reached().mismatch(array.reached()) < 0;
    }

    @Override
    public int hashCode() {
        int hash = 1;
        for (int i = 0; i < size; i++) {
            hash = 31 * hash + Byte.hashCode(get(i));
        }
        return hash;
    }

    @Override
    public String toString() {
        return size + " elements of byte";
    }
}
