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
import obvia.Guid;
import obvia.Occupancy;
import obvia.runtime.call.CallContext;
import obvia.runtime.call.Pool;

/**
 * Receives a frame with structures that contain pointers, and verifies it once before its use.
 *
 * <p>Slots are followed from the block on, without recursion. Each object is visited once, so that
 * the time is linear in the frame's length. docs/flat.md has the rules.
 */
public final class GraphReader extends GraphCopy {
    /** A pointer that is never null. */
    public static final int REF = 0;
    /** A pointer that may be null. */
    public static final int UNIQUE = 1;
    /** A pointer that may be null; other pointers may lead to the same object. */
    public static final int FULL = 2;

    /** The flags in the second word of a queue entry, beside the number of the entry's type. */
    private static final int MANY = 1 << 31;
    private static final int SHARED = 1 << 30;
    private static final int NUMBER = SHARED - 1;

    private static final Pool<GraphReader> POOL = new Pool<>();

    /** The queue of objects whose slots have to be followed: offsets, and numbers of types. */
    private int[] queue = new int[128];
    private int queued;
    private int done;

    /** The values that were built from the queue's entries. */
    private Object[] built = new Object[0];

    /** The references: their offsets, and their interfaces or IIDs. */
    private int[] referencePlaces = new int[8];
    private Object[] referenceTypes = new Object[8];
    private int referenceCount;

    private GraphReader() {}

    /** Returns a reader of a call's arguments with a block of {@code block} bytes. */
    public static GraphReader of(InCall call, int block, GraphKinds kinds) {
        return of(call.memory, call.at, call.length, block, kinds, "the arguments");
    }

    /** Returns a reader of a call's results with a block of {@code block} bytes. */
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

    /** Ends the frame and its views, and returns the reader to the pool. */
    public void close() {
        if (!Frame.IS_COLLECTED) {
            frame.end();
        }
        frame = null;
        if (Frame.IS_COLLECTED || Frame.IS_STRICT || bytes.length > Pool.KEPT_MAX) {
            bytes = new byte[4096];
        }
        if (queue.length > Pool.KEPT_MAX / 16) {
            queue = new int[128];
            built = new Object[0];
        }
        if (built.length > 0) {
            Arrays.fill(built, 0, Math.min(built.length, queued >> 1), null);
        }
        POOL.give(this);
    }

    /** Returns the frame that views read. */
    public Frame frame() {
        return frame;
    }

    // Verification.

    /**
     * Verifies the objects in the queue and all objects to which they lead, checks the headers of
     * the remaining objects, and makes the copy readable.
     */
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

    /** Verifies a pointer to one value. */
    public void checkOne(int slot, GraphType type, int pointer) {
        int number = kinds.number(type);
        int place = findOne(slot, type, number, pointer);
        if (place > 0) {
            look(place, type, number);
        }
    }

    /** Verifies that a pointer in a reply is null exactly if the argument was. */
    public void checkPresent(int slot, boolean isPresent) {
        if ((getLong(slot) != 0) != isPresent) {
            throw bad(slot, isPresent ? "the reply has null in place of the argument's value" : "the reply has a value in place of null");
        }
    }

    private int findOne(int slot, GraphType type, int number, int pointer) {
        int place = find(slot, number, type, pointer, 0);
        if (place != 0 && getInt(Math.abs(place) - 4) != 1 && type.tail == null) {
            throw bad(slot, "the object has more than one element");
        }
        return place;
    }

    /**
     * Verifies a pointer to several values. Their number must be {@code count}, and must not exceed
     * {@code room}, the size of the array.
     */
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

    /** Verifies a pointer to several values, all of which are in use. */
    public void checkMany(int slot, GraphType type, int pointer, long count) {
        checkMany(slot, type, pointer, count, count);
    }

    /**
     * Verifies the array at a structure's end. Other members specify the number and the maximum
     * number of its elements.
     */
    public void checkTail(int at, int place, GraphType type, long count, long room) {
        checkCount(at, at, count, room);
        for (int i = 0; !type.isNumber && i < count; i++) {
            type.verify(this, place + i * type.size);
        }
    }

    /** Verifies the array at a structure's end, whose elements are all in use. */
    public void checkTail(int at, int place, GraphType type, long count) {
        checkTail(at, place, type, count, count);
    }

    private void checkCount(int slot, int place, long count, long room) {
        if (Integer.toUnsignedLong(getInt(place - 4)) != count) {
            throw bad(slot, "the object has " + Integer.toUnsignedString(getInt(place - 4)) + " elements, and its structure's count is " + count);
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
        // The number of the type has been verified. In the copy, the index of the queue's entry now
        // replaces the number.
        FrameBytes.INTS.set(bytes, place - Frames.HEADER, queued >> 1);
        queued += 2;
    }

    /** Verifies the slot of an object reference. */
    public void checkReference(int slot) {
        find(slot, Frames.REFERENCE, null, UNIQUE, 0);
    }

    /** Verifies the slot of a reference to an object with this interface. */
    public void checkReference(int slot, InterfaceInfo<?> info) {
        addReference(slot, info);
    }

    /** Verifies the slot of a reference to an object whose interface is given by its IID. */
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
        // The number of the type has been verified. In the copy, the index of the reference now
        // replaces the number.
        FrameBytes.INTS.set(bytes, place - Frames.HEADER, referenceCount++);
    }

    /** Unmarshals the references in a call's arguments, after the whole frame has been verified. */
    public void resolve(InCall call) {
        resolve((reference, info) -> Marshal.argument(call, reference, info));
    }

    /**
     * Unmarshals the references in a call's results.
     *
     * @param through the proxy that was called
     */
    public void resolve(Proxy through) {
        resolve((reference, info) -> Marshal.result(through, reference, info));
    }

    /** Unmarshals the references under one deadline. */
    void resolve(Marshal.Adoption adoption) {
        if (referenceCount > 0) {
            frame.objects = CallContext.current().by(CallContext.currentDeadline()).during(() -> objects(adoption));
        }
    }

    private Object[] objects(Marshal.Adoption adoption) {
        Object[] objects = new Object[referenceCount];
        RuntimeException failure = null;
        for (int i = 0; i < objects.length; i++) {
            int place = referencePlaces[i];
            byte[] reference = Arrays.copyOfRange(bytes, place, place + getInt(place - 4));
            try {
                objects[i] = Marshal.object(reference, referenceTypes[i], adoption);
            } catch (RuntimeException e) {
                // The other references are unmarshaled nevertheless, so that the collector releases
                // them with their proxies.
                failure = failure == null ? e : failure;
            }
        }
        if (failure != null) {
            throw failure;
        }
        return objects;
    }

    /** Returns the object of a reference; {@code null} for null. */
    public <T> T object(int slot) {
        return frame.object(slot);
    }

    /** Verifies a pointer to a string of 8-bit characters. */
    public void checkText8(int slot, int pointer) {
        int place = find(slot, Frames.TEXT8, null, pointer, 0);
        if (place > 0) {
            int end = place + getInt(place - 4) - 1;
            int at = place;
            while (at < end && bytes[at] != 0) {
                at++;
            }
            if (at != end || bytes[at] != 0) {
                throw bad(place, "the string does not end at its first zero");
            }
            if (!isUtf8(place, end)) {
                throw bad(place, "the string is not UTF-8");
            }
        }
    }

    /** Verifies a pointer to a string of 16-bit characters. */
    public void checkText16(int slot, int pointer) {
        int place = find(slot, Frames.TEXT16, null, pointer, 0);
        if (place > 0) {
            int end = place + 2 * (getInt(place - 4) - 1);
            int at = place;
            while (at < end && getChar(at) != 0) {
                at += 2;
            }
            if (at != end || getChar(at) != 0) {
                throw bad(place, "the string does not end at its first zero");
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
     * Verifies the target of a slot, and replaces the slot by the offset in the copy.
     *
     * @return the offset; 0 for null; negative if a full pointer has already led to the target
     */
    private int find(int slot, int number, GraphType type, int pointer, int many) {
        long offset = getLong(slot);
        if (offset == 0) {
            if (pointer == REF) {
                throw bad(slot, "a pointer that must not be null is null");
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
            throw bad(slot, "the pointer does not lead to an object of its type");
        }
        return place;
    }

    /** Verifies a {@code boolean}. */
    public void checkBoolean(int at) {
        if ((bytes[at] & ~1) != 0) {
            throw bad(at, "a boolean is neither 0 nor 1");
        }
    }

    /** Checks that a value is at least {@code least} and at most {@code most}. */
    public void checkRange(int at, long value, long least, long most) {
        if (value < least || value > most) {
            throw bad(at, "the value is out of its range: " + value + " is not within " + least + " and " + most);
        }
    }

    /**
     * Returns the discriminant of a union. The value of the expression for the discriminant has 64
     * bits, so this method checks that the value is within the range of the discriminant's type.
     */
    public int which(int at, long value, long least, long most) {
        checkRange(at, value, least, most);
        return (int) value;
    }

    /** Returns the exception for an invalid value of an enumeration. */
    public BadMessageException badEnum(int at) {
        return bad(at, "the enumeration has no value " + getInt(at));
    }

    /**
     * Returns the value of an expression over the structure at an offset. If the value is
     * undefined, the frame is malformed.
     */
    public long value(int at, LongSupplier expression) {
        try {
            return expression.getAsLong();
        } catch (ArithmeticException e) {
            throw bad(at, "an expression over this structure cannot be evaluated: " + e.getMessage());
        }
    }

    // Building of values.

    /**
     * Builds the verified values as objects that do not depend on the frame: targets of pointers
     * before the values that contain the pointers.
     */
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

    /** Returns the built value to which a slot leads; {@code null} for null. */
    public Object one(int slot) {
        int place = (int) getLong(slot);
        return place == 0 ? null : built[getInt(place - Frames.HEADER)];
    }

    /** Returns the number to which a slot leads; {@code null} for null. */
    public Object number(int slot, GraphType type) {
        return frame.one(slot, type);
    }

    /** Returns the built values to which a slot leads; {@code null} for null. */
    @SuppressWarnings("unchecked")
    public <T> List<T> list(int slot) {
        return (List<T>) one(slot);
    }

    /** Builds the elements of an array of fixed size. */
    @SuppressWarnings("unchecked")
    public <T> List<T> list(int at, int count, GraphType type) {
        Object[] elements = new Object[count];
        for (int i = 0; i < count; i++) {
            elements[i] = type.build(this, at + i * type.size);
        }
        return (List<T>) Collections.unmodifiableList(Arrays.asList(elements));
    }
}
