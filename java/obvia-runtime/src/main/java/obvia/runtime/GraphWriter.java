package obvia.runtime;

import java.lang.foreign.MemorySegment;
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
import obvia.runtime.call.FrameLimit;
import obvia.runtime.call.Pool;

/**
 * Writes a frame with structures that contain pointers: the block, followed by objects in the order
 * of their slots.
 *
 * <p>The frame is written in one pass and without recursion, to private memory that grows as
 * necessary. Then space for the frame is allocated in the area. The targets of an object's pointers
 * wait in a queue. Long arrays of numbers are not copied to the private memory, but directly to the
 * area.
 */
public final class GraphWriter extends GraphWords {
    private static final Pool<GraphWriter> POOL = new Pool<>();

    private GraphKinds kinds;

    /** The objects to be written: a ring buffer. */
    private Object[] values = new Object[64];
    private GraphType[] types = new GraphType[64];
    private int[] places = new int[64];
    private int first;
    private int waiting;

    /**
     * Whether the queue is empty, and the value that is written now is the last object in the
     * frame. The target of the value's pointer then follows the value immediately.
     */
    private boolean isAlone;

    /** The long arrays, and their positions relative to {@link #words}. */
    private MemorySegment[] far = new MemorySegment[4];
    private int[] farPlaces = new int[4];
    private int farCount;

    /**
     * The references: slots, objects and interfaces. The references are marshaled last, because
     * marshaling changes reference counts.
     */
    private int[] referenceSlots = new int[8];
    private Object[] referenced = new Object[8];
    private InterfaceInfo<?>[] referenceTypes = new InterfaceInfo<?>[8];
    private int referenceCount;

    private final Identities seen = new Identities();

    private GraphWriter() {}

    /**
     * Returns a writer of a frame with objects of these types and a block of {@code block} zero
     * bytes.
     */
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

    /** Ends the frame and returns the writer to the pool. */
    void close() {
        clear();
        if (values.length > Pool.KEPT_MAX / 32) {
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

    /** Writes the queued objects and returns the length of the frame. */
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
        if (length() > FrameLimit.BYTES) {
            throw FrameLimit.exceeded(length());
        }
        return length();
    }

    /**
     * Writes the queued objects, then marshals the object references among them as arguments of a
     * call. Returns the length of the frame.
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

    /** Writes the queued objects, with references in the results of a call. */
    int finish(InCall call) {
        finish();
        for (int i = 0; i < referenceCount; i++) {
            reference(referenceSlots[i], Marshal.reference(call, referenced[i], referenceTypes[i]));
        }
        return length();
    }

    /**
     * Writes the queued objects with references as indices into the returned objects, for frames
     * that do not leave this process.
     */
    Object[] finishHere() {
        finish();
        for (int i = 0; i < referenceCount; i++) {
            putInt(object(referenceSlots[i], Frames.REFERENCE, 4, 4), i);
        }
        return Arrays.copyOf(referenced, referenceCount);
    }

    private void writeAll(GraphType type, Object[] elements, int place) {
        isAlone = false;
        for (Object element : elements) {
            type.write(this, element, place);
            place += type.size;
        }
    }

    /** Copies the frame to its destination. */
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

    // Targets of slots.

    /** Writes the slot of an exclusive pointer to one value; {@code null} leaves it 0. */
    public void one(int slot, GraphType type, Object value) {
        if (value == null) {
            return;
        }
        int place = place(slot, type, value);
        if (type.isShared() && !seen.add(value, place + 8 * beyond)) {
            throw invalid("several pointers lead to one structure, or pointers form a ring, but each must lead to a structure of its own");
        }
        push(type, value, place);
    }

    private int place(int slot, GraphType type, Object value) {
        int count = type.tail == null ? 1 : type.count(value);
        return object(slot, kinds.number(type), count, type.length(count));
    }

    // The next two methods are for linked lists: structures whose last pointer leads to another
    // structure of the same type. The structures of a list are written in a loop instead of through
    // the queue, in the same order. Positions are indices of words. The caller passes the position
    // of the next object, because the caller has that position in a register.

    /**
     * Writes the slot of a pointer to numbers; {@code null} leaves it 0.
     *
     * @param slot the index of the slot's word
     * @param end the beginning of the next object; used only if the queue is empty and the list is
     *     the last object in the frame
     * @return the beginning of the next object, after the numbers were written
     */
    public int array(int slot, int end, GraphType type, Bytes elements) {
        if (elements == null) {
            return end;
        }
        long[] words = this.words;
        int count = elements.size();
        int after = end + HEADER + (count + 7 >> 3);
        if (!isAlone || count > Frames.NEAR_MAX || after > words.length) {
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
     * Writes the slot of a structure's last pointer, which leads to another structure of the same
     * type.
     *
     * @param slot the index of the slot's word
     * @param end the beginning of the next object; used only if the queue is empty and the list is
     *     the last object in the frame
     * @return the word at which the caller must write the value at once; 0 if the caller must write
     *     nothing
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

    /** Writes a structure that is a member of another structure. */
    public void inner(int at, GraphType type, Object value) {
        isAlone = false;
        type.write(this, value, at);
    }

    /**
     * Writes the slot of a pointer to one value to which other pointers may lead as well;
     * {@code null} leaves it 0.
     */
    public void shared(int slot, GraphType type, Object value) {
        if (value == null) {
            return;
        }
        int known = seen.find(value);
        if (known < 0) {
            throw invalid("two pointers lead to the same structure, but one of them must be its only pointer");
        }
        if (known > 0) {
            putLong(slot, known);
            return;
        }
        int place = place(slot, type, value);
        seen.share(value, place + 8 * beyond);
        push(type, value, place);
    }

    /** Writes the slot of a pointer to several values; {@code null} leaves it 0. */
    public void list(int slot, GraphType type, List<?> values) {
        if (values == null) {
            return;
        }
        // A private copy, so that other threads cannot change the elements.
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
        if (length <= Frames.NEAR_MAX) {
            int place = object(slot, kinds.number(type), count, length);
            MemorySegment.copy(elements, 0, memory(), place, length);
            return;
        }
        object(slot, kinds.number(type), count, 0);
        if (length() + length > FrameLimit.BYTES) {
            throw FrameLimit.exceeded(length() + length);
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

    /** Writes the slot of a pointer to numbers; {@code null} leaves it 0. */
    public void array(int slot, GraphType type, Bytes elements) {
        if (elements != null && elements.size() <= Frames.NEAR_MAX) {
            int place = object(slot, kinds.number(type), elements.size(), elements.size());
            elements.copyTo(words, place >> 3);
            return;
        }
        array(slot, type, elements == null ? null : elements.uncopied());
    }

    /** Writes the slot of a pointer to numbers; {@code null} leaves it 0. */
    public void array(int slot, GraphType type, Shorts elements) {
        array(slot, type, elements == null ? null : elements.uncopied());
    }

    /** Writes the slot of a pointer to numbers; {@code null} leaves it 0. */
    public void array(int slot, GraphType type, Chars elements) {
        array(slot, type, elements == null ? null : elements.uncopied());
    }

    /** Writes the slot of a pointer to numbers; {@code null} leaves it 0. */
    public void array(int slot, GraphType type, Ints elements) {
        array(slot, type, elements == null ? null : elements.uncopied());
    }

    /** Writes the slot of a pointer to numbers; {@code null} leaves it 0. */
    public void array(int slot, GraphType type, Longs elements) {
        array(slot, type, elements == null ? null : elements.uncopied());
    }

    /** Writes the slot of a pointer to numbers; {@code null} leaves it 0. */
    public void array(int slot, GraphType type, Floats elements) {
        array(slot, type, elements == null ? null : elements.uncopied());
    }

    /** Writes the slot of a pointer to numbers; {@code null} leaves it 0. */
    public void array(int slot, GraphType type, Doubles elements) {
        array(slot, type, elements == null ? null : elements.uncopied());
    }

    /**
     * Writes the slot of a reference to an object with this interface; {@code null} leaves the slot
     * 0.
     */
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

    /**
     * Writes the slot of a reference to an object whose interface is given by its IID; {@code null}
     * leaves it 0.
     */
    public void reference(int slot, Object object, Guid iid) {
        if (object != null) {
            reference(slot, object, Interfaces.of(iid, object));
        }
    }

    /** Writes the slot of an object reference; {@code null} leaves it 0. */
    public void reference(int slot, byte[] reference) {
        if (reference == null) {
            return;
        }
        int place = object(slot, Frames.REFERENCE, reference.length, reference.length);
        MemorySegment.copy(reference, 0, memory(), Flat.BYTE, place, reference.length);
    }

    /** Writes the slot of a string of 8-bit characters in UTF-8; {@code null} leaves it 0. */
    public void text8(int slot, String text) {
        if (text == null) {
            return;
        }
        byte[] characters = Frames.utf8(text);
        int place = object(slot, Frames.TEXT8, characters.length, characters.length);
        MemorySegment.copy(characters, 0, memory(), Flat.BYTE, place, characters.length);
    }

    /** Writes the slot of a string of 16-bit characters in UTF-16; {@code null} leaves it 0. */
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
                throw invalid("a string contains a zero, which would end it");
            }
            words[place + 2 * i >> 3] |= (long) character << 16 * i;
        }
    }

    private static RpcException invalid(String what) {
        return RpcException.of(Hresult.E_INVALIDARG, what);
    }
}
