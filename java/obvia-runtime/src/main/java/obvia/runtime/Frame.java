package obvia.runtime;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.AbstractList;
import java.util.List;
import java.util.Objects;
import java.util.RandomAccess;
import obvia.Bytes;
import obvia.Chars;
import obvia.Doubles;
import obvia.Floats;
import obvia.Guid;
import obvia.Ints;
import obvia.Longs;
import obvia.Shorts;
import obvia.spi.Hold;
import obvia.spi.Scope;

/**
 * A verified frame: a private copy of the received frame, from which views read. Long arrays of
 * numbers are not copied and stay in the peer's memory.
 *
 * <p>The frame is valid until its call returns. Then the copy's memory is reused, and later
 * accesses by views fail. {@code -Dobvia.scope=strict} also rejects accesses by other threads; with
 * {@code -Dobvia.views=collected} each frame has memory of its own, which lives as long as its
 * views.
 */
public final class Frame implements Scope {
    static final boolean IS_STRICT = "strict".equals(System.getProperty("obvia.scope"));
    static final boolean IS_COLLECTED = "collected".equals(System.getProperty("obvia.views"));

    /**
     * The copy; {@code null} before the verification and after the end of the frame, because the
     * copy must not be read then.
     */
    private byte[] bytes;

    private int length;

    /**
     * The memory with the elements of long arrays: the peer's memory of the frame, or a copy if the
     * frame is retained. In place of the elements, {@link #bytes} has their offset from
     * {@link #farAt}. The memory can be {@code null} if the frame has no long arrays.
     */
    MemorySegment far;

    final long farAt;

    /** The reader that receives the frame; {@code null} for a retained frame. */
    private final GraphReader reader;

    /** The thread that may read the frame; {@code null} for any thread. */
    private final Thread owner;

    /** The objects to which the frame's references lead, by the index of the reference. */
    Object[] objects;

    Frame(GraphReader reader, MemorySegment far, long farAt, Thread owner) {
        this.reader = reader;
        this.far = far;
        this.farAt = farAt;
        this.owner = owner;
    }

    /** Makes the bytes readable. */
    void open(byte[] bytes, int length) {
        this.bytes = bytes;
        this.length = length;
        if (IS_COLLECTED) {
            far = null;
        }
    }

    /**
     * Ends the frame. The fence orders the end before later writes to the memory: a reader that
     * sees new content also sees that the frame has ended.
     */
    void end() {
        bytes = null;
        objects = null;
        VarHandle.storeStoreFence();
    }

    /**
     * Returns the bytes, or throws an exception if the frame has ended. If this method returns, all
     * earlier reads saw the frame's content.
     */
    byte[] checked() {
        VarHandle.loadLoadFence();
        return memory();
    }

    /**
     * Returns a frame with the same content that is valid until it is released and uses no memory
     * of the peer.
     */
    Frame keep() {
        Object[] objects = this.objects;
        Frame kept;
        if (reader != null && !IS_COLLECTED) {
            kept = reader.keep(this, length);
        } else {
            kept = new Frame(null, far, farAt, null);
            kept.open(memory(), length);
        }
        kept.objects = objects;
        return kept;
    }

    /** Returns the hold on a retained frame. */
    Hold hold() {
        int bytes = length + (far == null ? 0 : (int) far.byteSize());
        return new Hold() {
            @Override
            public int bytes() {
                return bytes;
            }

            @Override
            public void release() {
                end();
            }
        };
    }

    private byte[] memory() {
        byte[] bytes = this.bytes;
        if (bytes == null) {
            throw ended();
        }
        if (owner != null && owner != Thread.currentThread()) {
            throw new WrongThreadException("only the thread that received the structure may read it");
        }
        return bytes;
    }

    private static IllegalStateException ended() {
        return new IllegalStateException("the structure is no longer valid: its call has returned, or the retained argument was closed");
    }

    @Override
    public void check() {
        memory();
    }

    /** Returns the {@code byte} at an offset. */
    public byte getByte(int at) {
        return memory()[at];
    }

    /** Returns the {@code short} at an offset. */
    public short getShort(int at) {
        return (short) FrameBytes.SHORTS.get(memory(), at);
    }

    /** Returns the {@code char} at an offset. */
    public char getChar(int at) {
        return (char) FrameBytes.CHARS.get(memory(), at);
    }

    /** Returns the {@code int} at an offset. */
    public int getInt(int at) {
        return (int) FrameBytes.INTS.get(memory(), at);
    }

    /** Returns the {@code long} at an offset. */
    public long getLong(int at) {
        return (long) FrameBytes.LONGS.get(memory(), at);
    }

    /** Returns the {@code float} at an offset. */
    public float getFloat(int at) {
        return (float) FrameBytes.FLOATS.get(memory(), at);
    }

    /** Returns the {@code double} at an offset. */
    public double getDouble(int at) {
        return (double) FrameBytes.DOUBLES.get(memory(), at);
    }

    /** Returns the {@code boolean} at an offset. */
    public boolean getBoolean(int at) {
        return memory()[at] != 0;
    }

    /** Returns the GUID at an offset. */
    public Guid getGuid(int at) {
        return Guid.fromWire(getLong(at), getLong(at + 8));
    }

    /** Returns a reader of values without pointers. */
    public FrameReader values() {
        return new FrameReader(MemorySegment.ofArray(memory()), 0, length, 0, "a structure's members");
    }

    /** Returns the offset to which a slot leads; 0 for null. */
    public int place(int slot) {
        return (int) getLong(slot);
    }

    /** Returns the number of elements of an object. */
    public int count(int place) {
        return getInt(place - 4);
    }

    /** Returns the value to which a slot leads; {@code null} for null. */
    public Object one(int slot, GraphType type) {
        int place = place(slot);
        return place == 0 ? null : type.view(this, place);
    }

    /** Returns the values to which a slot leads; {@code null} for null. */
    @SuppressWarnings("unchecked")
    public <T> List<T> list(int slot, GraphType type) {
        int place = place(slot);
        return place == 0 ? null : (List<T>) new Elements(this, place, count(place), type);
    }

    /** Returns the elements of an array of fixed size. */
    @SuppressWarnings("unchecked")
    public <T> List<T> list(int at, int count, GraphType type) {
        return (List<T>) new Elements(this, at, count, type);
    }

    /** Returns the object of a reference; {@code null} for null. */
    @SuppressWarnings("unchecked")
    public <T> T object(int slot) {
        Object[] objects = this.objects;
        int place = place(slot);
        if (place == 0) {
            return null;
        }
        int number = getInt(place - Frames.HEADER);
        if (objects == null) {
            throw ended();
        }
        return (T) objects[number];
    }

    /** Returns the string of 8-bit characters to which a slot leads; {@code null} for null. */
    public String text8(int slot) {
        return FrameBytes.text8(memory(), place(slot));
    }

    /** Returns the string of 16-bit characters to which a slot leads; {@code null} for null. */
    public String text16(int slot) {
        return FrameBytes.text16(memory(), place(slot));
    }

    /** Returns the array to which a slot leads; {@code null} for null. */
    public Bytes bytes(int slot) {
        MemorySegment elements = elements(slot, 1);
        return elements == null ? null : Bytes.of(elements, this);
    }

    /** Returns the array of fixed size at an offset. */
    public Bytes bytes(int at, int count) {
        return Bytes.of(near(at, count * 1), this);
    }

    /** Returns the array to which a slot leads; {@code null} for null. */
    public Shorts shorts(int slot) {
        MemorySegment elements = elements(slot, 2);
        return elements == null ? null : Shorts.of(elements, this);
    }

    /** Returns the array of fixed size at an offset. */
    public Shorts shorts(int at, int count) {
        return Shorts.of(near(at, count * 2), this);
    }

    /** Returns the array to which a slot leads; {@code null} for null. */
    public Chars chars(int slot) {
        MemorySegment elements = elements(slot, 2);
        return elements == null ? null : Chars.of(elements, this);
    }

    /** Returns the array of fixed size at an offset. */
    public Chars chars(int at, int count) {
        return Chars.of(near(at, count * 2), this);
    }

    /** Returns the array to which a slot leads; {@code null} for null. */
    public Ints ints(int slot) {
        MemorySegment elements = elements(slot, 4);
        return elements == null ? null : Ints.of(elements, this);
    }

    /** Returns the array of fixed size at an offset. */
    public Ints ints(int at, int count) {
        return Ints.of(near(at, count * 4), this);
    }

    /** Returns the array to which a slot leads; {@code null} for null. */
    public Longs longs(int slot) {
        MemorySegment elements = elements(slot, 8);
        return elements == null ? null : Longs.of(elements, this);
    }

    /** Returns the array of fixed size at an offset. */
    public Longs longs(int at, int count) {
        return Longs.of(near(at, count * 8), this);
    }

    /** Returns the array to which a slot leads; {@code null} for null. */
    public Floats floats(int slot) {
        MemorySegment elements = elements(slot, 4);
        return elements == null ? null : Floats.of(elements, this);
    }

    /** Returns the array of fixed size at an offset. */
    public Floats floats(int at, int count) {
        return Floats.of(near(at, count * 4), this);
    }

    /** Returns the array to which a slot leads; {@code null} for null. */
    public Doubles doubles(int slot) {
        MemorySegment elements = elements(slot, 8);
        return elements == null ? null : Doubles.of(elements, this);
    }

    /** Returns the array of fixed size at an offset. */
    public Doubles doubles(int at, int count) {
        return Doubles.of(near(at, count * 8), this);
    }

    private MemorySegment near(int at, int length) {
        return MemorySegment.ofArray(memory()).asSlice(at, length);
    }

    private MemorySegment elements(int slot, int size) {
        byte[] bytes = memory();
        int place = place(slot);
        if (place == 0) {
            return null;
        }
        int length = count(place) * size;
        if (far == null || length <= Frames.NEAR_MAX) {
            return MemorySegment.ofArray(bytes).asSlice(place, length);
        }
        return far.asSlice(farAt + getLong(place), length);
    }

    /** A list of elements that are read in place in the frame. */
    private static final class Elements extends AbstractList<Object> implements RandomAccess {
        private final Frame frame;
        private final int place;
        private final int count;
        private final GraphType type;

        Elements(Frame frame, int place, int count, GraphType type) {
            this.frame = frame;
            this.place = place;
            this.count = count;
            this.type = type;
        }

        @Override
        public Object get(int index) {
            return type.view(frame, place + Objects.checkIndex(index, count) * type.size);
        }

        @Override
        public int size() {
            return count;
        }
    }
}
