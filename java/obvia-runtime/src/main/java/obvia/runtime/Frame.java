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
 * A frame that was checked, as views read it: a private copy, but for long arrays of numbers, which are where the peer has them.
 *
 * <p>It is there until its call returns: then the copy's memory is used again, and whoever still has a view of it is told so. {@code -Dobvia.scope=strict} keeps other threads from it
 * as well; {@code -Dobvia.views=collected} gives each frame memory of its own, which lasts as long as there are views.
 */
public final class Frame implements Scope {
    static final boolean IS_STRICT = "strict".equals(System.getProperty("obvia.scope"));
    static final boolean IS_COLLECTED = "collected".equals(System.getProperty("obvia.views"));

    /** The copy; {@code null} when it must not be read yet, or any longer. */
    private byte[] bytes;

    private int length;

    /** Where the peer has the frame, or what was kept of it. In the copy, instead of the elements of a long array, is where they are from {@link #farAt} on. */
    MemorySegment far;

    final long farAt;

    /** What receives it; {@code null} for what is kept. */
    private final GraphReader reader;

    /** Whose it is; {@code null} for everybody's. */
    private final Thread owner;

    /** What its references lead to, by their numbers. */
    Object[] objects;

    Frame(GraphReader reader, MemorySegment far, long farAt, Thread owner) {
        this.reader = reader;
        this.far = far;
        this.farAt = farAt;
        this.owner = owner;
    }

    /** Its bytes can be read. */
    void open(byte[] bytes, int length) {
        this.bytes = bytes;
        this.length = length;
        if (IS_COLLECTED) {
            far = null;
        }
    }

    /** Its bytes are not to be read any longer: whoever sees what is written there next sees that they are not. */
    void end() {
        bytes = null;
        objects = null;
        VarHandle.storeStoreFence();
    }

    /** Its bytes, and whatever was read before has been its content. */
    byte[] checked() {
        VarHandle.loadLoadFence();
        return memory();
    }

    /** Another of the same content, which lasts until it is let go. Nothing of the peer's is in it. */
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

    /** What a frame that is kept holds. */
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
            throw new WrongThreadException("a structure may be read by the thread only that it was passed to");
        }
        return bytes;
    }

    private static IllegalStateException ended() {
        return new IllegalStateException("a structure is read after the call that it came with has returned, or what was retained has been closed");
    }

    @Override
    public void check() {
        memory();
    }

    /** A {@code byte}. */
    public byte getByte(int at) {
        return memory()[at];
    }

    /** A {@code short}. */
    public short getShort(int at) {
        return (short) GraphWriter.SHORTS.get(memory(), at);
    }

    /** A {@code char}. */
    public char getChar(int at) {
        return (char) GraphWriter.CHARS.get(memory(), at);
    }

    /** An {@code int}. */
    public int getInt(int at) {
        return (int) GraphWriter.INTS.get(memory(), at);
    }

    /** A {@code long}. */
    public long getLong(int at) {
        return (long) GraphWriter.LONGS.get(memory(), at);
    }

    /** A {@code float}. */
    public float getFloat(int at) {
        return (float) GraphWriter.FLOATS.get(memory(), at);
    }

    /** A {@code double}. */
    public double getDouble(int at) {
        return (double) GraphWriter.DOUBLES.get(memory(), at);
    }

    /** A {@code boolean}. */
    public boolean getBoolean(int at) {
        return memory()[at] != 0;
    }

    /** A GUID. */
    public Guid getGuid(int at) {
        return Guid.fromWire(getLong(at), getLong(at + 8));
    }

    /** A reader of values that have no pointers in them. */
    public FrameReader values() {
        return new FrameReader(MemorySegment.ofArray(memory()), 0, length, 0, "a structure's members");
    }

    /** Where what a slot leads to is; 0 for null. */
    public int place(int slot) {
        return (int) getLong(slot);
    }

    /** How many elements an object has. */
    public int count(int place) {
        return getInt(place - 4);
    }

    /** The value that a slot leads to; {@code null} for null. */
    public Object one(int slot, GraphType type) {
        int place = place(slot);
        return place == 0 ? null : type.view(this, place);
    }

    /** The values that a slot leads to; {@code null} for null. */
    @SuppressWarnings("unchecked")
    public <T> List<T> list(int slot, GraphType type) {
        int place = place(slot);
        return place == 0 ? null : (List<T>) new Elements(this, place, count(place), type);
    }

    /** The elements of an array of fixed size. */
    @SuppressWarnings("unchecked")
    public <T> List<T> list(int at, int count, GraphType type) {
        return (List<T>) new Elements(this, at, count, type);
    }

    /** What a reference leads to; {@code null} for null. */
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

    /** The string of characters of 8 bits that a slot leads to; {@code null} for null. */
    public String text8(int slot) {
        return GraphReader.text8(memory(), place(slot));
    }

    /** The string of characters of 16 bits that a slot leads to; {@code null} for null. */
    public String text16(int slot) {
        return GraphReader.text16(memory(), place(slot));
    }

    /** The array that a slot leads to; {@code null} for null. */
    public Bytes bytes(int slot) {
        MemorySegment elements = elements(slot, 1);
        return elements == null ? null : Bytes.of(elements, this);
    }

    /** An array of fixed size. */
    public Bytes bytes(int at, int count) {
        return Bytes.of(near(at, count * 1), this);
    }

    /** The array that a slot leads to; {@code null} for null. */
    public Shorts shorts(int slot) {
        MemorySegment elements = elements(slot, 2);
        return elements == null ? null : Shorts.of(elements, this);
    }

    /** An array of fixed size. */
    public Shorts shorts(int at, int count) {
        return Shorts.of(near(at, count * 2), this);
    }

    /** The array that a slot leads to; {@code null} for null. */
    public Chars chars(int slot) {
        MemorySegment elements = elements(slot, 2);
        return elements == null ? null : Chars.of(elements, this);
    }

    /** An array of fixed size. */
    public Chars chars(int at, int count) {
        return Chars.of(near(at, count * 2), this);
    }

    /** The array that a slot leads to; {@code null} for null. */
    public Ints ints(int slot) {
        MemorySegment elements = elements(slot, 4);
        return elements == null ? null : Ints.of(elements, this);
    }

    /** An array of fixed size. */
    public Ints ints(int at, int count) {
        return Ints.of(near(at, count * 4), this);
    }

    /** The array that a slot leads to; {@code null} for null. */
    public Longs longs(int slot) {
        MemorySegment elements = elements(slot, 8);
        return elements == null ? null : Longs.of(elements, this);
    }

    /** An array of fixed size. */
    public Longs longs(int at, int count) {
        return Longs.of(near(at, count * 8), this);
    }

    /** The array that a slot leads to; {@code null} for null. */
    public Floats floats(int slot) {
        MemorySegment elements = elements(slot, 4);
        return elements == null ? null : Floats.of(elements, this);
    }

    /** An array of fixed size. */
    public Floats floats(int at, int count) {
        return Floats.of(near(at, count * 4), this);
    }

    /** The array that a slot leads to; {@code null} for null. */
    public Doubles doubles(int slot) {
        MemorySegment elements = elements(slot, 8);
        return elements == null ? null : Doubles.of(elements, this);
    }

    /** An array of fixed size. */
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
        if (far == null || length <= GraphWriter.NEAR_MAX) {
            return MemorySegment.ofArray(bytes).asSlice(place, length);
        }
        return far.asSlice(farAt + getLong(place), length);
    }

    /** Elements as they lie in the frame. */
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
