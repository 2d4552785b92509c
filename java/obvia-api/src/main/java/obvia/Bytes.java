package obvia;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import obvia.spi.Scope;

/**
 * An array of {@code byte}s in a structure: read where it lies, be that this process's memory or the peer's.
 *
 * <p>One of a call's arguments can be read until the method returns. Its elements may lie in memory that the caller can change while it is read: {@link #toArray} takes a copy of them.
 */
public final class Bytes {
    private static final ValueLayout.OfByte LAYOUT = ValueLayout.JAVA_BYTE;
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private final MemorySegment segment;
    private final Scope scope;
    private final int size;

    /** The elements, where they are an array of this one's own. */
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
     * A copy of these elements.
     *
     * @param elements the elements
     * @return an array of its own
     */
    public static Bytes of(byte... elements) {
        return new Bytes(elements.clone());
    }

    /**
     * Elements in memory, little endian, which can be read as long as their scope allows it; {@code null} where that is for good. For runtimes.
     *
     * @param segment the memory
     * @param scope how long it may be read, or {@code null}
     * @return an array that reads them there
     */
    public static Bytes of(MemorySegment segment, Scope scope) {
        return new Bytes(segment.asReadOnly(), scope);
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
    public byte get(int index) {
        return reached().get(LAYOUT, index);
    }

    /**
     * A copy of the elements.
     *
     * @return an array that anybody may change
     */
    public byte[] toArray() {
        byte[] copy = new byte[size];
        copyTo(copy, 0);
        return copy;
    }

    /**
     * Copies the elements to an array, from a place there on.
     *
     * @param to the array
     * @param at the place
     */
    public void copyTo(byte[] to, int at) {
        if (array == null) {
            MemorySegment.copy(reached(), LAYOUT, 0, to, at, size);
        } else {
            System.arraycopy(array, 0, to, at, size);
        }
    }

    /**
     * Copies the elements to words, from one on: the first to the lowest bits, and zeros to what is left of the last. For runtimes.
     *
     * @param to the words
     * @param at the first of them
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
     * A copy which can be read for good; itself, where it can.
     *
     * @return such an array
     */
    public Bytes copy() {
        return scope == null ? this : new Bytes(toArray());
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

    /**
     * The elements as a buffer, read-only, for good: see {@link #segment}.
     *
     * @return a buffer that stays as it is
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

    /** Whether another array has the same bytes. */
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
