package obvia.runtime;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
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

    /** So many words there are at first. */
    private static final int WORDS = 512;

    private static final int WORDS_MAX = (int) (Segments.AREA_MAX / 8);
    private static final int HEADER = Frames.HEADER / 8;
    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(LITTLE_ENDIAN);

    private GraphKinds kinds;

    /** The frame: words and not bytes, since a virtual machine checks places in these with less. What is behind {@link #next} is all zeros. */
    private long[] words = new long[WORDS];
    private int next;

    /** By how many words places in the frame are beyond those in {@link #words}: long arrays are only in the frame. */
    private int beyond;

    /** Objects that are to be written: a ring. */
    private Object[] values = new Object[64];
    private GraphType[] types = new GraphType[64];
    private int[] places = new int[64];
    private int first;
    private int waiting;

    /** Whether the value being written is all there is to write, and the last that is there: so what it leads to follows. */
    private boolean isAlone;

    /** Long arrays, and where in {@link #words} they are missing. */
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
        writer.claim(words(block));
        return writer;
    }

    /** Lets go of what is kept for others. */
    static void clearPool() {
        POOL.clear();
    }

    /** The frame is done with: this is not used again by whoever has it. */
    void close() {
        if (words.length > KEPT_MAX / 8) {
            words = new long[WORDS];
        } else {
            Arrays.fill(words, 0, next, 0L);
        }
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
                isAlone = waiting == 0 && beyond == 0 && places[at] + types[at].size == 8 * next;
                types[at].write(this, value, places[at]);
            }
        }
        if (length() > Segments.AREA_MAX) {
            throw tooLong(length());
        }
        return length();
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
        return length();
    }

    /** The same, with references in the results of a call. */
    int finish(InCall call) {
        finish();
        for (int i = 0; i < referenceCount; i++) {
            reference(referenceSlots[i], Marshal.reference(call, referenced[i], referenceTypes[i]));
        }
        return length();
    }

    /** The same, with references that are places among the objects, for frames that nobody else sees; and the objects. */
    Object[] finishHere() {
        finish();
        for (int i = 0; i < referenceCount; i++) {
            putInt(object(referenceSlots[i], Frames.REFERENCE, 4, 4), i);
        }
        return Arrays.copyOf(referenced, referenceCount);
    }

    /** How long the frame is. */
    int length() {
        return 8 * (next + beyond);
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
            MemorySegment.copy(words, from, memory, WORD, at, count);
            from += count;
            at += 8L * count;
            long length = far[i].byteSize();
            MemorySegment.copy(far[i], 0, memory, at, length);
            for (at += length; (length & 7) != 0; length++) {
                memory.set(Flat.BYTE, at++, (byte) 0);
            }
        }
        MemorySegment.copy(words, from, memory, WORD, at, next - from);
    }

    /** The bytes, for values that write themselves: see {@link Flat}. Only until the next object is there. */
    public MemorySegment memory() {
        return MemorySegment.ofArray(words);
    }

    /** Words for so many bytes. */
    private static int words(long bytes) {
        return (int) (bytes + 7 >> 3);
    }

    /** Room for so many more words, all zero: where they begin. */
    private int claim(int length) {
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
            throw tooLong(8L * (end + beyond));
        }
        words = Arrays.copyOf(words, (int) Math.max(end, Math.min(2L * words.length, WORDS_MAX)));
    }

    private static RpcException tooLong(long length) {
        return RpcException.of(Hresult.E_OUTOFMEMORY, "a frame of " + length + " bytes; " + Segments.AREA_MAX + " is the most");
    }

    /** A new object, which the slot leads to: where its body is to be written. */
    private int object(int slot, int number, int count, long length) {
        if (length > Segments.AREA_MAX) {
            throw tooLong(length);
        }
        int body = claim(HEADER + words(length)) + HEADER;
        words[body - HEADER] = header(number, count);
        putLong(slot, 8L * (body + beyond));
        return 8 * body;
    }

    private static long header(int number, int count) {
        return number | (long) count << 32;
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

    // Values, at places that are there already, and zeros.

    private void put(int at, long bits) {
        words[at >> 3] |= bits << 8 * at;
    }

    /** Writes a {@code byte}. */
    public void putByte(int at, byte value) {
        put(at, Frames.bits(value, 0));
    }

    /** Writes a {@code boolean}. */
    public void putBoolean(int at, boolean value) {
        put(at, Frames.bits(value, 0));
    }

    /** Writes a {@code short}. */
    public void putShort(int at, short value) {
        put(at, Frames.bits(value, 0));
    }

    /** Writes a {@code char}. */
    public void putChar(int at, char value) {
        put(at, Frames.bits(value, 0));
    }

    /** Writes an {@code int}. */
    public void putInt(int at, int value) {
        put(at, Frames.bits(value, 0));
    }

    /** Writes a {@code long}. */
    public void putLong(int at, long value) {
        words[at >> 3] = value;
    }

    /** Writes a {@code float}. */
    public void putFloat(int at, float value) {
        put(at, Frames.bits(value, 0));
    }

    /** Writes a {@code double}. */
    public void putDouble(int at, double value) {
        putLong(at, Frames.bits(value, 0));
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
        if (type.isShared() && !seen.add(value, place + 8 * beyond)) {
            throw invalid("several pointers lead to one structure, or a circle of them, where each must have its own");
        }
        push(type, value, place);
    }

    private int place(int slot, GraphType type, Object value) {
        int count = type.tail == null ? 1 : type.count(value);
        return object(slot, kinds.number(type), count, type.length(count));
    }

    // Lists, whose elements are written in a loop and not by the queue; the order is the same. Their places are those of words. Where the next object begins is said by who calls,
    // who has it in a register.

    /** Writes a word: see {@link Frames#bits(int, int)}. */
    public void word(int at, long bits) {
        words[at] = bits;
    }

    /** The word where the next object begins. */
    public int end() {
        return next;
    }

    /**
     * Writes the slot of a pointer to numbers; {@code null} is null.
     *
     * @param slot the slot's word
     * @param end where the next object begins, if the list is alone
     * @return where the next object begins then
     */
    public int array(int slot, int end, GraphType type, Bytes elements) {
        if (elements == null) {
            return end;
        }
        long[] words = this.words;
        int count = elements.size();
        int after = end + HEADER + (count + 7 >> 3);
        if (!isAlone || count > NEAR_MAX || after > words.length) {
            array(8 * slot, type, elements);
            return next;
        }
        next = after;
        words[end] = header(kinds.number(type), count);
        words[slot] = 8L * (end + HEADER);
        elements.copyTo(words, end + HEADER);
        return after;
    }

    /**
     * Writes the slot of a structure's last pointer, to another of its type.
     *
     * @param slot the slot's word
     * @param end where the next object begins, if the list is alone
     * @return the word where the caller is to write the value at once; 0 where nothing is left for it to do
     */
    public int last(int slot, int end, GraphType type, Object value) {
        if (value == null) {
            return 0;
        }
        long[] words = this.words;
        int after = end + HEADER + (type.size >> 3);
        if (!isAlone || waiting > 0 || after > words.length) {
            push(type, value, object(8 * slot, kinds.number(type), 1, type.size));
            return 0;
        }
        next = after;
        words[end] = header(kinds.number(type), 1);
        words[slot] = 8L * (end + HEADER);
        return end + HEADER;
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
            putLong(slot, known);
            return;
        }
        int place = place(slot, type, value);
        seen.share(value, place + 8 * beyond);
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
        if (length() + length > Segments.AREA_MAX) {
            throw tooLong(length() + length);
        }
        if (farCount == far.length) {
            far = Arrays.copyOf(far, 2 * farCount);
            farPlaces = Arrays.copyOf(farPlaces, 2 * farCount);
        }
        far[farCount] = elements;
        farPlaces[farCount++] = next;
        beyond += words(length);
        isAlone = false;
    }

    /** Writes the slot of a pointer to numbers; {@code null} is null. */
    public void array(int slot, GraphType type, Bytes elements) {
        if (elements != null && elements.size() <= NEAR_MAX) {
            int place = object(slot, kinds.number(type), elements.size(), elements.size());
            elements.copyTo(words, place >> 3);
            return;
        }
        array(slot, type, elements == null ? null : elements.uncopied());
    }

    /** Writes the slot of a pointer to numbers; {@code null} is null. */
    public void array(int slot, GraphType type, Shorts elements) {
        array(slot, type, elements == null ? null : elements.uncopied());
    }

    /** Writes the slot of a pointer to numbers; {@code null} is null. */
    public void array(int slot, GraphType type, Chars elements) {
        array(slot, type, elements == null ? null : elements.uncopied());
    }

    /** Writes the slot of a pointer to numbers; {@code null} is null. */
    public void array(int slot, GraphType type, Ints elements) {
        array(slot, type, elements == null ? null : elements.uncopied());
    }

    /** Writes the slot of a pointer to numbers; {@code null} is null. */
    public void array(int slot, GraphType type, Longs elements) {
        array(slot, type, elements == null ? null : elements.uncopied());
    }

    /** Writes the slot of a pointer to numbers; {@code null} is null. */
    public void array(int slot, GraphType type, Floats elements) {
        array(slot, type, elements == null ? null : elements.uncopied());
    }

    /** Writes the slot of a pointer to numbers; {@code null} is null. */
    public void array(int slot, GraphType type, Doubles elements) {
        array(slot, type, elements == null ? null : elements.uncopied());
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
            reference(slot, object, Interfaces.of(iid, object));
        }
    }

    /** Writes the slot of a reference to an object; {@code null} is null. */
    public void reference(int slot, byte[] reference) {
        if (reference == null) {
            return;
        }
        int place = object(slot, Frames.REFERENCE, reference.length, reference.length);
        MemorySegment.copy(reference, 0, memory(), Flat.BYTE, place, reference.length);
    }

    /** Writes the slot of a string of characters of 8 bits, which are UTF-8; {@code null} is null. */
    public void text8(int slot, String text) {
        if (text == null) {
            return;
        }
        byte[] characters = Frames.utf8(text);
        int place = object(slot, Frames.TEXT8, characters.length, characters.length);
        MemorySegment.copy(characters, 0, memory(), Flat.BYTE, place, characters.length);
    }

    /** Writes the slot of a string of characters of 16 bits, which are UTF-16; {@code null} is null. */
    public void text16(int slot, String text) {
        if (text == null) {
            return;
        }
        int length = text.length();
        int place = object(slot, Frames.TEXT16, length + 1, 2L * (length + 1));
        long[] words = this.words;
        for (int i = 0; i < length; i++) {
            char character = text.charAt(i);
            if (character == 0) {
                throw invalid("a string has a zero in it, which ends strings");
            }
            words[place + 2 * i >> 3] |= (long) character << 16 * i;
        }
    }

    private static RpcException invalid(String what) {
        return RpcException.of(Hresult.E_INVALIDARG, what);
    }
}
