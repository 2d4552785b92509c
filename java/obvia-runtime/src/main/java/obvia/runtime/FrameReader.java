package obvia.runtime;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.function.LongSupplier;
import obvia.BadMessageException;
import obvia.Guid;
import obvia.runtime.call.Fault;
import obvia.runtime.call.FrameLimit;

/**
 * Reads a frame in the peer's memory. Each word is read once, since the peer may change it at any
 * time, and is verified before its use.
 *
 * <p>Places are offsets from the frame's beginning. Objects are read in the order of their slots,
 * so that the place of each object is known before its slot is read.
 */
public final class FrameReader {
    private final MemorySegment memory;
    private final long at;
    private final int length;
    private final String what;

    /** The offset of the next object. */
    private int next;

    /** The number of elements of the object that was found last. */
    private int count;

    /** The number of bytes that are left for further arrays of results. */
    private long room = FrameLimit.BYTES;

    /** Creates a reader of a call's results with a block of {@code block} bytes. */
    public FrameReader(Channel call, int block) {
        this(call.replyMemory, call.replyAt, call.length, block, "the results");
    }

    /** Creates a reader of a call's arguments with a block of {@code block} bytes. */
    public FrameReader(InCall call, int block) {
        this(call.memory, call.at, call.length, block, "the arguments");
    }

    FrameReader(MemorySegment memory, long at, int length, int block, String what) {
        this.memory = memory;
        this.at = at;
        this.length = length;
        this.what = what;
        next = block;
        if (length < block) {
            throw bad("the frame has " + length + " bytes, expected at least " + block);
        }
    }

    /** Returns the exception for a malformed frame. */
    public BadMessageException bad(String why) {
        return new BadMessageException(what + " do not match the interface: " + why);
    }

    /** Checks that the frame ends with the object that was read last. */
    public void end() {
        if (next != length) {
            throw bad("the frame has " + length + " bytes, expected " + next);
        }
    }

    /** Returns a {@code byte} of the frame. */
    public byte getByte(int place) {
        return memory.get(Flat.BYTE, at + place);
    }

    /** Returns a {@code short} of the frame. */
    public short getShort(int place) {
        return memory.get(Flat.SHORT, at + place);
    }

    /** Returns a {@code char} of the frame. */
    public char getChar(int place) {
        return memory.get(Flat.CHAR, at + place);
    }

    /** Returns an {@code int} of the frame. */
    public int getInt(int place) {
        return memory.get(Flat.INT, at + place);
    }

    /** Returns a {@code long} of the frame. */
    public long getLong(int place) {
        return memory.get(Flat.LONG, at + place);
    }

    /** Returns a {@code float} of the frame. */
    public float getFloat(int place) {
        return memory.get(Flat.FLOAT, at + place);
    }

    /** Returns a {@code double} of the frame. */
    public double getDouble(int place) {
        return memory.get(Flat.DOUBLE, at + place);
    }

    /** Returns a {@code boolean} of the frame. */
    public boolean getBoolean(int place) {
        byte value = getByte(place);
        if ((value & ~1) != 0) {
            throw bad("a boolean is neither 0 nor 1: " + value);
        }
        return value == 1;
    }

    /** Returns a GUID of the frame. */
    public Guid getGuid(int place) {
        return Guid.fromWire(getLong(place), getLong(place + 8));
    }

    /** Checks that a value is at least {@code least} and at most {@code most}. */
    public void checkRange(long value, long least, long most) {
        if (value < least || value > most) {
            throw bad(value + " is not within " + least + " and " + most);
        }
    }

    /**
     * Checks that an unsigned value is at least {@code least} and at most {@code most}. The bounds
     * are not negative.
     */
    public void checkUnsignedRange(long value, long least, long most) {
        if (value < 0 || value < least || value > most) {
            throw bad(Frames.beyond(value, least, most));
        }
    }

    /** Checks that a value is not {@code null}. */
    public <T> T notNull(T found) {
        if (found == null) {
            throw bad("a pointer that must not be null is null");
        }
        return found;
    }

    /** Returns the value of a conformance expression as a number of elements. */
    public int count(long value) {
        if (value < 0 || value > Frames.FRAME_MAX) {
            throw bad("an array's size is invalid: " + value);
        }
        return (int) value;
    }

    /**
     * Returns the value of a conformance expression as a number of elements. If the value is
     * undefined, the frame is malformed.
     */
    public int count(LongSupplier expression) {
        try {
            return count(expression.getAsLong());
        } catch (ArithmeticException e) {
            throw bad("an array's size cannot be computed: " + e.getMessage());
        }
    }

    /**
     * Returns the number of elements of an array of results. Refuses the call if all arrays of its
     * results together are too long for a frame.
     *
     * @param size the size of an element in bytes; for elements that are Java objects, at least the
     *     size of a reference
     */
    public int room(int count, int size) {
        long bytes = (long) count * size;
        if (bytes > room) {
            throw new Fault.Refused(Fault.NO_MEMORY);
        }
        room -= bytes;
        return count;
    }

    /** Checks the number of used elements of an array. */
    public int used(long used, int room) {
        if (used < 0 || used > room) {
            throw bad("an array's length " + used + " is not within its size " + room);
        }
        return (int) used;
    }

    /**
     * Checks the number of used elements of an array. If the expression for the number is
     * undefined, the frame is malformed.
     */
    public int used(LongSupplier expression, int room) {
        try {
            return used(expression.getAsLong(), room);
        } catch (ArithmeticException e) {
            throw bad("an array's length cannot be computed: " + e.getMessage());
        }
    }

    /** Returns the used elements of an array that may be passed by reference. */
    public MemorySegment used(long used, MemorySegment array, int size) {
        long room = array.byteSize() / size;
        if (used < 0 || used > room) {
            throw bad("an array's length " + used + " is not within its size " + room);
        }
        return array.asSlice(0, used * size);
    }

    /**
     * Returns the used elements of an array that may be passed by reference. If the expression
     * for their number is undefined, the frame is malformed.
     */
    public MemorySegment used(LongSupplier expression, MemorySegment array, int size) {
        return used((long) used(expression, (int) Math.min(array.byteSize() / size, Frames.FRAME_MAX)), array, size);
    }

    /**
     * Copies the next object to an array that may be passed by reference and has the same number of
     * elements.
     */
    public void into(MemorySegment array, int slot, int kind, int size) {
        int body = find(slot, kind, count(array.byteSize() / size), size);
        MemorySegment.copy(memory, at + body, array, 0, array.byteSize());
    }

    /** Returns a copy of the next object, an array that may be passed by reference. */
    public MemorySegment segment(int slot, int kind, int count, int size) {
        int body = find(slot, kind, count, size);
        MemorySegment copy = Frames.room(count, size);
        MemorySegment.copy(memory, at + body, copy, 0, copy.byteSize());
        return copy;
    }

    /**
     * Finds the next object.
     *
     * @param slot the offset of the object's slot
     * @param kind the number of the object's type
     * @param count the expected number of elements
     * @param size the size of an element in bytes
     * @return the offset of its elements
     */
    public int find(int slot, int kind, int count, int size) {
        if (getLong(slot) != next + Frames.HEADER) {
            throw bad("the pointer at " + slot + " does not lead to the next object");
        }
        return take(kind, count, header(), size);
    }

    /**
     * Finds the next object. Only the object's header has the number of elements: see
     * {@link #count()}.
     *
     * @return the offset of the elements; -1 if the slot is null
     */
    public int find(int slot, int kind, int size) {
        long offset = getLong(slot);
        if (offset == 0) {
            count = 0;
            return -1;
        }
        if (offset != next + Frames.HEADER) {
            throw bad("the pointer at " + slot + " does not lead to the next object");
        }
        long header = header();
        return take(kind, count(header >>> 32), header, size);
    }

    /**
     * Finds the next object, which must be one value. Returns the offset of the value; -1 if the
     * slot is null.
     */
    public int optional(int slot, int kind, int size) {
        int body = find(slot, kind, size);
        if (body >= 0 && count != 1) {
            throw bad("an object has " + count + " elements, expected 1");
        }
        return body;
    }

    /**
     * Finds the next object, which must have {@code meant} elements. If {@code meant} is 0, the
     * slot may be null. For a null slot, this method returns 0.
     */
    public int allocated(int slot, int kind, int size, int meant) {
        int body = find(slot, kind, size);
        if (count != meant) {
            throw bad("an array has " + count + " elements, expected " + meant);
        }
        return Math.max(body, 0);
    }

    /** Returns the number of elements of the object that was found last. */
    public int count() {
        return count;
    }

    private long header() {
        if (next > length - Frames.HEADER) {
            throw bad("the frame ends before its next object");
        }
        return getLong(next);
    }

    private int take(int kind, int count, long header, int size) {
        if (header != (Integer.toUnsignedLong(kind) | (long) count << 32)) {
            throw bad("an object has type " + (int) header + " and " + (header >>> 32) + " elements, expected type " + kind + " and " + count);
        }
        int body = next + Frames.HEADER;
        long end = body + Frames.aligned((long) count * size);
        if (end > length) {
            throw bad("an object of " + count + " elements does not fit the frame");
        }
        next = (int) end;
        this.count = count;
        return body;
    }

    /** Returns a string of 8-bit characters in UTF-8; {@code null} if the slot is null. */
    public String text(int slot) {
        int body = find(slot, Frames.TEXT8, 1);
        if (body < 0) {
            return null;
        }
        byte[] characters = copyBytes(body, count);
        int end = 0;
        while (end < characters.length && characters[end] != 0) {
            end++;
        }
        checkText(end, characters.length);
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(characters, 0, end)).toString();
        } catch (CharacterCodingException e) {
            throw bad("a string is not UTF-8");
        }
    }

    /** Returns a string of 16-bit characters in UTF-16; {@code null} if the slot is null. */
    public String wide(int slot) {
        int body = find(slot, Frames.TEXT16, 2);
        if (body < 0) {
            return null;
        }
        char[] characters = copyChars(body, count);
        int end = 0;
        while (end < characters.length && characters[end] != 0) {
            end++;
        }
        checkText(end, characters.length);
        return new String(characters, 0, end);
    }

    private void checkText(int zero, int length) {
        if (zero != length - 1) {
            throw bad("a string does not end at its first zero");
        }
    }

    /** Returns the bytes of an object reference; {@code null} if the slot is null. */
    public byte[] reference(int slot) {
        int body = find(slot, Frames.REFERENCE, 1);
        return body < 0 ? null : copyBytes(body, count);
    }

    /** Returns the next object as an array of {@code count} elements. */
    public byte[] bytes(int slot, int kind, int count) {
        return copyBytes(find(slot, kind, count, 1), count);
    }

    /** Copies the next object, of {@code count} elements, to the beginning of an array. */
    public void into(byte[] array, int slot, int kind, int count) {
        MemorySegment.copy(memory, Flat.BYTE, at + find(slot, kind, count, 1), array, 0, count);
    }

    /** Checks that a string that the method has written to the caller's array ends within it. */
    public void checkEnded(boolean isEnded) {
        if (!isEnded) {
            throw bad("the string does not end within its array");
        }
    }

    /** Returns {@code count} elements from an offset on. The caller has checked the range. */
    public byte[] copyBytes(int place, int count) {
        byte[] copy = new byte[count];
        MemorySegment.copy(memory, Flat.BYTE, at + place, copy, 0, count);
        return copy;
    }

    /** Returns the next object as an array of {@code count} elements. */
    public short[] shorts(int slot, int kind, int count) {
        return copyShorts(find(slot, kind, count, 2), count);
    }

    /** Copies the next object, of {@code count} elements, to the beginning of an array. */
    public void into(short[] array, int slot, int kind, int count) {
        MemorySegment.copy(memory, Flat.SHORT, at + find(slot, kind, count, 2), array, 0, count);
    }

    /** Returns {@code count} elements from an offset on. The caller has checked the range. */
    public short[] copyShorts(int place, int count) {
        short[] copy = new short[count];
        MemorySegment.copy(memory, Flat.SHORT, at + place, copy, 0, count);
        return copy;
    }

    /** Returns the next object as an array of {@code count} elements. */
    public char[] chars(int slot, int kind, int count) {
        return copyChars(find(slot, kind, count, 2), count);
    }

    /** Copies the next object, of {@code count} elements, to the beginning of an array. */
    public void into(char[] array, int slot, int kind, int count) {
        MemorySegment.copy(memory, Flat.CHAR, at + find(slot, kind, count, 2), array, 0, count);
    }

    /** Returns {@code count} elements from an offset on. The caller has checked the range. */
    public char[] copyChars(int place, int count) {
        char[] copy = new char[count];
        MemorySegment.copy(memory, Flat.CHAR, at + place, copy, 0, count);
        return copy;
    }

    /** Returns the next object as an array of {@code count} elements. */
    public int[] ints(int slot, int kind, int count) {
        return copyInts(find(slot, kind, count, 4), count);
    }

    /** Copies the next object, of {@code count} elements, to the beginning of an array. */
    public void into(int[] array, int slot, int kind, int count) {
        MemorySegment.copy(memory, Flat.INT, at + find(slot, kind, count, 4), array, 0, count);
    }

    /** Returns {@code count} elements from an offset on. The caller has checked the range. */
    public int[] copyInts(int place, int count) {
        int[] copy = new int[count];
        MemorySegment.copy(memory, Flat.INT, at + place, copy, 0, count);
        return copy;
    }

    /** Returns the next object as an array of {@code count} elements. */
    public long[] longs(int slot, int kind, int count) {
        return copyLongs(find(slot, kind, count, 8), count);
    }

    /** Copies the next object, of {@code count} elements, to the beginning of an array. */
    public void into(long[] array, int slot, int kind, int count) {
        MemorySegment.copy(memory, Flat.LONG, at + find(slot, kind, count, 8), array, 0, count);
    }

    /** Returns {@code count} elements from an offset on. The caller has checked the range. */
    public long[] copyLongs(int place, int count) {
        long[] copy = new long[count];
        MemorySegment.copy(memory, Flat.LONG, at + place, copy, 0, count);
        return copy;
    }

    /** Returns the next object as an array of {@code count} elements. */
    public float[] floats(int slot, int kind, int count) {
        return copyFloats(find(slot, kind, count, 4), count);
    }

    /** Copies the next object, of {@code count} elements, to the beginning of an array. */
    public void into(float[] array, int slot, int kind, int count) {
        MemorySegment.copy(memory, Flat.FLOAT, at + find(slot, kind, count, 4), array, 0, count);
    }

    /** Returns {@code count} elements from an offset on. The caller has checked the range. */
    public float[] copyFloats(int place, int count) {
        float[] copy = new float[count];
        MemorySegment.copy(memory, Flat.FLOAT, at + place, copy, 0, count);
        return copy;
    }

    /** Returns the next object as an array of {@code count} elements. */
    public double[] doubles(int slot, int kind, int count) {
        return copyDoubles(find(slot, kind, count, 8), count);
    }

    /** Copies the next object, of {@code count} elements, to the beginning of an array. */
    public void into(double[] array, int slot, int kind, int count) {
        MemorySegment.copy(memory, Flat.DOUBLE, at + find(slot, kind, count, 8), array, 0, count);
    }

    /** Returns {@code count} elements from an offset on. The caller has checked the range. */
    public double[] copyDoubles(int place, int count) {
        double[] copy = new double[count];
        MemorySegment.copy(memory, Flat.DOUBLE, at + place, copy, 0, count);
        return copy;
    }
}
