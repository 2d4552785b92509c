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
 * <p>Slots are followed from the block on: without recursion, each object once, so that the time is linear in the frame. docs/flat.md has the rules.
 */
public final class GraphReader extends GraphCopy {
    /** A pointer that is never null. */
    public static final int REF = 0;
    /** A pointer that may be null. */
    public static final int UNIQUE = 1;
    /** A pointer that may be null; others may lead to the same object. */
    public static final int FULL = 2;

    /** Bits of what is in the queue beside the type's number. */
    private static final int MANY = 1 << 31;
    private static final int SHARED = 1 << 30;
    private static final int NUMBER = SHARED - 1;

    private static final Pool<GraphReader> POOL = new Pool<>();

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
        reader.frame = new Frame(reader, memory, at, Frame.IS_STRICT ? Thread.currentThread() : null);
        reader.queued = 0;
        reader.done = 0;
        reader.referenceCount = 0;
        try {
            reader.receive(kinds, block, length, what);
        } catch (BadMessageException e) {
            reader.close();
            throw e;
        }
        return reader;
    }

    /** The frame is done with: its views end. */
    public void close() {
        if (!Frame.IS_COLLECTED) {
            frame.end();
        }
        frame = null;
        if (Frame.IS_COLLECTED || Frame.IS_STRICT || bytes.length > GraphWriter.KEPT_MAX) {
            bytes = new byte[4096];
        }
        if (queue.length > GraphWriter.KEPT_MAX / 16) {
            queue = new int[128];
            built = new Object[0];
        }
        if (built.length > 0) {
            Arrays.fill(built, 0, Math.min(built.length, queued >> 1), null);
        }
        POOL.give(this);
    }

    /** Lets go of what is kept for others. */
    static void clearPool() {
        POOL.clear();
    }

    /** What views read. */
    public Frame frame() {
        return frame;
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
        passAll();
        open();
        Occupancy.receive(length());
    }

    /** Checks a pointer to one value. */
    public void checkOne(int slot, GraphType type, int pointer) {
        int number = kinds.number(type);
        int place = findOne(slot, type, number, pointer);
        if (place > 0) {
            look(place, type, number);
        }
    }

    private int findOne(int slot, GraphType type, int number, int pointer) {
        int place = find(slot, number, type, pointer, 0);
        if (place != 0 && getInt(Math.abs(place) - 4) != 1 && type.tail == null) {
            throw bad(slot, "the object has more than one element");
        }
        return place;
    }

    /** Checks a pointer to several values: their number, and how many there is room for. */
    public void checkMany(int slot, GraphType type, int pointer, long count, long room) {
        int number = kinds.number(type);
        int place = find(slot, number, type, pointer, MANY);
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
        find(slot, Frames.REFERENCE, null, UNIQUE, 0);
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
        int place = find(slot, Frames.REFERENCE, null, UNIQUE, 0);
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

    /** Says what a reference leads to. */
    @FunctionalInterface
    interface Adoption {
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

    void resolve(Adoption adoption) {
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

    /** What a reference leads to; {@code null} for null. */
    public <T> T object(int slot) {
        return frame.object(slot);
    }

    /** Checks a pointer to a string of characters of 8 bits. */
    public void checkText8(int slot, int pointer) {
        int place = find(slot, Frames.TEXT8, null, pointer, 0);
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
        int place = find(slot, Frames.TEXT16, null, pointer, 0);
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
    private int find(int slot, int number, GraphType type, int pointer, int many) {
        long offset = getLong(slot);
        if (offset == 0) {
            if (pointer == REF) {
                throw bad(slot, "a pointer that may not be null is null");
            }
            return 0;
        }
        if (isNext(offset)) {
            int place = take(slot, number, type);
            if (pointer == FULL) {
                share(place);
            }
            return place;
        }
        int place = elsewhere(slot, offset, pointer == FULL);
        int found = getInt(Math.abs(place) - Frames.HEADER);
        int entry = 2 * found;
        if (place < 0 && entry >= 0 && entry < queued && queue[entry] == -place) {
            if ((queue[entry + 1] & MANY) != many) {
                throw bad(slot, "another pointer leads to the same object");
            }
            found = queue[entry + 1] & NUMBER;
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

    /** The discriminant of a union whose own type has these limits, though what says it has 64 bits. */
    public int which(int at, long value, long least, long most) {
        checkRange(at, value, least, most);
        return (int) value;
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

    /** A GUID of the frame. */
    public Guid getGuid(int at) {
        return Guid.fromWire(getLong(at), getLong(at + 8));
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
