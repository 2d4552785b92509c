package obvia.runtime;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.List;
import obvia.Bytes;
import obvia.Chars;
import obvia.Doubles;
import obvia.Floats;
import obvia.Guid;
import obvia.Hresult;
import obvia.Ints;
import obvia.Longs;
import obvia.RpcException;
import obvia.Shorts;

/**
 * Writes a frame with structures that point to others: the block, and behind it objects in the order of their slots.
 *
 * <p>It is written in one pass and without recursion, to memory of this process's own that grows as it must; only then is there a place for it in the area. What objects point to
 * waits in a queue until it is its turn. Long arrays of numbers are not copied until the frame is: they go straight to the area.
 */
public final class GraphWriter extends Pool.Member {
    static final VarHandle SHORTS = MethodHandles.byteArrayViewVarHandle(short[].class, LITTLE_ENDIAN);
    static final VarHandle CHARS = MethodHandles.byteArrayViewVarHandle(char[].class, LITTLE_ENDIAN);
    static final VarHandle INTS = MethodHandles.byteArrayViewVarHandle(int[].class, LITTLE_ENDIAN);
    static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, LITTLE_ENDIAN);
    static final VarHandle FLOATS = MethodHandles.byteArrayViewVarHandle(float[].class, LITTLE_ENDIAN);
    static final VarHandle DOUBLES = MethodHandles.byteArrayViewVarHandle(double[].class, LITTLE_ENDIAN);

    /** Arrays of more bytes than this stay where they are for as long as they can. */
    static final int NEAR_MAX = 256;
    /** More memory than this is not kept from call to call. */
    static final int KEPT_MAX = 4 << 20;

    private static final Pool<GraphWriter> POOL = new Pool<>();

    private GraphKinds kinds;
    private byte[] bytes = new byte[4096];
    private int next;

    /** How much there may be of them. What is behind {@link #next} is all zeros. */
    private int room = bytes.length;

    /** By how much places in the frame are beyond those in {@link #bytes}: long arrays are only in the frame. */
    private int beyond;

    /** Objects that are to be written: a ring. */
    private Object[] values = new Object[64];
    private GraphType[] types = new GraphType[64];
    private int[] places = new int[64];
    private int first;
    private int waiting;

    /** Whether the value being written is all there is to write, so that what its last pointer leads to is next. */
    private boolean isAlone;

    /** Long arrays, and where in {@link #bytes} they are missing. */
    private MemorySegment[] far = new MemorySegment[4];
    private int[] farPlaces = new int[4];
    private int farCount;

    /** References, which are made when everything else is written, since they are counted then: slots, objects and their interfaces. */
    private int[] referenceSlots = new int[8];
    private Object[] referenced = new Object[8];
    private InterfaceInfo<?>[] referenceTypes = new InterfaceInfo<?>[8];
    private int referenceCount;

    private final Identities seen = new Identities();

    private GraphWriter() {}

    /** One for a frame with objects of these types, and a block of so many bytes, all zero. */
    public static GraphWriter of(GraphKinds kinds, int block) {
        GraphWriter writer = POOL.take();
        if (writer == null) {
            writer = new GraphWriter();
        }
        if (writer.kinds != kinds) {
            writer.kinds = kinds;
        }
        writer.claim(block);
        return writer;
    }

    /** The frame is done with: this is not used again by whoever has it. */
    void close() {
        if (bytes.length > KEPT_MAX) {
            bytes = new byte[4096];
        } else {
            Arrays.fill(bytes, 0, next, (byte) 0);
        }
        room = bytes.length;
        next = 0;
        beyond = 0;
        if (values.length > KEPT_MAX / 32) {
            values = new Object[64];
            types = new GraphType[64];
            places = new int[64];
        }
        seen.clear();
        Arrays.fill(far, 0, farCount, null);
        farCount = 0;
        Arrays.fill(referenced, 0, referenceCount, null);
        referenceCount = 0;
        POOL.give(this);
    }

    /** Writes what waits, and says how long the frame is. */
    int finish() {
        while (waiting > 0) {
            int at = first & values.length - 1;
            Object value = values[at];
            values[at] = null;
            first++;
            waiting--;
            if (value instanceof Object[] elements) {
                writeAll(types[at], elements, places[at]);
            } else {
                isAlone = waiting == 0;
                types[at].write(this, value, places[at]);
            }
        }
        return next + beyond;
    }

    /**
     * The same, with references in the arguments of a call.
     *
     * @param through the proxy that is called
     */
    int finish(Proxy through) {
        finish();
        for (int i = 0; i < referenceCount; i++) {
            reference(referenceSlots[i], Marshal.reference(through, referenced[i], referenceTypes[i]));
        }
        return next + beyond;
    }

    /** The same, with references in the results of a call. */
    int finish(InCall call) {
        finish();
        for (int i = 0; i < referenceCount; i++) {
            reference(referenceSlots[i], Marshal.reference(call, referenced[i], referenceTypes[i]));
        }
        return next + beyond;
    }

    /** The same, with references that are places among the objects, for frames that nobody else sees; and the objects. */
    Object[] finishHere() {
        finish();
        for (int i = 0; i < referenceCount; i++) {
            INTS.set(bytes, object(referenceSlots[i], Frames.REFERENCE, 4, 4), i);
        }
        return Arrays.copyOf(referenced, referenceCount);
    }

    /** How long the frame is. */
    int length() {
        return next + beyond;
    }

    private void writeAll(GraphType type, Object[] elements, int place) {
        isAlone = false;
        for (Object element : elements) {
            type.write(this, element, place);
            place += type.size;
        }
    }

    /** Copies the frame to where it goes. */
    void copyTo(MemorySegment memory, long at) {
        int from = 0;
        for (int i = 0; i < farCount; i++) {
            int count = farPlaces[i] - from;
            MemorySegment.copy(bytes, from, memory, Flat.BYTE, at, count);
            from += count;
            at += count;
            long length = far[i].byteSize();
            MemorySegment.copy(far[i], 0, memory, at, length);
            for (at += length; (length & 7) != 0; length++) {
                memory.set(Flat.BYTE, at++, (byte) 0);
            }
        }
        MemorySegment.copy(bytes, from, memory, Flat.BYTE, at, next - from);
    }

    /** The bytes, for values that write themselves: see {@link Flat}. Only until the next object is there. */
    public MemorySegment memory() {
        return MemorySegment.ofArray(bytes);
    }

    /** Room for so many more bytes, all zero: where they begin. */
    private int claim(int length) {
        int begin = next;
        int end = begin + (length + 7 & ~7);
        if (end > room) {
            grow(end);
        }
        next = end;
        return begin;
    }

    private void grow(int end) {
        if (end + beyond > Segments.AREA_MAX) {
            throw tooLong(end + beyond);
        }
        if (end > bytes.length) {
            bytes = Arrays.copyOf(bytes, (int) Math.max(end, Math.min(2L * bytes.length, Segments.AREA_MAX)));
        }
        room = (int) Math.min(bytes.length, Segments.AREA_MAX - beyond);
    }

    private static RpcException tooLong(long length) {
        return new RpcException(Hresult.E_OUTOFMEMORY, "a frame of " + length + " bytes; " + Segments.AREA_MAX + " is the most");
    }

    /** A new object, which the slot leads to: where its body is to be written. */
    private int object(int slot, int number, int count, long length) {
        if (length > Segments.AREA_MAX) {
            throw tooLong(length);
        }
        int header = claim(Frames.HEADER + (int) length);
        byte[] bytes = this.bytes;
        LONGS.set(bytes, header, number | (long) count << 32);
        int body = header + Frames.HEADER;
        LONGS.set(bytes, slot, (long) (body + beyond));
        return body;
    }

    private void push(GraphType type, Object value, int place) {
        if (waiting == values.length) {
            growQueue();
        }
        int at = first + waiting & values.length - 1;
        values[at] = value;
        types[at] = type;
        places[at] = place;
        waiting++;
    }

    private void growQueue() {
        int length = values.length;
        Object[] moreValues = new Object[2 * length];
        GraphType[] moreTypes = new GraphType[2 * length];
        int[] morePlaces = new int[2 * length];
        for (int i = 0; i < length; i++) {
            int from = first + i & length - 1;
            moreValues[i] = values[from];
            moreTypes[i] = types[from];
            morePlaces[i] = places[from];
        }
        values = moreValues;
        types = moreTypes;
        places = morePlaces;
        first = 0;
    }

    // Values, at places that are there already.

    /** Writes a {@code byte}. */
    public void putByte(int at, byte value) {
        bytes[at] = value;
    }

    /** Writes a {@code boolean}. */
    public void putBoolean(int at, boolean value) {
        bytes[at] = (byte) (value ? 1 : 0);
    }

    /** Writes a {@code short}. */
    public void putShort(int at, short value) {
        SHORTS.set(bytes, at, value);
    }

    /** Writes a {@code char}. */
    public void putChar(int at, char value) {
        CHARS.set(bytes, at, value);
    }

    /** Writes an {@code int}. */
    public void putInt(int at, int value) {
        INTS.set(bytes, at, value);
    }

    /** Writes a {@code long}. */
    public void putLong(int at, long value) {
        LONGS.set(bytes, at, value);
    }

    /** Writes a {@code float}. */
    public void putFloat(int at, float value) {
        FLOATS.set(bytes, at, value);
    }

    /** Writes a {@code double}. */
    public void putDouble(int at, double value) {
        DOUBLES.set(bytes, at, value);
    }

    /** Writes a GUID. */
    public void putGuid(int at, Guid value) {
        FrameWriter.put(value, memory(), at);
    }

    /** Writes an array of fixed size, as {@link obvia.Ints} and the others have it. */
    public void putArray(int at, MemorySegment elements) {
        MemorySegment.copy(elements, 0, memory(), at, elements.byteSize());
    }

    // What slots lead to.

    /** Writes the slot of a pointer to one value that nothing else leads to; {@code null} is null. */
    public void one(int slot, GraphType type, Object value) {
        if (value == null) {
            return;
        }
        int place = place(slot, type, value);
        if (type.isShared() && !seen.add(value, place + beyond)) {
            throw invalid("several pointers lead to one structure, or a circle of them, where each must have its own");
        }
        push(type, value, place);
    }

    private int place(int slot, GraphType type, Object value) {
        int count = type.tail == null ? 1 : type.count(value);
        return object(slot, kinds.number(type), count, type.length(count));
    }

    /**
     * Writes the slot of a structure's last pointer, to another of its type. So lists are written in a loop, without the queue; the order is the same.
     *
     * @return where the caller is to write the value at once; 0 where nothing is left for it to do
     */
    public int last(int slot, GraphType type, Object value) {
        if (value == null) {
            return 0;
        }
        int place = object(slot, kinds.number(type), 1, type.size);
        if (isAlone && waiting == 0) {
            return place;
        }
        push(type, value, place);
        return 0;
    }

    /** Writes a structure within another. */
    public void inner(int at, GraphType type, Object value) {
        isAlone = false;
        type.write(this, value, at);
    }

    /** Writes the slot of a pointer to one value that others may lead to, too; {@code null} is null. */
    public void shared(int slot, GraphType type, Object value) {
        if (value == null) {
            return;
        }
        int known = seen.find(value);
        if (known < 0) {
            throw invalid("a pointer leads to a structure that must have no other");
        }
        if (known > 0) {
            LONGS.set(bytes, slot, (long) known);
            return;
        }
        int place = place(slot, type, value);
        seen.share(value, place + beyond);
        push(type, value, place);
    }

    /** Writes the slot of a pointer to several values; {@code null} is null. */
    public void list(int slot, GraphType type, List<?> values) {
        if (values == null) {
            return;
        }
        // Nobody else changes this one.
        Object[] elements = values.toArray();
        int place = object(slot, kinds.number(type), elements.length, (long) elements.length * type.size);
        if (elements.length > 0) {
            push(type, elements, place);
        }
    }

    /** Writes the elements of an array of fixed size. */
    public void putList(int at, GraphType type, List<?> values) {
        writeAll(type, values.toArray(), at);
    }

    void array(int slot, GraphType type, MemorySegment elements) {
        if (elements == null) {
            return;
        }
        long length = elements.byteSize();
        int count = (int) (length / type.size);
        if (length <= NEAR_MAX) {
            int place = object(slot, kinds.number(type), count, length);
            MemorySegment.copy(elements, 0, memory(), place, length);
            return;
        }
        object(slot, kinds.number(type), count, 0);
        if (next + beyond + length > Segments.AREA_MAX) {
            throw tooLong(next + beyond + length);
        }
        if (farCount == far.length) {
            far = Arrays.copyOf(far, 2 * farCount);
            farPlaces = Arrays.copyOf(farPlaces, 2 * farCount);
        }
        far[farCount] = elements;
        farPlaces[farCount++] = next;
        beyond += (int) Frames.aligned(length);
        room = (int) Math.min(room, Segments.AREA_MAX - beyond);
    }

    /** Writes the slot of a pointer to numbers; {@code null} is null. */
    public void array(int slot, GraphType type, Bytes elements) {
        if (elements != null && elements.size() <= NEAR_MAX) {
            int place = object(slot, kinds.number(type), elements.size(), elements.size());
            elements.copyTo(bytes, place);
            return;
        }
        array(slot, type, elements == null ? null : elements.segment());
    }

    /** Writes the slot of a pointer to numbers; {@code null} is null. */
    public void array(int slot, GraphType type, Shorts elements) {
        array(slot, type, elements == null ? null : elements.segment());
    }

    /** Writes the slot of a pointer to numbers; {@code null} is null. */
    public void array(int slot, GraphType type, Chars elements) {
        array(slot, type, elements == null ? null : elements.segment());
    }

    /** Writes the slot of a pointer to numbers; {@code null} is null. */
    public void array(int slot, GraphType type, Ints elements) {
        array(slot, type, elements == null ? null : elements.segment());
    }

    /** Writes the slot of a pointer to numbers; {@code null} is null. */
    public void array(int slot, GraphType type, Longs elements) {
        array(slot, type, elements == null ? null : elements.segment());
    }

    /** Writes the slot of a pointer to numbers; {@code null} is null. */
    public void array(int slot, GraphType type, Floats elements) {
        array(slot, type, elements == null ? null : elements.segment());
    }

    /** Writes the slot of a pointer to numbers; {@code null} is null. */
    public void array(int slot, GraphType type, Doubles elements) {
        array(slot, type, elements == null ? null : elements.segment());
    }

    /** Writes the slot of a reference to an object of this interface; {@code null} is null. */
    public void reference(int slot, Object object, InterfaceInfo<?> info) {
        if (object == null) {
            return;
        }
        if (referenceCount == referenced.length) {
            referenceSlots = Arrays.copyOf(referenceSlots, 2 * referenceCount);
            referenced = Arrays.copyOf(referenced, 2 * referenceCount);
            referenceTypes = Arrays.copyOf(referenceTypes, 2 * referenceCount);
        }
        referenceSlots[referenceCount] = slot;
        referenced[referenceCount] = object;
        referenceTypes[referenceCount++] = info;
    }

    /** The same where the interface is known by its IID. */
    public void reference(int slot, Object object, Guid iid) {
        if (object != null) {
            reference(slot, object, Interfaces.of(iid));
        }
    }

    /** Writes the slot of a reference to an object; {@code null} is null. */
    public void reference(int slot, byte[] reference) {
        if (reference == null) {
            return;
        }
        int place = object(slot, Frames.REFERENCE, reference.length, reference.length);
        System.arraycopy(reference, 0, bytes, place, reference.length);
    }

    /** Writes the slot of a string of characters of 8 bits, which are UTF-8; {@code null} is null. */
    public void text8(int slot, String text) {
        if (text == null) {
            return;
        }
        byte[] characters = Frames.utf8(text);
        int place = object(slot, Frames.TEXT8, characters.length, characters.length);
        System.arraycopy(characters, 0, bytes, place, characters.length);
    }

    /** Writes the slot of a string of characters of 16 bits, which are UTF-16; {@code null} is null. */
    public void text16(int slot, String text) {
        if (text == null) {
            return;
        }
        int length = text.length();
        int place = object(slot, Frames.TEXT16, length + 1, 2L * (length + 1));
        for (int i = 0; i < length; i++) {
            char character = text.charAt(i);
            if (character == 0) {
                throw invalid("a string has a zero in it, which ends strings");
            }
            CHARS.set(bytes, place + 2 * i, character);
        }
    }

    private static RpcException invalid(String what) {
        return new RpcException(Hresult.E_INVALIDARG, what);
    }
}
