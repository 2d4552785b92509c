package obvia.runtime;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import obvia.BadMessageException;
import obvia.Bytes;
import obvia.Chars;
import obvia.Doubles;
import obvia.Floats;
import obvia.Guid;
import obvia.Ints;
import obvia.Longs;
import obvia.Shorts;
import obvia.runtime.call.Pool;

/**
 * A frame while it is received: a private copy, which grows with each object that is found. Long
 * arrays of numbers stay in the peer's memory, because any content of them is valid.
 *
 * <p>Writers put objects in the order of their slots. Normally each slot leads to the next object,
 * and no later slot leads back, so that no positions have to be recorded. If a slot leads beyond
 * the next object, this class first finds all remaining objects by their headers, and records their
 * positions.
 */
abstract class GraphCopy extends Pool.Member {
    /**
     * The size of the first piece of the frame that is copied, in bytes. Each piece is twice as
     * long as the previous piece, up to {@link #PIECE_MAX}.
     */
    private static final int PIECE_FIRST = 512;
    private static final int PIECE_MAX = 64 << 10;

    GraphKinds kinds;

    /**
     * The frame. Before the verification, it has only its location in the peer's memory. After the
     * verification, views read from it.
     */
    Frame frame;

    private String what;

    /** The copy of the frame. */
    byte[] bytes = new byte[4096];

    /** The length of the frame in bytes. */
    private int frameLength;

    /** The offset in the copy of the next object's header, and the end of the copy. */
    private int next;
    private int limit;

    /**
     * The number of bytes by which offsets in the frame exceed those in the copy, from
     * {@link #next} on.
     */
    private int beyond;

    private int piece;

    /**
     * The long arrays that are not copied: their beginnings and ends in the frame, and the offsets
     * in the copy at which their positions are stored.
     */
    private int[] farBegins = new int[4];
    private int[] farEnds = new int[4];
    private int[] farPlaces = new int[4];
    private int farCount;

    /**
     * Bitmaps with a bit for each eight bytes of the copy. The first marks the beginnings of
     * objects to which slots may lead out of order. The second marks the beginnings of objects to
     * which full pointers have led.
     */
    private long[] starts = new long[8];
    private long[] shared = new long[8];
    private int cleared;

    /** Begins to receive a frame, and copies the frame's block. */
    final void receive(GraphKinds kinds, int block, int length, String what) {
        // Unchanged references are not stored again, because each store of a reference costs a
        // write barrier of the collector.
        if (this.kinds != kinds) {
            this.kinds = kinds;
        }
        if (this.what != what) {
            this.what = what;
        }
        frameLength = length;
        farCount = 0;
        cleared = 0;
        beyond = 0;
        limit = 0;
        piece = PIECE_FIRST;
        next = block;
        if (length < block) {
            throw bad(0, "the frame has " + length + " bytes, expected at least " + block);
        }
        reach(block + Frames.HEADER);
    }

    /** Returns the exception for a malformed frame. */
    public final BadMessageException bad(int at, String why) {
        return new BadMessageException(what + " do not match the interface: at offset " + inFrame(at) + " of the frame: " + why);
    }

    /** Copies the frame up to an offset in the copy, or up to the end of the frame. */
    private void reach(int place) {
        int left = frameLength - beyond - limit;
        if (place <= limit || left == 0) {
            return;
        }
        int count = Math.min(Math.max(place - limit, piece), left);
        piece = Math.min(2 * piece, PIECE_MAX);
        if (limit + count + 8 > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(limit + count + 8, (int) Math.min(2L * bytes.length, frameLength + 8L)));
        }
        MemorySegment.copy(frame.far, Flat.BYTE, frame.farAt + beyond + limit, bytes, limit, count);
        limit += count;
    }

    // Objects in their order.

    /** Whether an offset in the frame is the offset of the next object's body. */
    final boolean isNext(long offset) {
        return offset == (long) next + beyond + Frames.HEADER && offset <= frameLength;
    }

    /** Consumes the next object, to which a slot leads, and returns the offset of its body. */
    final int take(int slot, int number, GraphType type) {
        long header = (long) FrameBytes.LONGS.get(bytes, next);
        if ((int) header != number) {
            throw bad(slot, "the pointer does not lead to an object of its type");
        }
        int body = next + Frames.HEADER;
        if (beyond != 0) {
            FrameBytes.LONGS.set(bytes, slot, (long) body);
        }
        long count = header >>> 32;
        pass(type == null ? textLength(number, count) : type.length(count), type);
        return body;
    }

    private static long textLength(int number, long count) {
        return number == Frames.TEXT16 ? 2 * count : count;
    }

    /** Advances beyond the next object, whose elements take {@code length} bytes. */
    private void pass(long length, GraphType type) {
        int body = next + Frames.HEADER;
        long end = body + Frames.aligned(length);
        if (length > Frames.NEAR_MAX || end + Frames.HEADER > limit) {
            passLong(body, end, length > Frames.NEAR_MAX && type != null && type.isNumber && !Frame.IS_COLLECTED);
        } else {
            next = (int) end;
        }
    }

    private void passLong(int body, long end, boolean isFar) {
        if (end > frameLength - beyond) {
            throw bad(next, "the object of " + Integer.toUnsignedString((int) FrameBytes.INTS.get(bytes, next + 4)) + " elements does not fit the frame");
        }
        if (isFar) {
            skip(body, (int) end);
        } else {
            next = (int) end;
        }
        reach(next + Frames.HEADER);
    }

    private void skip(int body, int end) {
        if (farCount == farPlaces.length) {
            farBegins = Arrays.copyOf(farBegins, 2 * farCount);
            farEnds = Arrays.copyOf(farEnds, 2 * farCount);
            farPlaces = Arrays.copyOf(farPlaces, 2 * farCount);
        }
        farBegins[farCount] = body + beyond;
        farEnds[farCount] = end + beyond;
        farPlaces[farCount++] = body;
        if (body + 8 > bytes.length) {
            bytes = Arrays.copyOf(bytes, 2 * bytes.length);
        }
        FrameBytes.LONGS.set(bytes, body, (long) (body + beyond));
        next = body + 8;
        limit = next;
        beyond += end - next;
        piece = PIECE_FIRST;
    }

    // Objects out of order.

    /** Finds the remaining objects by their headers and records their positions. */
    final void passAll() {
        while (next + beyond != frameLength) {
            if (frameLength - beyond - next < Frames.HEADER) {
                throw bad(next, "the frame ends within an object's header");
            }
            int number = (int) FrameBytes.INTS.get(bytes, next);
            long count = Integer.toUnsignedLong((int) FrameBytes.INTS.get(bytes, next + 4));
            GraphType type = kinds.type(number);
            if (type == null && (number < Frames.REFERENCE || number > Frames.TEXT16)) {
                throw bad(next, "the interface has no type " + number);
            }
            mark(next + Frames.HEADER);
            pass(type == null ? textLength(number, count) : type.length(count), type);
        }
    }

    private void mark(int place) {
        int word = place >>> 9;
        if (word >= cleared) {
            if (word >= starts.length) {
                starts = Arrays.copyOf(starts, Math.max(word + 1, 2 * starts.length));
                shared = Arrays.copyOf(shared, starts.length);
            }
            Arrays.fill(starts, cleared, word + 1, 0);
            Arrays.fill(shared, cleared, word + 1, 0);
            cleared = word + 1;
        }
        starts[word] |= 1L << (place >>> 3);
    }

    /**
     * Records that a full pointer leads to an object, so that other full pointers may lead to the
     * same object.
     */
    final void share(int place) {
        mark(place);
        shared[place >>> 9] |= 1L << (place >>> 3);
    }

    /**
     * Returns the offset of an object that is not the next object.
     *
     * @param isFull whether the slot is a full pointer
     * @return the offset in the copy; negative if full pointers have already led to the object
     */
    final int elsewhere(int slot, long offset, boolean isFull) {
        if (offset > next + beyond) {
            passAll();
        }
        int place = inCopy(offset);
        int word = place >>> 9;
        long bit = 1L << (place >>> 3);
        if (place < 0 || word >= cleared || (starts[word] & bit) == 0) {
            throw bad(slot, "the pointer leads to no object, or to one to which another pointer leads");
        }
        if (farCount > 0) {
            FrameBytes.LONGS.set(bytes, slot, (long) place);
        }
        if ((shared[word] & bit) != 0) {
            if (!isFull) {
                throw bad(slot, "another pointer leads to the same object");
            }
            return -place;
        }
        if (isFull) {
            shared[word] |= bit;
        } else {
            starts[word] &= ~bit;
        }
        return place;
    }

    /**
     * Converts an offset in the frame to an offset in the copy; -1 if the copy has no such place.
     */
    private int inCopy(long offset) {
        if (offset < 0 || offset > frameLength || (offset & 7) != 0) {
            return -1;
        }
        if (farCount == 0) {
            return (int) offset;
        }
        int before = Arrays.binarySearch(farEnds, 0, farCount, (int) offset);
        before = before < 0 ? ~before : before + 1;
        if (before < farCount && offset > farBegins[before]) {
            return -1;
        }
        return (int) offset - (before == 0 ? 0 : farEnds[before - 1] - farPlaces[before - 1] - 8);
    }

    /** Converts an offset in the copy to an offset in the frame. */
    private int inFrame(int place) {
        int before = Arrays.binarySearch(farPlaces, 0, farCount, place);
        before = before < 0 ? ~before : before;
        return before == 0 ? place : place + farEnds[before - 1] - farPlaces[before - 1] - 8;
    }

    // The received frame.

    /** Makes the copy readable, after all objects have been found and verified. */
    final void open() {
        frame.open(bytes, next);
    }

    /** Returns the length of the frame. */
    final int length() {
        return frameLength;
    }

    /**
     * Returns a frame with the same content that uses no memory of the peer.
     *
     * <p>Any thread may call this method while another thread ends the call and receives the next
     * frame. If the call ends during this method, the method discards the new frame and throws an
     * exception.
     */
    final Frame keep(Frame frame, int length) {
        int count = farCount;
        int[] begins = Arrays.copyOf(farBegins, count);
        int[] ends = Arrays.copyOf(farEnds, count);
        int[] places = Arrays.copyOf(farPlaces, count);
        byte[] near = Arrays.copyOf(frame.checked(), length);
        int total = 0;
        for (int i = 0; i < count; i++) {
            total += ends[i] - begins[i];
        }
        byte[] all = new byte[total];
        int filled = 0;
        for (int i = 0; i < count; i++) {
            MemorySegment.copy(frame.far, Flat.BYTE, frame.farAt + begins[i], all, filled, ends[i] - begins[i]);
            FrameBytes.LONGS.set(near, places[i], (long) filled);
            filled += ends[i] - begins[i];
        }
        frame.checked();
        Frame kept = new Frame(null, count == 0 ? null : MemorySegment.ofArray(all), 0, null);
        kept.open(near, length);
        return kept;
    }

    // Values.

    /** Returns a string of 8-bit characters; {@code null} for null. */
    public final String text8(int slot) {
        return FrameBytes.text8(bytes, (int) getLong(slot));
    }

    /** Returns a string of 16-bit characters; {@code null} for null. */
    public final String text16(int slot) {
        return FrameBytes.text16(bytes, (int) getLong(slot));
    }

    /** Returns the bytes of an object reference; {@code null} for null. */
    public final byte[] reference(int slot) {
        int place = (int) getLong(slot);
        return place == 0 ? null : Arrays.copyOfRange(bytes, place, place + getInt(place - 4));
    }

    /** Returns a {@code boolean} of the frame. */
    public final boolean getBoolean(int at) {
        return bytes[at] != 0;
    }

    /** Returns a {@code byte} of the frame. */
    public final byte getByte(int at) {
        return bytes[at];
    }

    /** Returns a {@code short} of the frame. */
    public final short getShort(int at) {
        return (short) FrameBytes.SHORTS.get(bytes, at);
    }

    /** Returns a {@code char} of the frame. */
    public final char getChar(int at) {
        return (char) FrameBytes.CHARS.get(bytes, at);
    }

    /** Returns an {@code int} of the frame. */
    public final int getInt(int at) {
        return (int) FrameBytes.INTS.get(bytes, at);
    }

    /** Returns a {@code long} of the frame. */
    public final long getLong(int at) {
        return (long) FrameBytes.LONGS.get(bytes, at);
    }

    /** Returns a GUID of the frame. */
    public final Guid getGuid(int at) {
        return Guid.fromWire(getLong(at), getLong(at + 8));
    }

    /** Returns a {@code float} of the frame. */
    public final float getFloat(int at) {
        return (float) FrameBytes.FLOATS.get(bytes, at);
    }

    /** Returns a {@code double} of the frame. */
    public final double getDouble(int at) {
        return (double) FrameBytes.DOUBLES.get(bytes, at);
    }

    /** Returns a copy of the array to which a slot leads; {@code null} for null. */
    public final Bytes bytes(int slot) {
        Bytes found = frame.bytes(slot);
        return found == null ? null : found.copy();
    }

    /** Returns a copy of the array to which a slot leads; {@code null} for null. */
    public final Shorts shorts(int slot) {
        Shorts found = frame.shorts(slot);
        return found == null ? null : found.copy();
    }

    /** Returns a copy of the array to which a slot leads; {@code null} for null. */
    public final Chars chars(int slot) {
        Chars found = frame.chars(slot);
        return found == null ? null : found.copy();
    }

    /** Returns a copy of the array to which a slot leads; {@code null} for null. */
    public final Ints ints(int slot) {
        Ints found = frame.ints(slot);
        return found == null ? null : found.copy();
    }

    /** Returns a copy of the array to which a slot leads; {@code null} for null. */
    public final Longs longs(int slot) {
        Longs found = frame.longs(slot);
        return found == null ? null : found.copy();
    }

    /** Returns a copy of the array to which a slot leads; {@code null} for null. */
    public final Floats floats(int slot) {
        Floats found = frame.floats(slot);
        return found == null ? null : found.copy();
    }

    /** Returns a copy of the array to which a slot leads; {@code null} for null. */
    public final Doubles doubles(int slot) {
        Doubles found = frame.doubles(slot);
        return found == null ? null : found.copy();
    }
}
