package obvia.runtime;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import obvia.Guid;
import obvia.runtime.call.FrameLimit;
import obvia.runtime.call.Pool;

/** A frame while it is written: private memory that grows as necessary, and the values in it. */
abstract class GraphWords extends Pool.Member {
    /** The initial number of words. */
    private static final int WORDS = 512;

    private static final int WORDS_MAX = (int) (FrameLimit.BYTES / 8);
    static final int HEADER = Frames.HEADER / 8;
    static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(LITTLE_ENDIAN);

    /**
     * The frame, in words rather than bytes, because the virtual machine's bounds checks cost less
     * on words. Words from {@link #next} on are zero.
     */
    long[] words = new long[WORDS];
    int next;

    /**
     * The number of words by which offsets in the frame exceed those in {@link #words}, because
     * {@link #words} does not contain the long arrays.
     */
    int beyond;

    /** Frees the words, and most of the memory if it has become large. */
    final void clear() {
        if (words.length > Pool.KEPT_MAX / 8) {
            words = new long[WORDS];
        } else {
            Arrays.fill(words, 0, next, 0L);
        }
        next = 0;
        beyond = 0;
    }

    /** Returns the length of the frame. */
    final int length() {
        return 8 * (next + beyond);
    }

    /**
     * Returns the bytes, for values that write themselves: see {@link Flat}. The segment is valid
     * until the next object is added.
     */
    public final MemorySegment memory() {
        return MemorySegment.ofArray(words);
    }

    /** Returns the number of words for {@code bytes} bytes. */
    static int words(long bytes) {
        return (int) (bytes + 7 >> 3);
    }

    /** Appends {@code length} zero words and returns the index of the first. */
    final int claim(int length) {
        int begin = next;
        int end = begin + length;
        if (end > words.length) {
            grow(end);
        }
        next = end;
        return begin;
    }

    private void grow(int end) {
        if (end + beyond > WORDS_MAX) {
            throw FrameLimit.exceeded(8L * (end + beyond));
        }
        words = Arrays.copyOf(words, (int) Math.max(end, Math.min(2L * words.length, WORDS_MAX)));
    }

    /**
     * Appends an object, makes the slot lead to the object, and returns the offset of the object's
     * body.
     */
    final int object(int slot, int number, int count, long length) {
        if (length > FrameLimit.BYTES) {
            throw FrameLimit.exceeded(length);
        }
        int body = claim(HEADER + words(length)) + HEADER;
        words[body - HEADER] = header(number, count);
        putLong(slot, 8L * (body + beyond));
        return 8 * body;
    }

    static long header(int number, int count) {
        return number | (long) count << 32;
    }

    // Values, at offsets that exist already and are zero.

    private void put(int at, long bits) {
        words[at >> 3] |= bits << 8 * at;
    }

    /** Writes a {@code byte}. */
    public final void putByte(int at, byte value) {
        put(at, Frames.bits(value, 0));
    }

    /** Writes a {@code boolean}. */
    public final void putBoolean(int at, boolean value) {
        put(at, Frames.bits(value, 0));
    }

    /** Writes a {@code short}. */
    public final void putShort(int at, short value) {
        put(at, Frames.bits(value, 0));
    }

    /** Writes a {@code char}. */
    public final void putChar(int at, char value) {
        put(at, Frames.bits(value, 0));
    }

    /** Writes an {@code int}. */
    public final void putInt(int at, int value) {
        put(at, Frames.bits(value, 0));
    }

    /** Writes a {@code long}. */
    public final void putLong(int at, long value) {
        words[at >> 3] = value;
    }

    /** Writes a {@code float}. */
    public final void putFloat(int at, float value) {
        put(at, Frames.bits(value, 0));
    }

    /** Writes a {@code double}. */
    public final void putDouble(int at, double value) {
        putLong(at, Frames.bits(value, 0));
    }

    /** Writes a GUID. */
    public final void putGuid(int at, Guid value) {
        FrameWriter.put(value, memory(), at);
    }

    /**
     * Writes an array of fixed size from the segment of an array, such as
     * {@link obvia.Ints#segment}.
     */
    public final void putArray(int at, MemorySegment elements) {
        MemorySegment.copy(elements, 0, memory(), at, elements.byteSize());
    }

    /** Writes a word: see {@link Frames#bits(int, int)}. */
    public final void word(int at, long bits) {
        words[at] = bits;
    }

    /** Returns the index of the word at which the next object begins. */
    public final int end() {
        return next;
    }
}
