package obvia.runtime;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.function.LongSupplier;
import obvia.BadMessageException;
import obvia.Guid;

/**
 * Reads a frame in the peer's memory: every word once, since the peer may change it at any time, and nothing is used that was not checked.
 *
 * <p>Places are offsets from the frame's beginning. Objects are read in the order of their slots, so that the place of each is known before its slot is read.
 */
public final class FrameReader {
    private final MemorySegment memory;
    private final long at;
    private final int length;
    private final String what;

    /** Where the next object begins. */
    private int next;

    /** Elements of the object that was found last. */
    private int count;

    /** The results of a call, with a block of so many bytes. */
    public FrameReader(Channel call, int block) {
        this(call.replyMemory, call.replyAt, call.length, block, "the results");
    }

    /** The arguments of a call, with a block of so many bytes. */
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
            throw bad("a frame of " + length + " bytes where there are at least " + block);
        }
    }

    /** What is to be thrown where the frame is not what it should be. */
    public BadMessageException bad(String why) {
        return new BadMessageException(what + " are not what the interface says: " + why);
    }

    /** Checks that the frame ends with the object that was read last. */
    public void end() {
        if (next != length) {
            throw bad("a frame of " + length + " bytes where " + next + " are meant");
        }
    }

    /** A {@code byte} in the frame. */
    public byte getByte(int place) {
        return memory.get(Flat.BYTE, at + place);
    }

    /** A {@code short} in the frame. */
    public short getShort(int place) {
        return memory.get(Flat.SHORT, at + place);
    }

    /** A {@code char} in the frame. */
    public char getChar(int place) {
        return memory.get(Flat.CHAR, at + place);
    }

    /** A {@code int} in the frame. */
    public int getInt(int place) {
        return memory.get(Flat.INT, at + place);
    }

    /** A {@code long} in the frame. */
    public long getLong(int place) {
        return memory.get(Flat.LONG, at + place);
    }

    /** A {@code float} in the frame. */
    public float getFloat(int place) {
        return memory.get(Flat.FLOAT, at + place);
    }

    /** A {@code double} in the frame. */
    public double getDouble(int place) {
        return memory.get(Flat.DOUBLE, at + place);
    }

    /** A {@code boolean} in the frame. */
    public boolean getBoolean(int place) {
        byte value = getByte(place);
        if ((value & ~1) != 0) {
            throw bad("a boolean of " + value);
        }
        return value == 1;
    }

    /** A GUID in the frame. */
    public Guid getGuid(int place) {
        return Guid.fromWire(getLong(place), getLong(place + 8));
    }

    /** Checks that a value is within its limits. */
    public void checkRange(long value, long least, long most) {
        if (value < least || value > most) {
            throw bad(value + " is not within " + least + " and " + most);
        }
    }

    /** Checks that what may not be {@code null} is not. */
    public <T> T notNull(T found) {
        if (found == null) {
            throw bad("a pointer that may not be null is null");
        }
        return found;
    }

    /** How many elements an expression of the interface says. */
    public int count(long value) {
        if (value < 0 || value > Frames.FRAME_MAX) {
            throw bad("an array of " + value + " elements");
        }
        return (int) value;
    }

    /** The same for an expression that may have no value. */
    public int count(LongSupplier expression) {
        try {
            return count(expression.getAsLong());
        } catch (ArithmeticException e) {
            throw bad("how long an array is has no value: " + e.getMessage());
        }
    }

    /** The same for elements that the results have room for. */
    public int room(int count, int size) {
        if ((long) count * size > Segments.AREA_MAX) {
            throw new InCall.Refused(Fault.NO_MEMORY);
        }
        return count;
    }

    /** How many of an array's elements hold something. */
    public int used(long used, int room) {
        if (used < 0 || used > room) {
            throw bad(used + " elements in an array of " + room);
        }
        return (int) used;
    }

    /** The same for an expression that may have no value. */
    public int used(LongSupplier expression, int room) {
        try {
            return used(expression.getAsLong(), room);
        } catch (ArithmeticException e) {
            throw bad("how much of an array is used has no value: " + e.getMessage());
        }
    }

    /** The elements of an array that may go by reference of which something is said to be used. */
    public MemorySegment used(long used, MemorySegment array, int size) {
        long room = array.byteSize() / size;
        if (used < 0 || used > room) {
            throw bad(used + " elements in an array of " + room);
        }
        return array.asSlice(0, used * size);
    }

    /** The same for an expression that may have no value. */
    public MemorySegment used(LongSupplier expression, MemorySegment array, int size) {
        return used((long) used(expression, (int) Math.min(array.byteSize() / size, Frames.FRAME_MAX)), array, size);
    }

    /** Copies the next object to an array that may go by reference, and has as many elements. */
    public void into(MemorySegment array, int slot, int kind, int size) {
        int body = find(slot, kind, count(array.byteSize() / size), size);
        MemorySegment.copy(memory, at + body, array, 0, array.byteSize());
    }

    /** A copy of the next object, an array that may go by reference. */
    public MemorySegment segment(int slot, int kind, int count, int size) {
        int body = find(slot, kind, count, size);
        MemorySegment copy = Frames.room(count, size);
        MemorySegment.copy(memory, at + body, copy, 0, copy.byteSize());
        return copy;
    }

    /**
     * Finds the next object.
     *
     * @param slot where its slot is
     * @param kind its type
     * @param count how many elements it has
     * @param size bytes of each
     * @return where its elements are
     */
    public int find(int slot, int kind, int count, int size) {
        if (getLong(slot) != next + Frames.HEADER) {
            throw bad("the slot at " + slot + " does not lead to the next object");
        }
        return take(kind, count, header(), size);
    }

    /**
     * Finds the next object, where only it says how many elements it has: see {@link #count()}.
     *
     * @return where its elements are; -1 where the slot is null
     */
    public int find(int slot, int kind, int size) {
        long offset = getLong(slot);
        if (offset == 0) {
            count = 0;
            return -1;
        }
        if (offset != next + Frames.HEADER) {
            throw bad("the slot at " + slot + " does not lead to the next object");
        }
        long header = header();
        return take(kind, count(header >>> 32), header, size);
    }

    /** Finds the next object, which is one value; -1 where the slot is null. */
    public int optional(int slot, int kind, int size) {
        int body = find(slot, kind, size);
        if (body >= 0 && count != 1) {
            throw bad(count + " values where there is one");
        }
        return body;
    }

    /** Finds the next object, which has so many elements; where there are none, the slot may be null. */
    public int allocated(int slot, int kind, int size, int meant) {
        int body = find(slot, kind, size);
        if (count != meant) {
            throw bad("an array of " + count + " elements where " + meant + " are meant");
        }
        return Math.max(body, 0);
    }

    /** How many elements the object has that was found last. */
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
            throw bad("an object of type " + (int) header + " with " + (header >>> 32) + " elements where it is type " + kind + " with " + count);
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

    /** A string of characters of 8 bits, which are UTF-8; {@code null} where the slot is null. */
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
            throw bad("a string that is not UTF-8");
        }
    }

    /** A string of characters of 16 bits, which are UTF-16; {@code null} where the slot is null. */
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
            throw bad("a string does not end with its first zero");
        }
    }

    /** The bytes of a reference to an object; {@code null} where the slot is null. */
    public byte[] reference(int slot) {
        int body = find(slot, Frames.REFERENCE, 1);
        return body < 0 ? null : copyBytes(body, count);
    }

    /** An array whose length is known. */
    public byte[] bytes(int slot, int kind, int count) {
        return copyBytes(find(slot, kind, count, 1), count);
    }

    /** Reads elements into the beginning of an array. */
    public void into(byte[] array, int slot, int kind, int count) {
        MemorySegment.copy(memory, Flat.BYTE, at + find(slot, kind, count, 1), array, 0, count);
    }

    /** Elements in the frame, from a place on: so many must be known to be there. */
    public byte[] copyBytes(int place, int count) {
        byte[] copy = new byte[count];
        MemorySegment.copy(memory, Flat.BYTE, at + place, copy, 0, count);
        return copy;
    }

    /** An array whose length is known. */
    public short[] shorts(int slot, int kind, int count) {
        return copyShorts(find(slot, kind, count, 2), count);
    }

    /** Reads elements into the beginning of an array. */
    public void into(short[] array, int slot, int kind, int count) {
        MemorySegment.copy(memory, Flat.SHORT, at + find(slot, kind, count, 2), array, 0, count);
    }

    /** Elements in the frame, from a place on: so many must be known to be there. */
    public short[] copyShorts(int place, int count) {
        short[] copy = new short[count];
        MemorySegment.copy(memory, Flat.SHORT, at + place, copy, 0, count);
        return copy;
    }

    /** An array whose length is known. */
    public char[] chars(int slot, int kind, int count) {
        return copyChars(find(slot, kind, count, 2), count);
    }

    /** Reads elements into the beginning of an array. */
    public void into(char[] array, int slot, int kind, int count) {
        MemorySegment.copy(memory, Flat.CHAR, at + find(slot, kind, count, 2), array, 0, count);
    }

    /** Elements in the frame, from a place on: so many must be known to be there. */
    public char[] copyChars(int place, int count) {
        char[] copy = new char[count];
        MemorySegment.copy(memory, Flat.CHAR, at + place, copy, 0, count);
        return copy;
    }

    /** An array whose length is known. */
    public int[] ints(int slot, int kind, int count) {
        return copyInts(find(slot, kind, count, 4), count);
    }

    /** Reads elements into the beginning of an array. */
    public void into(int[] array, int slot, int kind, int count) {
        MemorySegment.copy(memory, Flat.INT, at + find(slot, kind, count, 4), array, 0, count);
    }

    /** Elements in the frame, from a place on: so many must be known to be there. */
    public int[] copyInts(int place, int count) {
        int[] copy = new int[count];
        MemorySegment.copy(memory, Flat.INT, at + place, copy, 0, count);
        return copy;
    }

    /** An array whose length is known. */
    public long[] longs(int slot, int kind, int count) {
        return copyLongs(find(slot, kind, count, 8), count);
    }

    /** Reads elements into the beginning of an array. */
    public void into(long[] array, int slot, int kind, int count) {
        MemorySegment.copy(memory, Flat.LONG, at + find(slot, kind, count, 8), array, 0, count);
    }

    /** Elements in the frame, from a place on: so many must be known to be there. */
    public long[] copyLongs(int place, int count) {
        long[] copy = new long[count];
        MemorySegment.copy(memory, Flat.LONG, at + place, copy, 0, count);
        return copy;
    }

    /** An array whose length is known. */
    public float[] floats(int slot, int kind, int count) {
        return copyFloats(find(slot, kind, count, 4), count);
    }

    /** Reads elements into the beginning of an array. */
    public void into(float[] array, int slot, int kind, int count) {
        MemorySegment.copy(memory, Flat.FLOAT, at + find(slot, kind, count, 4), array, 0, count);
    }

    /** Elements in the frame, from a place on: so many must be known to be there. */
    public float[] copyFloats(int place, int count) {
        float[] copy = new float[count];
        MemorySegment.copy(memory, Flat.FLOAT, at + place, copy, 0, count);
        return copy;
    }

    /** An array whose length is known. */
    public double[] doubles(int slot, int kind, int count) {
        return copyDoubles(find(slot, kind, count, 8), count);
    }

    /** Reads elements into the beginning of an array. */
    public void into(double[] array, int slot, int kind, int count) {
        MemorySegment.copy(memory, Flat.DOUBLE, at + find(slot, kind, count, 8), array, 0, count);
    }

    /** Elements in the frame, from a place on: so many must be known to be there. */
    public double[] copyDoubles(int place, int count) {
        double[] copy = new double[count];
        MemorySegment.copy(memory, Flat.DOUBLE, at + place, copy, 0, count);
        return copy;
    }
}
