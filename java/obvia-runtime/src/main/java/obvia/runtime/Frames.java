package obvia.runtime;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.function.LongSupplier;
import obvia.Bytes;
import obvia.Chars;
import obvia.Doubles;
import obvia.Floats;
import obvia.Hresult;
import obvia.Ints;
import obvia.Longs;
import obvia.RpcException;
import obvia.Shorts;

/**
 * Computations before a frame is written: the frame's length, and the checks of the values against
 * the interface.
 *
 * <p>Proxies perform these computations before they get a channel; stubs perform them before they
 * allocate the results.
 */
public final class Frames {
    /**
     * The maximum length in bytes of a frame whose length is computed before the frame is written.
     */
    static final int FRAME_MAX = Integer.MAX_VALUE;

    /** The maximum size in bytes of an array that is copied to private memory. */
    static final int NEAR_MAX = 256;

    /** The size of an object's header in bytes: the type and the number of elements. */
    static final int HEADER = 8;

    /** The type of an object reference. */
    static final int REFERENCE = 1;
    /** The type of a string of 8-bit characters. */
    static final int TEXT8 = 2;
    /** The type of a string of 16-bit characters. */
    static final int TEXT16 = 3;
    /** The number of an interface's first type. */
    static final int KIND_FIRST = 16;

    private Frames() {}

    /** Rounds up to the alignment of objects. */
    static long aligned(long length) {
        return (length + 7) & -8;
    }

    /**
     * Returns the length of a frame with one more object.
     *
     * @param length the length without the object
     * @param count the number of the object's elements
     * @param size the size of an element in bytes
     * @throws RpcException with E_OUTOFMEMORY if the frame would be too long
     */
    public static int plus(int length, int count, int size) {
        return plus(length, (long) count * size);
    }

    /** Returns the length of a frame with one more array that may be passed by reference. */
    public static int plus(int length, MemorySegment array) {
        return plus(length, array.byteSize());
    }

    private static int plus(int length, long bytes) {
        long total = (long) length + HEADER + aligned(bytes);
        if (bytes > FRAME_MAX || total > FRAME_MAX) {
            throw RpcException.of(Hresult.E_OUTOFMEMORY, "the arguments or results have " + total + " bytes; the limit is " + FRAME_MAX);
        }
        return (int) total;
    }

    /**
     * Returns the length of a frame with one more object of bytes or 8-bit characters. {@code null}
     * adds nothing.
     */
    public static int plus(int length, byte[] bytes) {
        return bytes == null ? length : plus(length, bytes.length, 1);
    }

    /**
     * Returns the length of a frame with one more object of 16-bit characters. {@code null} adds
     * nothing.
     */
    public static int plus(int length, char[] characters) {
        return characters == null ? length : plus(length, characters.length, 2);
    }

    /**
     * Encodes a string in 8-bit characters: UTF-8 with a terminating zero. {@code null} stays
     * {@code null}.
     *
     * @throws RpcException with E_INVALIDARG if the string has a zero or an unpaired surrogate
     */
    public static byte[] utf8(String text) {
        if (text == null) {
            return null;
        }
        refuseZero(text);
        try {
            ByteBuffer encoded = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
            byte[] bytes = new byte[encoded.remaining() + 1];
            encoded.get(bytes, 0, bytes.length - 1);
            return bytes;
        } catch (CharacterCodingException e) {
            throw RpcException.of(Hresult.E_INVALIDARG, "a string with half of a surrogate pair cannot be passed as UTF-8", e);
        }
    }

    /**
     * Encodes a string in 16-bit characters: UTF-16 with a terminating zero. {@code null} stays
     * {@code null}.
     *
     * @throws RpcException with E_INVALIDARG if the string has a zero
     */
    public static char[] utf16(String text) {
        if (text == null) {
            return null;
        }
        refuseZero(text);
        char[] characters = new char[text.length() + 1];
        text.getChars(0, text.length(), characters, 0);
        return characters;
    }

    private static void refuseZero(String text) {
        if (text.indexOf('\0') >= 0) {
            throw invalid("a string contains a zero, which would end it");
        }
    }

    /**
     * Returns the value of a conformance expression as a number of elements.
     *
     * @throws RpcException with E_INVALIDARG if no array can have this number
     */
    public static int count(long value) {
        if (value < 0 || value > FRAME_MAX) {
            throw invalid("an array's size is invalid: " + value);
        }
        return (int) value;
    }

    /**
     * Returns the value of a conformance expression as a number of elements. Fails with
     * E_INVALIDARG if the value is undefined.
     */
    public static int count(LongSupplier expression) {
        try {
            return count(expression.getAsLong());
        } catch (ArithmeticException e) {
            throw RpcException.of(Hresult.E_INVALIDARG, "an array's size cannot be computed: " + e.getMessage(), e);
        }
    }

    /** Checks that an array has {@code meant} elements, as the interface requires. */
    public static void checkLength(long length, long meant) {
        if (length != meant) {
            throw invalid("an array has " + length + " elements, expected " + meant);
        }
    }

    /**
     * Checks that a result of a method is {@code null} exactly if its argument is, as
     * [in, out, unique] requires.
     *
     * @param name the parameter's name
     */
    public static void checkPresent(Object argument, Object result, String name) {
        if (argument == null && result != null) {
            throw invalid("the argument " + name + " is null, but its result is not");
        } else if (argument != null && result == null) {
            throw invalid("the result " + name + " is null, but its argument is not");
        }
    }

    /** Whether an array contains a zero, or has no elements. */
    public static boolean isEnded(byte[] characters) {
        for (byte character : characters) {
            if (character == 0) {
                return true;
            }
        }
        return characters.length == 0;
    }

    /** Whether an array contains a zero, or has no elements. */
    public static boolean isEnded(short[] characters) {
        for (short character : characters) {
            if (character == 0) {
                return true;
            }
        }
        return characters.length == 0;
    }

    /** Whether an array contains a zero, or has no elements. */
    public static boolean isEnded(char[] characters) {
        for (char character : characters) {
            if (character == 0) {
                return true;
            }
        }
        return characters.length == 0;
    }

    /** Checks that the string that a method has written to the array {@code name} ends within it. */
    public static void checkEnded(boolean isEnded, String name) {
        if (!isEnded) {
            throw invalid("the string " + name + " does not end within its array");
        }
    }

    /**
     * Checks that this thread, and thus the method, can access an array that may be passed by
     * reference. The array's memory must be open, must be writable if the method writes the array,
     * and must consist of whole elements.
     *
     * @param size the size of an element in bytes
     */
    public static void check(MemorySegment array, boolean isWritten, int size) {
        if (!array.isAccessibleBy(Thread.currentThread()) || !array.scope().isAlive()) {
            throw invalid("an array's memory was closed, or belongs to another thread");
        }
        if (isWritten && array.isReadOnly()) {
            throw invalid("the method writes an array whose memory is read-only");
        }
        if (array.byteSize() % size != 0) {
            throw invalid("an array has " + array.byteSize() + " bytes, which is not a multiple of its elements' " + size);
        }
    }

    /**
     * Allocates memory for a copied array that may be passed by reference, aligned for any element
     * type.
     */
    public static MemorySegment room(int count, int size) {
        if (size == 1) {
            return MemorySegment.ofArray(new byte[count]);
        }
        long bytes = (long) count * size;
        return MemorySegment.ofArray(new long[(int) (aligned(bytes) / Long.BYTES)]).asSlice(0, bytes);
    }

    /**
     * Returns those elements of an array that the method has used.
     *
     * @throws RpcException with E_UNEXPECTED if the array has fewer elements
     */
    public static MemorySegment used(long used, MemorySegment array, int size) {
        long room = array.byteSize() / size;
        if (used < 0 || used > room) {
            throw RpcException.of(Hresult.E_UNEXPECTED, "the method returned an array's length " + used + ", which is not within its size " + room);
        }
        return array.asSlice(0, used * size);
    }

    /**
     * Returns those elements of an array that the method has used. Fails with E_UNEXPECTED if the
     * expression for their number is undefined.
     */
    public static MemorySegment used(LongSupplier expression, MemorySegment array, int size) {
        return used((long) used(expression, (int) Math.min(array.byteSize() / size, FRAME_MAX)), array, size);
    }

    /** Checks that a value is at least {@code least} and at most {@code most}. */
    public static void checkRange(long value, long least, long most) {
        if (value < least || value > most) {
            throw invalid(value + " is not within " + least + " and " + most);
        }
    }

    /**
     * Checks that an unsigned value is at least {@code least} and at most {@code most}. The bounds
     * are not negative.
     */
    public static void checkUnsignedRange(long value, long least, long most) {
        if (value < 0 || value < least || value > most) {
            throw invalid(beyond(value, least, most));
        }
    }

    static String beyond(long value, long least, long most) {
        return Long.toUnsignedString(value) + " is not within " + least + " and " + most;
    }

    /**
     * Checks the number of elements of an array that the method has used.
     *
     * @throws RpcException with E_UNEXPECTED if the array has fewer elements
     */
    public static int used(long used, int room) {
        if (used < 0 || used > room) {
            throw RpcException.of(Hresult.E_UNEXPECTED, "the method returned an array's length " + used + ", which is not within its size " + room);
        }
        return (int) used;
    }

    /**
     * Checks the number of elements of an array that the method has used. Fails with E_UNEXPECTED
     * if the expression for the number is undefined.
     */
    public static int used(LongSupplier expression, int room) {
        try {
            return used(expression.getAsLong(), room);
        } catch (ArithmeticException e) {
            throw RpcException.of(Hresult.E_UNEXPECTED, "the length of a returned array cannot be computed: " + e.getMessage(), e);
        }
    }

    /**
     * Returns a copy of an array of objects, so that other threads cannot change it while it is
     * written.
     *
     * @throws NullPointerException if an element is {@code null}
     */
    public static <T> T[] copy(T[] elements) {
        return copy(elements, elements.length);
    }

    /** Returns a copy of the first elements of an array. */
    public static <T> T[] copy(T[] elements, int count) {
        T[] copy = Arrays.copyOf(elements, count);
        for (int i = 0; i < copy.length; i++) {
            if (copy[i] == null) {
                throw new NullPointerException("element " + i + " of an array is null");
            }
        }
        return copy;
    }

    /** Returns an immutable copy of a list; {@code null} for {@code null}. */
    public static <T> List<T> copy(List<T> elements) {
        return elements == null ? null : List.copyOf(elements);
    }

    /** Returns an immutable copy of a list whose elements may be {@code null}. */
    public static <T> List<T> copyOfOptional(List<T> elements) {
        return elements == null ? null : Collections.unmodifiableList(new ArrayList<>(elements));
    }

    /** Checks that a union's arm {@code which} matches its discriminant {@code meant}. */
    public static void checkCase(long which, long meant) {
        if (which != meant) {
            throw invalid("the union's arm does not match its discriminant: the arm is that of " + which + ", the discriminant " + meant);
        }
    }

    /**
     * Checks that a union's arm {@code which} matches its discriminant. Fails with E_INVALIDARG if
     * the expression for the discriminant is undefined.
     */
    public static void checkCase(long which, LongSupplier expression) {
        try {
            checkCase(which, expression.getAsLong());
        } catch (ArithmeticException e) {
            throw RpcException.of(Hresult.E_INVALIDARG, "the union's discriminant cannot be computed: " + e.getMessage(), e);
        }
    }

    /** Returns the exception for a discriminant without an arm. */
    public static RpcException badCase(long which) {
        return invalid("the union has no arm for its discriminant " + which);
    }

    /** Returns a {@code byte} as part of a word, shifted left by {@code up} bits. */
    public static long bits(byte value, int up) {
        return (value & 0xffL) << up;
    }

    /** Returns a {@code boolean} as part of a word, shifted left by {@code up} bits. */
    public static long bits(boolean value, int up) {
        return (value ? 1L : 0L) << up;
    }

    /** Returns a {@code short} as part of a word, shifted left by {@code up} bits. */
    public static long bits(short value, int up) {
        return (value & 0xffffL) << up;
    }

    /** Returns a {@code char} as part of a word, shifted left by {@code up} bits. */
    public static long bits(char value, int up) {
        return (long) value << up;
    }

    /** Returns an {@code int} as part of a word, shifted left by {@code up} bits. */
    public static long bits(int value, int up) {
        return (value & 0xffffffffL) << up;
    }

    /** Returns a {@code float} as part of a word, shifted left by {@code up} bits. */
    public static long bits(float value, int up) {
        return bits(Float.floatToRawIntBits(value), up);
    }

    /** Returns a {@code long}, which is a whole word. */
    public static long bits(long value, int up) {
        return value << up;
    }

    /** Returns a {@code double} as a whole word. */
    public static long bits(double value, int up) {
        return bits(Double.doubleToRawLongBits(value), up);
    }

    /**
     * Returns the common length of arrays that share one count; 0 if all of them are {@code null}.
     */
    public static int length(Object... arrays) {
        for (Object array : arrays) {
            if (array != null) {
                return size(array);
            }
        }
        return 0;
    }

    private static int size(Object array) {
        return switch (array) {
            case List<?> list -> list.size();
            case Bytes bytes -> bytes.size();
            case Shorts shorts -> shorts.size();
            case Chars chars -> chars.size();
            case Ints ints -> ints.size();
            case Longs longs -> longs.size();
            case Floats floats -> floats.size();
            case Doubles doubles -> doubles.size();
            default -> throw new IllegalArgumentException(array.getClass() + " is not an array");
        };
    }

    /**
     * Checks that arrays that share one count have the same length, which must be at most
     * {@code most}. An array that is {@code null} matches any length.
     */
    public static void checkLengths(long most, Object... arrays) {
        int length = length(arrays);
        checkRange(length, 0, most);
        for (Object array : arrays) {
            if (array != null) {
                checkLength(size(array), length);
            }
        }
    }

    /** Returns the elements of an array; an empty array for {@code null}. */
    public static byte[] array(Bytes elements) {
        return elements == null ? new byte[0] : elements.toArray();
    }

    /** Returns the elements of an array; an empty array for {@code null}. */
    public static short[] array(Shorts elements) {
        return elements == null ? new short[0] : elements.toArray();
    }

    /** Returns the elements of an array; an empty array for {@code null}. */
    public static char[] array(Chars elements) {
        return elements == null ? new char[0] : elements.toArray();
    }

    /** Returns the elements of an array; an empty array for {@code null}. */
    public static int[] array(Ints elements) {
        return elements == null ? new int[0] : elements.toArray();
    }

    /** Returns the elements of an array; an empty array for {@code null}. */
    public static long[] array(Longs elements) {
        return elements == null ? new long[0] : elements.toArray();
    }

    /** Returns the elements of an array; an empty array for {@code null}. */
    public static float[] array(Floats elements) {
        return elements == null ? new float[0] : elements.toArray();
    }

    /** Returns the elements of an array; an empty array for {@code null}. */
    public static double[] array(Doubles elements) {
        return elements == null ? new double[0] : elements.toArray();
    }

    /**
     * Returns an unsigned {@code hyper} as a value in an expression. The value must fit into 63
     * bits.
     */
    public static long unsigned(long value) {
        if (value < 0) {
            throw new ArithmeticException(Long.toUnsignedString(value) + " is too large");
        }
        return value;
    }

    /** Returns {@code a % b}, or throws an {@link ArithmeticException} if it is undefined. */
    public static long remainder(long a, long b) {
        Math.divideExact(a, b);
        return a % b;
    }

    /** Returns {@code a << b}, or throws an {@link ArithmeticException} if it is undefined. */
    public static long shiftLeft(long a, long b) {
        return a << distance(b);
    }

    /** Returns {@code a >> b}, or throws an {@link ArithmeticException} if it is undefined. */
    public static long shiftRight(long a, long b) {
        return a >> distance(b);
    }

    private static int distance(long by) {
        if (by < 0 || by > 63) {
            throw new ArithmeticException("a shift by " + by + " bits");
        }
        return (int) by;
    }

    private static RpcException invalid(String what) {
        return RpcException.of(Hresult.E_INVALIDARG, what);
    }
}
