package obvia.runtime;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.function.LongSupplier;
import obvia.BadMessageException;
import obvia.Bytes;
import obvia.Chars;
import obvia.Doubles;
import obvia.Floats;
import obvia.Guid;
import obvia.Ints;
import obvia.Longs;
import obvia.Occupancy;
import obvia.Shorts;

/**
 * Receives a frame with structures that point to others, and checks it once, before anything in it is used.
 *
 * <p>The frame is copied to memory that nobody else can write, but for long arrays of numbers, which cannot be wrong. Its objects are found by their headers. Then slots are
 * followed from the block on: without recursion, each object once, so that the time is linear in the frame. docs/flat.md has the rules.
 */
public final class GraphReader {
    /** A pointer that is never null. */
    public static final int REF = 0;
    /** A pointer that may be null. */
    public static final int UNIQUE = 1;
    /** A pointer that may be null; others may lead to the same object. */
    public static final int FULL = 2;

    /** Bytes of a first piece of the frame: each is twice as long as the one before. */
    private static final int PIECE_FIRST = 512;
    private static final int PIECE_MAX = 64 << 10;

    /** Bits of what is in the queue beside the type's number. */
    private static final int MANY = 1 << 31;
    private static final int SHARED = 1 << 30;
    private static final int NUMBER = SHARED - 1;

    private static final Pool<GraphReader> POOL = new Pool<>();

    private GraphKinds kinds;
    private String what;
    private Frame frame;
    private boolean isHandedOver;

    /** The copy, and how much of it there is. */
    private byte[] bytes = new byte[4096];
    private int length;
    /** Bytes of the frame itself. */
    private int frameLength;

    /** Long arrays, which are not copied: where they begin and end in the frame, and the place of that in the copy. */
    private int[] farBegins = new int[4];
    private int[] farEnds = new int[4];
    private int[] farPlaces = new int[4];
    private int farCount;

    /** Where objects begin that no slot has led to, by eights of bytes; then where those begin that only full pointers have. */
    private long[] starts = new long[64];
    private long[] shared = new long[64];
    private int cleared;

    /** Objects to look into: places, and the numbers of types. */
    private int[] queue = new int[128];
    private int queued;
    private int done;

    /** What was built of them. */
    private Object[] built = new Object[0];

    /** References: places, and the interfaces or their IIDs. */
    private int[] referencePlaces = new int[8];
    private Object[] referenceTypes = new Object[8];
    private int referenceCount;

    private GraphReader() {}

    /** The arguments of a call, with a block of so many bytes. */
    public static GraphReader of(InCall call, int block, GraphKinds kinds) {
        return of(call.memory, call.at, call.length, block, kinds, "the arguments");
    }

    /** The results of a call, with a block of so many bytes. */
    public static GraphReader of(Channel call, int block, GraphKinds kinds) {
        try {
            return of(call.replyMemory, call.replyAt, call.length, block, kinds, "the results");
        } catch (RuntimeException | Error e) {
            call.end();
            throw e;
        }
    }

    static GraphReader of(MemorySegment memory, long at, int length, int block, GraphKinds kinds, String what) {
        GraphReader reader = POOL.take();
        if (reader == null) {
            reader = new GraphReader();
        }
        reader.kinds = kinds;
        reader.what = what;
        reader.receive(memory, at, length, block);
        MemorySegment far = reader.farCount == 0 ? null : memory;
        reader.frame = new Frame(reader, reader.bytes, reader.length, far, at, Frame.IS_STRICT ? Thread.currentThread() : null);
        return reader;
    }

    /** The frame is done with: its views end. */
    public void close() {
        if (!Frame.IS_COLLECTED) {
            frame.end();
        }
        frame = null;
        boolean isGone = isHandedOver || Frame.IS_COLLECTED || Frame.IS_STRICT;
        isHandedOver = false;
        if (isGone) {
            bytes = new byte[4096];
        }
        if (bytes.length <= GraphWriter.KEPT_MAX && queue.length <= GraphWriter.KEPT_MAX / 16) {
            if (built.length > 0) {
                Arrays.fill(built, 0, Math.min(built.length, queued), null);
            }
            POOL.give(this);
        }
    }

    /** The copy goes to whoever keeps it. */
    void handOver() {
        isHandedOver = true;
    }

    /** What views read. */
    public Frame frame() {
        return frame;
    }

    /** What is to be thrown where the frame is not what it should be. */
    public BadMessageException bad(int at, String why) {
        return new BadMessageException(what + " are not what the interface says: at offset " + inFrame(at) + " of the frame: " + why);
    }

    // Receiving.

    private void receive(MemorySegment memory, long at, int total, int block) {
        frameLength = total;
        farCount = 0;
        cleared = 0;
        queued = 0;
        done = 0;
        referenceCount = 0;
        length = 0;
        if (total < block) {
            throw bad(0, "a frame of " + total + " bytes where there are at least " + block);
        }
        int place = block;
        int beyond = 0;
        int copied = 0;
        int piece = PIECE_FIRST;
        // Of the frame, what is not yet copied begins at `copied`; in the copy everything lies `beyond` earlier.
        while (true) {
            int wanted = Math.min(total, place + beyond + Frames.HEADER);
            if (copied < wanted) {
                copied = copy(memory, at, copied, beyond, Math.max(wanted - copied, piece));
                piece = Math.min(2 * piece, PIECE_MAX);
            }
            if (place + beyond == total) {
                break;
            }
            if (total - place - beyond < Frames.HEADER) {
                length = place;
                throw bad(place, "the frame ends within an object's header");
            }
            int number = getInt(place);
            long count = Integer.toUnsignedLong(getInt(place + 4));
            int body = place + Frames.HEADER;
            GraphType type = kinds.type(number);
            long bytes = number == Frames.TEXT16 ? 2 * count : number == Frames.TEXT8 || number == Frames.REFERENCE ? count : type == null ? -1 : type.length(count);
            length = body;
            if (bytes < 0) {
                throw bad(place, "the interface has no type " + number);
            }
            if (Frames.aligned(bytes) > total - body - beyond) {
                throw bad(place, "an object of " + count + " elements does not fit the frame");
            }
            mark(body);
            int end = body + (int) Frames.aligned(bytes);
            if (type != null && type.isNumber && bytes > GraphWriter.NEAR_MAX && !Frame.IS_COLLECTED) {
                copied = end + beyond;
                skip(body, body + beyond, copied);
                place = body + 8;
                beyond = copied - place;
                piece = PIECE_FIRST;
            } else {
                if (copied < end + beyond) {
                    copied = copy(memory, at, copied, beyond, Math.max(end + beyond - copied, piece));
                    piece = Math.min(2 * piece, PIECE_MAX);
                }
                place = end;
            }
        }
        length = place;
        Occupancy.receive(total);
    }

    /** Copies a piece of the frame behind what was copied, and says where it ends. */
    private int copy(MemorySegment memory, long at, int from, int beyond, int count) {
        int most = Math.min(count, frameLength - from);
        int place = from - beyond;
        if (place + most + 8 > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(place + most + 8, (int) Math.min(2L * bytes.length, frameLength + 8L)));
        }
        MemorySegment.copy(memory, Flat.BYTE, at + from, bytes, place, most);
        return from + most;
    }

    private void skip(int place, int begin, int end) {
        if (farCount == farPlaces.length) {
            farBegins = Arrays.copyOf(farBegins, 2 * farCount);
            farEnds = Arrays.copyOf(farEnds, 2 * farCount);
            farPlaces = Arrays.copyOf(farPlaces, 2 * farCount);
        }
        farBegins[farCount] = begin;
        farEnds[farCount] = end;
        farPlaces[farCount++] = place;
        if (place + 8 > bytes.length) {
            bytes = Arrays.copyOf(bytes, 2 * bytes.length);
        }
        GraphWriter.LONGS.set(bytes, place, (long) begin);
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

    /** The long arrays, one after another; their places in the copy say where from now on. */
    byte[] fetch(MemorySegment far, long at) {
        int total = 0;
        for (int i = 0; i < farCount; i++) {
            total += farEnds[i] - farBegins[i];
        }
        byte[] all = new byte[total];
        int next = 0;
        for (int i = 0; i < farCount; i++) {
            int count = farEnds[i] - farBegins[i];
            MemorySegment.copy(far, Flat.BYTE, at + farBegins[i], all, next, count);
            GraphWriter.LONGS.set(bytes, farPlaces[i], (long) next);
            next += count;
        }
        return all;
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

    // Checking.

    /** Follows the slots of all objects that slots lead to. */
    public void verify() {
        while (done < queued) {
            int place = queue[done];
            int number = queue[done + 1];
            done += 2;
            GraphType type = kinds.type(number & NUMBER);
            if ((number & MANY) == 0) {
                type.verify(this, place);
            } else {
                int count = getInt(place - 4);
                for (int i = 0; i < count; i++) {
                    type.verify(this, place + i * type.size);
                }
            }
        }
    }

    /** Checks a pointer to one value. */
    public void checkOne(int slot, GraphType type, int pointer) {
        int number = kinds.number(type);
        int place = find(slot, number, pointer, 0);
        if (place > 0) {
            if (getInt(place - 4) != 1 && type.tail == null) {
                throw bad(slot, "the object has more than one element");
            }
            look(place, type, number);
        }
    }

    /** Checks a pointer to several values: their number, and how many there is room for. */
    public void checkMany(int slot, GraphType type, int pointer, long count, long room) {
        int number = kinds.number(type);
        int place = find(slot, number, pointer, MANY);
        if (place != 0) {
            checkCount(slot, Math.abs(place), count, room);
        }
        if (place > 0) {
            look(place, type, number | MANY);
        }
    }

    /** The same where all that there is room for are there. */
    public void checkMany(int slot, GraphType type, int pointer, long count) {
        checkMany(slot, type, pointer, count, count);
    }

    /** Checks the array that a structure ends in: its elements begin at a place, and others say their number, and how many there is room for. */
    public void checkTail(int at, int place, GraphType type, long count, long room) {
        checkCount(at, at, count, room);
        for (int i = 0; !type.isNumber && i < count; i++) {
            type.verify(this, place + i * type.size);
        }
    }

    /** The same where all that there is room for are there. */
    public void checkTail(int at, int place, GraphType type, long count) {
        checkTail(at, place, type, count, count);
    }

    private void checkCount(int slot, int place, long count, long room) {
        if (Integer.toUnsignedLong(getInt(place - 4)) != count) {
            throw bad(slot, "the object has " + Integer.toUnsignedString(getInt(place - 4)) + " elements where the structure says " + count);
        }
        if (room < count || room > Frames.FRAME_MAX) {
            throw bad(slot, "an array's length is not within its size");
        }
    }

    private void look(int place, GraphType type, int number) {
        if (type.isNumber) {
            return;
        }
        if (queued == queue.length) {
            queue = Arrays.copyOf(queue, 2 * queued);
        }
        queue[queued] = place;
        queue[queued + 1] = number | (type.isShared() ? SHARED : 0);
        // The number of its type is known now: in the copy its place in the queue takes the place.
        GraphWriter.INTS.set(bytes, place - Frames.HEADER, queued >> 1);
        queued += 2;
    }

    /** Checks the slot of a reference to an object. */
    public void checkReference(int slot) {
        find(slot, Frames.REFERENCE, UNIQUE, 0);
    }

    /** The bytes of a reference to an object; {@code null} for null. */
    public byte[] reference(int slot) {
        int place = (int) getLong(slot);
        return place == 0 ? null : Arrays.copyOfRange(bytes, place, place + getInt(place - 4));
    }

    /** Checks the slot of a reference to an object of this interface. */
    public void checkReference(int slot, InterfaceInfo<?> info) {
        addReference(slot, info);
    }

    /** The same where the interface is known by its IID. */
    public void checkReference(int slot, Guid iid) {
        addReference(slot, iid);
    }

    private void addReference(int slot, Object type) {
        int place = find(slot, Frames.REFERENCE, UNIQUE, 0);
        if (place == 0) {
            return;
        }
        if (referenceCount == referencePlaces.length) {
            referencePlaces = Arrays.copyOf(referencePlaces, 2 * referenceCount);
            referenceTypes = Arrays.copyOf(referenceTypes, 2 * referenceCount);
        }
        referencePlaces[referenceCount] = place;
        referenceTypes[referenceCount] = type;
        // The number of its type is known now: in the copy the reference's own takes the place.
        GraphWriter.INTS.set(bytes, place - Frames.HEADER, referenceCount++);
    }

    private interface Adoption {
        Object adopt(byte[] reference, InterfaceInfo<?> info);
    }

    /** Finds what the references in a call's arguments lead to, when everything else was checked. */
    public void resolve(InCall call) {
        resolve((reference, info) -> Marshal.object(call, reference, info));
    }

    /**
     * Finds what the references in a call's results lead to.
     *
     * @param through the proxy that was called
     */
    public void resolve(Proxy through) {
        resolve((reference, info) -> Marshal.object(through, reference, info));
    }

    private void resolve(Adoption adoption) {
        if (referenceCount == 0) {
            return;
        }
        Object[] objects = new Object[referenceCount];
        for (int i = 0; i < objects.length; i++) {
            int place = referencePlaces[i];
            InterfaceInfo<?> info = referenceTypes[i] instanceof Guid iid ? Interfaces.of(iid) : (InterfaceInfo<?>) referenceTypes[i];
            objects[i] = adoption.adopt(Arrays.copyOfRange(bytes, place, place + getInt(place - 4)), info);
        }
        frame.objects = objects;
    }

    /** The same where references are places in this array. */
    void resolve(Object[] all) {
        resolve((reference, _) -> all[(int) GraphWriter.INTS.get(reference, 0)]);
    }

    /** What a reference leads to; {@code null} for null. */
    public <T> T object(int slot) {
        return frame.object(slot);
    }

    /** Checks a pointer to a string of characters of 8 bits. */
    public void checkText8(int slot, int pointer) {
        int place = find(slot, Frames.TEXT8, pointer, 0);
        if (place > 0) {
            int end = place + getInt(place - 4) - 1;
            int at = place;
            while (at < end && bytes[at] != 0) {
                at++;
            }
            if (at != end || bytes[at] != 0) {
                throw bad(place, "the string does not end with its first zero");
            }
            if (!isUtf8(place, end)) {
                throw bad(place, "a string that is not UTF-8");
            }
        }
    }

    /** Checks a pointer to a string of characters of 16 bits. */
    public void checkText16(int slot, int pointer) {
        int place = find(slot, Frames.TEXT16, pointer, 0);
        if (place > 0) {
            int end = place + 2 * (getInt(place - 4) - 1);
            int at = place;
            while (at < end && getChar(at) != 0) {
                at += 2;
            }
            if (at != end || getChar(at) != 0) {
                throw bad(place, "the string does not end with its first zero");
            }
        }
    }

    private boolean isUtf8(int from, int to) {
        int at = from;
        while (at < to && bytes[at] >= 0) {
            at++;
        }
        if (at == to) {
            return true;
        }
        try {
            StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes, at, to - at));
            return true;
        } catch (CharacterCodingException e) {
            return false;
        }
    }

    /**
     * Checks where a slot leads, and writes the place in the copy there.
     *
     * @return the place; 0 for null, and less than that where a full pointer has led there before
     */
    private int find(int slot, int number, int pointer, int many) {
        long offset = getLong(slot);
        if (offset == 0) {
            if (pointer == REF) {
                throw bad(slot, "a pointer that may not be null is null");
            }
            return 0;
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
        int found = getInt(place - Frames.HEADER);
        if ((shared[word] & bit) != 0) {
            if (pointer != FULL) {
                throw bad(slot, "another pointer leads to the same object");
            }
            if (number >= Frames.KIND_FIRST && !kinds.type(number).isNumber) {
                int before = queue[2 * found + 1];
                found = before & NUMBER;
                if ((before & MANY) != many) {
                    throw bad(slot, "another pointer leads to the same object");
                }
            }
            place = -place;
        } else if (pointer == FULL) {
            shared[word] |= bit;
        } else {
            starts[word] &= ~bit;
        }
        if (found != number) {
            throw bad(slot, "the slot leads to no object of its type");
        }
        return place;
    }

    /** Checks a {@code boolean}. */
    public void checkBoolean(int at) {
        if ((bytes[at] & ~1) != 0) {
            throw bad(at, "a boolean is neither 0 nor 1");
        }
    }

    /** Checks that a value is within its limits. */
    public void checkRange(int at, long value, long least, long most) {
        if (value < least || value > most) {
            throw bad(at, "the value is out of its range: " + value + " is not within " + least + " and " + most);
        }
    }

    /** What is to be thrown for what is no value of an enumeration. */
    public BadMessageException badEnum(int at) {
        return bad(at, "the enumeration has no value " + getInt(at));
    }

    /** The value of an expression over the structure at a place, which may have none. */
    public long value(int at, LongSupplier expression) {
        try {
            return expression.getAsLong();
        } catch (ArithmeticException e) {
            throw bad(at, "an expression over this structure has no value: " + e.getMessage());
        }
    }

    // Building.

    /** Builds what was checked, apart from the frame: what is pointed to before what points there. */
    public void build() {
        int count = queued >> 1;
        if (built.length < count) {
            built = new Object[Math.max(count, 2 * built.length)];
        }
        boolean isShared = false;
        for (int i = 0; i < count; i++) {
            int number = queue[2 * i + 1];
            if ((number & SHARED) != 0 && (number & MANY) == 0) {
                built[i] = kinds.type(number & NUMBER).make();
                isShared = true;
            }
        }
        for (int i = count - 1; i >= 0; i--) {
            int number = queue[2 * i + 1];
            if ((number & MANY) != 0 || (number & SHARED) == 0) {
                built[i] = buildOne(kinds.type(number & NUMBER), queue[2 * i], number);
            }
        }
        for (int i = 0; isShared && i < count; i++) {
            int number = queue[2 * i + 1];
            if ((number & SHARED) != 0 && (number & MANY) == 0) {
                kinds.type(number & NUMBER).fill(this, queue[2 * i], built[i]);
            }
        }
    }

    private Object buildOne(GraphType type, int place, int number) {
        if ((number & MANY) == 0) {
            return type.build(this, place);
        }
        Object[] elements = new Object[getInt(place - 4)];
        for (int i = 0; i < elements.length; i++) {
            elements[i] = type.build(this, place + i * type.size);
        }
        return Collections.unmodifiableList(Arrays.asList(elements));
    }

    /** What was built of what a slot leads to; {@code null} for null. */
    public Object one(int slot) {
        int place = (int) getLong(slot);
        return place == 0 ? null : built[getInt(place - Frames.HEADER)];
    }

    /** The number that a slot leads to; {@code null} for null. */
    public Object number(int slot, GraphType type) {
        return frame.one(slot, type);
    }

    /** What was built of the values that a slot leads to; {@code null} for null. */
    @SuppressWarnings("unchecked")
    public <T> List<T> list(int slot) {
        return (List<T>) one(slot);
    }

    /** What is built of the elements of an array of fixed size. */
    @SuppressWarnings("unchecked")
    public <T> List<T> list(int at, int count, GraphType type) {
        Object[] elements = new Object[count];
        for (int i = 0; i < count; i++) {
            elements[i] = type.build(this, at + i * type.size);
        }
        return (List<T>) Collections.unmodifiableList(Arrays.asList(elements));
    }

    /** A string of characters of 8 bits; {@code null} for null. */
    public String text8(int slot) {
        return text8(bytes, (int) getLong(slot));
    }

    /** A string of characters of 16 bits; {@code null} for null. */
    public String text16(int slot) {
        return text16(bytes, (int) getLong(slot));
    }

    /** A copy of the array that a slot leads to; {@code null} for null. */
    public Bytes bytes(int slot) {
        Bytes found = frame.bytes(slot);
        return found == null ? null : found.copy();
    }

    /** A copy of the array that a slot leads to; {@code null} for null. */
    public Shorts shorts(int slot) {
        Shorts found = frame.shorts(slot);
        return found == null ? null : found.copy();
    }

    /** A copy of the array that a slot leads to; {@code null} for null. */
    public Chars chars(int slot) {
        Chars found = frame.chars(slot);
        return found == null ? null : found.copy();
    }

    /** A copy of the array that a slot leads to; {@code null} for null. */
    public Ints ints(int slot) {
        Ints found = frame.ints(slot);
        return found == null ? null : found.copy();
    }

    /** A copy of the array that a slot leads to; {@code null} for null. */
    public Longs longs(int slot) {
        Longs found = frame.longs(slot);
        return found == null ? null : found.copy();
    }

    /** A copy of the array that a slot leads to; {@code null} for null. */
    public Floats floats(int slot) {
        Floats found = frame.floats(slot);
        return found == null ? null : found.copy();
    }

    /** A copy of the array that a slot leads to; {@code null} for null. */
    public Doubles doubles(int slot) {
        Doubles found = frame.doubles(slot);
        return found == null ? null : found.copy();
    }

    static String text8(byte[] bytes, int place) {
        if (place == 0) {
            return null;
        }
        return new String(bytes, place, (int) GraphWriter.INTS.get(bytes, place - 4) - 1, StandardCharsets.UTF_8);
    }

    static String text16(byte[] bytes, int place) {
        if (place == 0) {
            return null;
        }
        return new String(bytes, place, 2 * ((int) GraphWriter.INTS.get(bytes, place - 4) - 1), StandardCharsets.UTF_16LE);
    }

    /** A {@code boolean} of the frame. */
    public boolean getBoolean(int at) {
        return bytes[at] != 0;
    }

    /** A {@code byte} of the frame. */
    public byte getByte(int at) {
        return bytes[at];
    }

    /** A {@code short} of the frame. */
    public short getShort(int at) {
        return (short) GraphWriter.SHORTS.get(bytes, at);
    }

    /** A {@code char} of the frame. */
    public char getChar(int at) {
        return (char) GraphWriter.CHARS.get(bytes, at);
    }

    /** An {@code int} of the frame. */
    public int getInt(int at) {
        return (int) GraphWriter.INTS.get(bytes, at);
    }

    /** A {@code long} of the frame. */
    public long getLong(int at) {
        return (long) GraphWriter.LONGS.get(bytes, at);
    }

    /** A {@code float} of the frame. */
    public float getFloat(int at) {
        return (float) GraphWriter.FLOATS.get(bytes, at);
    }

    /** A {@code double} of the frame. */
    public double getDouble(int at) {
        return (double) GraphWriter.DOUBLES.get(bytes, at);
    }
}
