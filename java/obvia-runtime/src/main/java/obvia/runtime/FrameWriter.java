package obvia.runtime;

import java.lang.foreign.MemorySegment;
import obvia.Guid;

/**
 * Writes the objects that follow the block of a frame, in the order of their slots. {@link Frames}
 * has computed the frame's length.
 */
public final class FrameWriter {
    private final MemorySegment memory;
    private final long at;

    /** The offset of the next object. */
    private int next;

    /** Creates a writer of a call's arguments after a block of {@code block} bytes. */
    public FrameWriter(Channel call, int block) {
        this(call.memory, call.at, block);
    }

    /** Creates a writer of a call's results after a block of {@code block} bytes. */
    public FrameWriter(InCall call, int block) {
        this(call.replyMemory, call.replyAt, block);
    }

    FrameWriter(MemorySegment memory, long at, int block) {
        this.memory = memory;
        this.at = at;
        next = block;
    }

    /** Writes a null slot. */
    public void none(int slot) {
        memory.set(Flat.LONG, at + slot, 0);
    }

    /**
     * Writes the slot, the header and the padding of an object.
     *
     * @return the offset in the memory at which the caller writes the elements
     */
    public long object(int slot, int kind, int count, int size) {
        int bytes = count * size;
        int body = next + Frames.HEADER;
        memory.set(Flat.LONG, at + slot, body);
        memory.set(Flat.INT, at + next, kind);
        memory.set(Flat.INT, at + next + 4, count);
        next = (int) (body + Frames.aligned(bytes));
        for (int place = body + bytes; place < next; place++) {
            memory.set(Flat.BYTE, at + place, (byte) 0);
        }
        return at + body;
    }

    /** Writes a string of 8-bit characters from {@link Frames#utf8}; may be {@code null}. */
    public void text(int slot, byte[] characters) {
        optional(slot, Frames.TEXT8, characters);
    }

    /** Writes a string of 16-bit characters from {@link Frames#utf16}; may be {@code null}. */
    public void wide(int slot, char[] characters) {
        if (characters == null) {
            none(slot);
        } else {
            put(characters, slot, Frames.TEXT16, characters.length);
        }
    }

    /** Writes an object reference; may be {@code null}. */
    public void reference(int slot, byte[] reference) {
        optional(slot, Frames.REFERENCE, reference);
    }

    private void optional(int slot, int kind, byte[] bytes) {
        if (bytes == null) {
            none(slot);
        } else {
            put(bytes, slot, kind, bytes.length);
        }
    }

    /** Writes a GUID to memory. */
    public static void put(Guid guid, MemorySegment memory, long at) {
        memory.set(Flat.LONG, at, guid.wireHigh());
        memory.set(Flat.LONG, at + 8, guid.wireLow());
    }

    /** Writes an array that may be passed by reference as an object. */
    public void put(MemorySegment array, int slot, int kind, int size) {
        long bytes = array.byteSize();
        MemorySegment.copy(array, 0, memory, object(slot, kind, (int) (bytes / size), size), bytes);
    }

    /** Writes the first elements of an array as an object. */
    public void put(byte[] array, int slot, int kind, int count) {
        MemorySegment.copy(array, 0, memory, Flat.BYTE, object(slot, kind, count, 1), count);
    }

    /** Writes the first elements of an array as an object. */
    public void put(short[] array, int slot, int kind, int count) {
        MemorySegment.copy(array, 0, memory, Flat.SHORT, object(slot, kind, count, 2), count);
    }

    /** Writes the first elements of an array as an object. */
    public void put(char[] array, int slot, int kind, int count) {
        MemorySegment.copy(array, 0, memory, Flat.CHAR, object(slot, kind, count, 2), count);
    }

    /** Writes the first elements of an array as an object. */
    public void put(int[] array, int slot, int kind, int count) {
        MemorySegment.copy(array, 0, memory, Flat.INT, object(slot, kind, count, 4), count);
    }

    /** Writes the first elements of an array as an object. */
    public void put(long[] array, int slot, int kind, int count) {
        MemorySegment.copy(array, 0, memory, Flat.LONG, object(slot, kind, count, 8), count);
    }

    /** Writes the first elements of an array as an object. */
    public void put(float[] array, int slot, int kind, int count) {
        MemorySegment.copy(array, 0, memory, Flat.FLOAT, object(slot, kind, count, 4), count);
    }

    /** Writes the first elements of an array as an object. */
    public void put(double[] array, int slot, int kind, int count) {
        MemorySegment.copy(array, 0, memory, Flat.DOUBLE, object(slot, kind, count, 8), count);
    }
}
