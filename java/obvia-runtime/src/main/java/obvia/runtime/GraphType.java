package obvia.runtime;

import java.util.Arrays;
import java.util.Objects;
import java.util.function.IntFunction;
import obvia.Guid;

/**
 * A type that pointers lead to: how its values are checked and read in frames, and written to them.
 *
 * <p>The compiler makes one for each structure. Offsets are those of a 64-bit machine's C, in frames as in memory: docs/flat.md.
 */
public abstract class GraphType {
    /** {@code boolean}. */
    public static final GraphType BOOLEAN = new Value(1, true) {
        @Override
        protected void verify(GraphReader in, int at) {
            in.checkBoolean(at);
        }

        @Override
        protected void write(GraphWriter out, Object value, int at) {
            out.putBoolean(at, (Boolean) value);
        }

        @Override
        protected Object view(Frame frame, int at) {
            return frame.getBoolean(at);
        }
    };

    /** {@code byte}. */
    public static final GraphType BYTE = ofByte();
    /** {@code char}. */
    public static final GraphType CHAR = ofByte();
    /** {@code small}. */
    public static final GraphType SMALL = ofByte();
    /** {@code unsigned small}. */
    public static final GraphType USMALL = ofByte();
    /** {@code wchar_t}. */
    public static final GraphType WCHAR = new Value(2, false) {
        @Override
        protected void write(GraphWriter out, Object value, int at) {
            out.putChar(at, (Character) value);
        }

        @Override
        protected Object view(Frame frame, int at) {
            return frame.getChar(at);
        }
    };
    /** {@code short}. */
    public static final GraphType SHORT = ofShort();
    /** {@code unsigned short}. */
    public static final GraphType USHORT = ofShort();
    /** {@code long}. */
    public static final GraphType LONG = ofInt();
    /** {@code unsigned long}. */
    public static final GraphType ULONG = ofInt();
    /** {@code HRESULT}. */
    public static final GraphType HRESULT = ofInt();
    /** {@code hyper}. */
    public static final GraphType HYPER = ofLong();
    /** {@code unsigned hyper}. */
    public static final GraphType UHYPER = ofLong();
    /** {@code float}. */
    public static final GraphType FLOAT = new Value(4, false) {
        @Override
        protected void write(GraphWriter out, Object value, int at) {
            out.putFloat(at, (Float) value);
        }

        @Override
        protected Object view(Frame frame, int at) {
            return frame.getFloat(at);
        }
    };
    /** {@code double}. */
    public static final GraphType DOUBLE = new Value(8, false) {
        @Override
        protected void write(GraphWriter out, Object value, int at) {
            out.putDouble(at, (Double) value);
        }

        @Override
        protected Object view(Frame frame, int at) {
            return frame.getDouble(at);
        }
    };
    /** {@code GUID}. */
    public static final GraphType GUID = new Value(16, true) {
        @Override
        protected void write(GraphWriter out, Object value, int at) {
            out.putGuid(at, (Guid) value);
        }

        @Override
        protected Object view(Frame frame, int at) {
            return frame.getGuid(at);
        }
    };

    /** What pointers to strings of characters of 8 bits are made of. */
    public static final Text TEXT8 = new Text(TextPointer8::new);
    /** What pointers to strings of characters of 16 bits are made of. */
    public static final Text TEXT16 = new Text(TextPointer16::new);

    /** Pointers to values of this type, by their classes. */
    private final GraphType[] pointers = new GraphType[3];

    /** Its place among all types. */
    final int index;

    /** Bytes of a value. */
    final int size;

    /** Where the array begins that a value ends in, and what its elements are; {@code null} where there is none. */
    private final int tailAt;

    final GraphType tail;

    /** Whether arrays of it are plain numbers, which there is nothing to look at in. */
    final boolean isNumber;

    /** A type whose values have so many bytes. */
    protected GraphType(int size) {
        this(size, false, 0, null);
    }

    /** The same where a value ends in an array of these elements, which begins at a place of it. */
    protected GraphType(int size, int tailAt, GraphType tail) {
        this(size, false, tailAt, tail);
    }

    // Nobody asks it for anything before it is done.
    @SuppressWarnings("this-escape")
    private GraphType(int size, boolean isNumber, int tailAt, GraphType tail) {
        index = GraphKinds.add(this);
        this.size = size;
        this.isNumber = isNumber;
        this.tailAt = tailAt;
        this.tail = tail;
    }

    /** References to objects of an interface, as elements of arrays. */
    public static GraphType object(Class<?> type) {
        return ObjectPointer.ALL.get(type);
    }

    /** Pointers to values of this type, as elements of arrays: each has what it leads to for its value. */
    public final GraphType pointer(int pointer) {
        synchronized (pointers) {
            if (pointers[pointer] == null) {
                pointers[pointer] = new Pointer(this, pointer);
            }
            return pointers[pointer];
        }
    }

    /** Checks the value at a place, and follows its slots. */
    protected void verify(GraphReader in, int at) {}

    /** Writes a value at a place, which is all zeros, and what it points to behind all that was written before. */
    protected abstract void write(GraphWriter out, Object value, int at);

    /** The value at a place of a frame that was checked, as it lies there. */
    protected abstract Object view(Frame frame, int at);

    /** The value at a place of a frame that was checked, with all that it points to, apart from the frame. */
    protected Object build(GraphReader in, int at) {
        return view(in.frame(), at);
    }

    /** Of a value that ends in an array: how many elements that has. */
    protected int count(Object value) {
        return 1;
    }

    /** Bytes of an object with so many elements. */
    final long length(long count) {
        return tail == null ? count * size : Math.max(size, tailAt + count * tail.size);
    }

    /** Whether several pointers may lead to a value, as full pointers do. */
    protected boolean isShared() {
        return false;
    }

    /** Of a type that several pointers may lead to: a value to be filled when all others are there. */
    protected Object make() {
        return null;
    }

    /** Fills a value that was made before by what is at a place. */
    protected void fill(GraphReader in, int at, Object value) {}

    /** A value without pointers. */
    private abstract static class Value extends GraphType {
        Value(int size, boolean isLookedAt) {
            super(size, !isLookedAt, 0, null);
        }
    }

    /** An element of an array that leads elsewhere. */
    private abstract static class Slot extends GraphType {
        final int pointer;

        Slot(int pointer) {
            super(8);
            this.pointer = pointer;
        }

        Object checked(Object value) {
            return pointer == GraphReader.REF ? Objects.requireNonNull(value, "an element") : value;
        }
    }

    private static final class Pointer extends Slot {
        private final GraphType to;

        Pointer(GraphType to, int pointer) {
            super(pointer);
            this.to = to;
        }

        @Override
        protected void verify(GraphReader in, int at) {
            in.checkOne(at, to, pointer);
        }

        @Override
        protected void write(GraphWriter out, Object value, int at) {
            if (pointer == GraphReader.FULL) {
                out.shared(at, to, value);
            } else {
                out.one(at, to, checked(value));
            }
        }

        @Override
        protected Object view(Frame frame, int at) {
            return frame.one(at, to);
        }

        @Override
        protected Object build(GraphReader in, int at) {
            return to.isNumber ? in.number(at, to) : in.one(at);
        }
    }

    private static final class TextPointer8 extends Slot {
        TextPointer8(int pointer) {
            super(pointer);
        }

        @Override
        protected void verify(GraphReader in, int at) {
            in.checkText8(at, pointer);
        }

        @Override
        protected void write(GraphWriter out, Object value, int at) {
            out.text8(at, (String) checked(value));
        }

        @Override
        protected Object view(Frame frame, int at) {
            return frame.text8(at);
        }
    }

    private static final class TextPointer16 extends Slot {
        TextPointer16(int pointer) {
            super(pointer);
        }

        @Override
        protected void verify(GraphReader in, int at) {
            in.checkText16(at, pointer);
        }

        @Override
        protected void write(GraphWriter out, Object value, int at) {
            out.text16(at, (String) checked(value));
        }

        @Override
        protected Object view(Frame frame, int at) {
            return frame.text16(at);
        }
    }

    private static final class ObjectPointer extends Slot {
        private static final ClassValue<GraphType> ALL = new ClassValue<>() {
            @Override
            protected GraphType computeValue(Class<?> type) {
                return new ObjectPointer(type);
            }
        };

        /** Not its description, which may be in the making. */
        private final Class<?> type;

        ObjectPointer(Class<?> type) {
            super(GraphReader.UNIQUE);
            this.type = type;
        }

        @Override
        protected void verify(GraphReader in, int at) {
            in.checkReference(at, InterfaceInfo.of(type));
        }

        @Override
        protected void write(GraphWriter out, Object value, int at) {
            out.reference(at, value, InterfaceInfo.of(type));
        }

        @Override
        protected Object view(Frame frame, int at) {
            return frame.object(at);
        }
    }

    /** Strings, which have no type among an interface's own: pointers to them have. */
    public static final class Text {
        private final GraphType[] pointers = new GraphType[3];

        private Text(IntFunction<GraphType> make) {
            Arrays.setAll(pointers, make);
        }

        /** Pointers to such strings, as elements of arrays. */
        public GraphType pointer(int pointer) {
            return pointers[pointer];
        }
    }

    private static GraphType ofByte() {
        return new Value(1, false) {
            @Override
            protected void write(GraphWriter out, Object value, int at) {
                out.putByte(at, (Byte) value);
            }

            @Override
            protected Object view(Frame frame, int at) {
                return frame.getByte(at);
            }
        };
    }

    private static GraphType ofShort() {
        return new Value(2, false) {
            @Override
            protected void write(GraphWriter out, Object value, int at) {
                out.putShort(at, (Short) value);
            }

            @Override
            protected Object view(Frame frame, int at) {
                return frame.getShort(at);
            }
        };
    }

    private static GraphType ofInt() {
        return new Value(4, false) {
            @Override
            protected void write(GraphWriter out, Object value, int at) {
                out.putInt(at, (Integer) value);
            }

            @Override
            protected Object view(Frame frame, int at) {
                return frame.getInt(at);
            }
        };
    }

    private static GraphType ofLong() {
        return new Value(8, false) {
            @Override
            protected void write(GraphWriter out, Object value, int at) {
                out.putLong(at, (Long) value);
            }

            @Override
            protected Object view(Frame frame, int at) {
                return frame.getLong(at);
            }
        };
    }
}
