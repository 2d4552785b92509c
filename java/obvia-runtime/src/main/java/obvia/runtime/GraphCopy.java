package obvia.runtime;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import obvia.BadMessageException;

/**
 * A frame as it is received: a copy that nobody else can write, made as its objects are found; but for long arrays of numbers, which cannot be wrong and stay where they are.
 *
 * <p>Writers put objects in the order of their slots, so a slot leads to the object that is next, and no other one leads to what lies before: there is nothing to be noted. Where a
 * slot leads further, the objects that are left are found by their headers first, and where each begins is noted.
 */
abstract class GraphCopy extends Pool.Member {
    /** Bytes of a first piece of the frame: each is twice as long as the one before. */
    private static final int PIECE_FIRST = 512;
    private static final int PIECE_MAX = 64 << 10;

    GraphKinds kinds;

    /** Where the frame is, and who reads the copy. */
    Frame frame;

    private String what;

    /** The copy. */
    byte[] bytes = new byte[4096];

    /** Bytes of the frame itself. */
    private int frameLength;

    /** Where the header of the first object is in the copy that no slot has come to yet, and up to where there is a copy. */
    private int next;
    private int limit;

    /** By how much the frame is ahead of the copy from there on. */
    private int beyond;

    private int piece;

    /** Long arrays, which are not copied: where they begin and end in the frame, and the place of that in the copy. */
    private int[] farBegins = new int[4];
    private int[] farEnds = new int[4];
    private int[] farPlaces = new int[4];
    private int farCount;

    /** Where objects begin that slots may lead to out of turn, by eights of bytes; then where those begin that full pointers have led to. */
    private long[] starts = new long[8];
    private long[] shared = new long[8];
    private int cleared;

    /** Begins with a frame: its block is there then. */
    final void receive(GraphKinds kinds, int block, int length, String what) {
        // What is stored again costs the collector's barrier.
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
            throw bad(0, "a frame of " + length + " bytes where there are at least " + block);
        }
        reach(block + Frames.HEADER);
    }

    /** What is to be thrown where the frame is not what it should be. */
    public final BadMessageException bad(int at, String why) {
        return new BadMessageException(what + " are not what the interface says: at offset " + inFrame(at) + " of the frame: " + why);
    }

    /** Copies the frame, where it does not end before, up to a place in the copy. */
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

    // Objects in their turn.

    /** Whether an offset in the frame is that of the body of the object that is next. */
    final boolean isNext(long offset) {
        return offset == (long) next + beyond + Frames.HEADER && offset <= frameLength;
    }

    /** Goes on to the object after the next one, which a slot leads to. */
    final int take(int slot, int number, GraphType type) {
        long header = (long) GraphWriter.LONGS.get(bytes, next);
        if ((int) header != number) {
            throw bad(slot, "the slot leads to no object of its type");
        }
        int body = next + Frames.HEADER;
        if (beyond != 0) {
            GraphWriter.LONGS.set(bytes, slot, (long) body);
        }
        long count = header >>> 32;
        pass(type == null ? textLength(number, count) : type.length(count), type);
        return body;
    }

    private static long textLength(int number, long count) {
        return number == Frames.TEXT16 ? 2 * count : count;
    }

    /** Goes beyond the next object, which has so many bytes. */
    private void pass(long length, GraphType type) {
        int body = next + Frames.HEADER;
        long end = body + Frames.aligned(length);
        if (length > GraphWriter.NEAR_MAX || end + Frames.HEADER > limit) {
            passLong(body, end, length > GraphWriter.NEAR_MAX && type != null && type.isNumber && !Frame.IS_COLLECTED);
        } else {
            next = (int) end;
        }
    }

    private void passLong(int body, long end, boolean isFar) {
        if (end > frameLength - beyond) {
            throw bad(next, "an object of " + Integer.toUnsignedString((int) GraphWriter.INTS.get(bytes, next + 4)) + " elements does not fit the frame");
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
        GraphWriter.LONGS.set(bytes, body, (long) (body + beyond));
        next = body + 8;
        limit = next;
        beyond += end - next;
        piece = PIECE_FIRST;
    }

    // Objects out of turn.

    /** Finds the objects that are left by their headers, and notes where they begin. */
    final void passAll() {
        while (next + beyond != frameLength) {
            if (frameLength - beyond - next < Frames.HEADER) {
                throw bad(next, "the frame ends within an object's header");
            }
            int number = (int) GraphWriter.INTS.get(bytes, next);
            long count = Integer.toUnsignedLong((int) GraphWriter.INTS.get(bytes, next + 4));
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

    /** Notes that full pointers lead to an object, which others of them may do, too. */
    final void share(int place) {
        mark(place);
        shared[place >>> 9] |= 1L << (place >>> 3);
    }

    /**
     * Where the object is that an offset is of which is not next.
     *
     * @return its place; less than 0 where full pointers have led there before
     */
    final int elsewhere(int slot, long offset, boolean isFull) {
        if (offset > next + beyond) {
            passAll();
        }
        int place = inCopy(offset);
        int word = place >>> 9;
        long bit = 1L << (place >>> 3);
        if (place < 0 || word >= cleared || (starts[word] & bit) == 0) {
            throw bad(slot, "the slot leads to no object, or to one that another pointer leads to");
        }
        if (farCount > 0) {
            GraphWriter.LONGS.set(bytes, slot, (long) place);
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

    /** The place in the copy of an offset in the frame; -1 where there is none. */
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

    /** The offset in the frame of a place in the copy. */
    private int inFrame(int place) {
        int before = Arrays.binarySearch(farPlaces, 0, farCount, place);
        before = before < 0 ? ~before : before;
        return before == 0 ? place : place + farEnds[before - 1] - farPlaces[before - 1] - 8;
    }

    // What is received.

    /** All objects are found and checked: the copy can be read. */
    final void open() {
        frame.open(bytes, next);
    }

    /** How long the frame is. */
    final int length() {
        return frameLength;
    }

    /**
     * A frame of the same content, with nothing of the peer's.
     *
     * <p>Any thread may ask for it, while another ends the call and receives the next: what was copied then was copied in vain.
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
            GraphWriter.LONGS.set(near, places[i], (long) filled);
            filled += ends[i] - begins[i];
        }
        frame.checked();
        Frame kept = new Frame(null, count == 0 ? null : MemorySegment.ofArray(all), 0, null);
        kept.open(near, length);
        return kept;
    }
}
