package obvia.runtime;

import java.util.Objects;
import obvia.Guid;

/**
 * A type to which pointers lead. The type verifies, reads and writes its values in frames.
 *
 * <p>The compiler generates a subclass for each structure. The offsets of members in frames are
 * those of C on a 64-bit machine: docs/flat.md.
 */
public abstract class GraphType {
    /** The type of IDL's {@code boolean}. */
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

    /** The type of IDL's {@code byte}. */
    public static final GraphType BYTE = ofByte();
    /** The type of IDL's {@code char}. */
    public static final GraphType CHAR = ofByte();
    /** The type of IDL's {@code small}. */
    public static final GraphType SMALL = ofByte();
    /** The type of IDL's {@code unsigned small}. */
    public static final GraphType USMALL = ofByte();
    /** The type of IDL's {@code wchar_t}. */
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
    /** The type of IDL's {@code short}. */
    public static final GraphType SHORT = ofShort();
    /** The type of IDL's {@code unsigned short}. */
    public static final GraphType USHORT = ofShort();
    /** The type of IDL's {@code long}. */
    public static final GraphType LONG = ofInt();
    /** The type of IDL's {@code unsigned long}. */
    public static final GraphType ULONG = ofInt();
    /** The type of IDL's {@code HRESULT}. */
    public static final GraphType HRESULT = ofInt();
    /** The type of IDL's {@code hyper}. */
    public static final GraphType HYPER = ofLong();
    /** The type of IDL's {@code unsigned hyper}. */
    public static final GraphType UHYPER = ofLong();
    /** The type of IDL's {@code float}. */
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
    /** The type of IDL's {@code double}. */
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
    /** The type of IDL's {@code GUID}. */
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

    /** The type of pointers to strings of 8-bit characters. */
    public static final StringType TEXT8 = new StringType(TextPointer8::new);
    /** The type of pointers to strings of 16-bit characters. */
    public static final StringType TEXT16 = new StringType(TextPointer16::new);

    /** The types of pointers to values of this type, by the kind of pointer. */
    private final GraphType[] pointers = new GraphType[3];

    /** The index of this type among all types. */
    final int index;

    /** The size of a value in bytes. */
    final int size;

    /**
     * The offset of the array at a value's end, and its element type. The type is {@code null} if
     * there is no such array.
     */
    private final int tailAt;

    final GraphType tail;

    /** Whether arrays of this type need no verification: any content is valid. */
    final boolean isNumber;

    /** Creates a type whose values have {@code size} bytes. */
    protected GraphType(int size) {
        this(size, false, 0, null);
    }

    /** Creates a type whose values end in an array of {@code tail} at offset {@code tailAt}. */
    protected GraphType(int size, int tailAt, GraphType tail) {
        this(size, false, tailAt, tail);
    }

    // No other code uses the type before its construction is complete.
    @SuppressWarnings("this-escape")
    private GraphType(int size, boolean isNumber, int tailAt, GraphType tail) {
        index = GraphKinds.add(this);
        this.size = size;
        this.isNumber = isNumber;
        this.tailAt = tailAt;
        this.tail = tail;
    }

    /** Returns the type of array elements that are references to objects of an interface. */
    public static GraphType object(Class<?> type) {
        return ObjectPointer.ALL.get(type);
    }

    /**
     * Returns the type of array elements that are pointers to values of this type. In Java, such an
     * element is the value to which the pointer leads.
     */
    public final GraphType pointer(int pointer) {
        synchronized (pointers) {
            if (pointers[pointer] == null) {
                pointers[pointer] = new Pointer(this, pointer);
            }
            return pointers[pointer];
        }
    }

    /** Verifies the value at an offset and follows its slots. */
    protected void verify(GraphReader in, int at) {}

    /**
     * Writes a value at an offset, where the memory is zero, and appends the targets of its
     * pointers.
     */
    protected abstract void write(GraphWriter out, Object value, int at);

    /** Returns the value at an offset of a verified frame, as a view. */
    protected abstract Object view(Frame frame, int at);

    /**
     * Builds the value at an offset of a verified frame, with the targets of its pointers,
     * independent of the frame.
     */
    protected Object build(GraphReader in, int at) {
        return view(in.frame(), at);
    }

    /**
     * Returns the number of elements of the array at a value's end; 1 if the type has no such
     * array.
     */
    protected int count(Object value) {
        return 1;
    }

    /** Returns the size in bytes of an object with {@code count} elements. */
    final long length(long count) {
        return tail == null ? count * size : Math.max(size, tailAt + count * tail.size);
    }

    /** Whether several pointers may lead to one value, as full pointers may. */
    protected boolean isShared() {
        return false;
    }

    /**
     * Creates an empty value of a type to which several pointers may lead; {@code null} for other
     * types. {@link #fill} completes the value when all other values exist.
     */
    protected Object make() {
        return null;
    }

    /** Fills a value that {@link #make} has created with the content at an offset. */
    protected void fill(GraphReader in, int at, Object value) {}

    /** A type of values without pointers. */
    private abstract static class Value extends GraphType {
        Value(int size, boolean isLookedAt) {
            super(size, !isLookedAt, 0, null);
        }
    }

    /** A type of array elements that are slots: each holds the offset of an object, or 0 for null. */
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

        /**
         * The interface's class. The interface's description can still be under construction when
         * this type is created.
         */
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
