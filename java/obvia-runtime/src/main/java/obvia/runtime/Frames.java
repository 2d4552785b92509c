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
 * What is computed before a frame is written: its length, and whether what is given is what the interface says.
 *
 * <p>Proxies do it before they have a channel, stubs before they ask for the place of the results.
 */
public final class Frames {
    /** A frame has at most so many bytes. */
    static final int FRAME_MAX = Integer.MAX_VALUE;

    /** Bytes before an object's elements: its type and their count. */
    static final int HEADER = 8;

    /** The type of a reference to an object. */
    static final int REFERENCE = 1;
    /** The type of a string of characters of 8 bits. */
    static final int TEXT8 = 2;
    /** The type of a string of characters of 16 bits. */
    static final int TEXT16 = 3;
    /** The first type of an interface's own. */
    static final int KIND_FIRST = 16;

    private Frames() {}

    /** Rounds up to where an object may begin. */
    static long aligned(long length) {
        return (length + 7) & -8;
    }

    /**
     * The length of a frame with one more object behind it.
     *
     * @param length that of the frame without it
     * @param count its elements
     * @param size bytes of each
     * @throws RpcException with E_OUTOFMEMORY where no frame is as long
     */
    public static int plus(int length, int count, int size) {
        return plus(length, (long) count * size);
    }

    /** The same for an array that may go by reference. */
    public static int plus(int length, MemorySegment array) {
        return plus(length, array.byteSize());
    }

    private static int plus(int length, long bytes) {
        long total = length + HEADER + aligned(bytes);
        if (bytes > FRAME_MAX || total > FRAME_MAX) {
            throw RpcException.of(Hresult.E_OUTOFMEMORY, "the arguments or results have " + total + " bytes; " + FRAME_MAX + " is the most");
        }
        return (int) total;
    }

    /** The same for bytes or characters of 8 bits, which may be {@code null}. */
    public static int plus(int length, byte[] bytes) {
        return bytes == null ? length : plus(length, bytes.length, 1);
    }

    /** The same for characters of 16 bits, which may be {@code null}. */
    public static int plus(int length, char[] characters) {
        return characters == null ? length : plus(length, characters.length, 2);
    }

    /**
     * A string as it travels in characters of 8 bits: UTF-8 and a zero.
     *
     * @throws RpcException with E_INVALIDARG where it has a zero, or half of a surrogate pair
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
     * A string as it travels in characters of 16 bits: UTF-16 and a zero.
     *
     * @throws RpcException with E_INVALIDARG where it has a zero
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
            throw invalid("a string has a zero in it, which ends strings");
        }
    }

    /**
     * How many elements an expression of the interface says.
     *
     * @throws RpcException with E_INVALIDARG where no array has as many
     */
    public static int count(long value) {
        if (value < 0 || value > FRAME_MAX) {
            throw invalid("an array of " + value + " elements");
        }
        return (int) value;
    }

    /** The same for an expression that may have no value. */
    public static int count(LongSupplier expression) {
        try {
            return count(expression.getAsLong());
        } catch (ArithmeticException e) {
            throw RpcException.of(Hresult.E_INVALIDARG, "how long an array is has no value: " + e.getMessage(), e);
        }
    }

    /** Checks that an array is as long as the interface says. */
    public static void checkLength(long length, long meant) {
        if (length != meant) {
            throw invalid("an array of " + length + " elements where " + meant + " are meant");
        }
    }

    /**
     * Checks that an array which may go by reference can be used by this thread, and so by the method.
     *
     * @param size bytes of an element
     */
    public static void check(MemorySegment array, boolean isWritten, int size) {
        if (!array.isAccessibleBy(Thread.currentThread()) || !array.scope().isAlive()) {
            throw invalid("an array in memory that has ended, or is another thread's");
        }
        if (isWritten && array.isReadOnly()) {
            throw invalid("an array that the method writes, in memory that is only read");
        }
        if (array.byteSize() % size != 0) {
            throw invalid("an array of " + array.byteSize() + " bytes, whose elements have " + size);
        }
    }

    /** Memory for an array that may go by reference, and does not: aligned for whatever its elements are. */
    public static MemorySegment room(int count, int size) {
        if (size == 1) {
            return MemorySegment.ofArray(new byte[count]);
        }
        long bytes = (long) count * size;
        return MemorySegment.ofArray(new long[(int) (aligned(bytes) / Long.BYTES)]).asSlice(0, bytes);
    }

    /**
     * The elements of an array that a method says it has used.
     *
     * @throws RpcException with E_UNEXPECTED where there are not as many
     */
    public static MemorySegment used(long used, MemorySegment array, int size) {
        long room = array.byteSize() / size;
        if (used < 0 || used > room) {
            throw RpcException.of(Hresult.E_UNEXPECTED, "the method says that it has used " + used + " elements of " + room);
        }
        return array.asSlice(0, used * size);
    }

    /** The same for an expression that may have no value. */
    public static MemorySegment used(LongSupplier expression, MemorySegment array, int size) {
        return used((long) used(expression, (int) Math.min(array.byteSize() / size, FRAME_MAX)), array, size);
    }

    /** Checks that a value is within its limits. */
    public static void checkRange(long value, long least, long most) {
        if (value < least || value > most) {
            throw invalid(value + " is not within " + least + " and " + most);
        }
    }

    /**
     * How many of an array's elements a method says that it has used.
     *
     * @throws RpcException with E_UNEXPECTED where there are not as many
     */
    public static int used(long used, int room) {
        if (used < 0 || used > room) {
            throw RpcException.of(Hresult.E_UNEXPECTED, "the method says that it has used " + used + " elements of " + room);
        }
        return (int) used;
    }

    /** The same for an expression that may have no value. */
    public static int used(LongSupplier expression, int room) {
        try {
            return used(expression.getAsLong(), room);
        } catch (ArithmeticException e) {
            throw RpcException.of(Hresult.E_UNEXPECTED, "how many elements the method has used has no value: " + e.getMessage(), e);
        }
    }

    /**
     * A copy of an array of objects, which nobody else changes while it is written.
     *
     * @throws NullPointerException where one is {@code null}
     */
    public static <T> T[] copy(T[] elements) {
        return copy(elements, elements.length);
    }

    /** A copy of the first elements of an array. */
    public static <T> T[] copy(T[] elements, int count) {
        T[] copy = Arrays.copyOf(elements, count);
        for (int i = 0; i < copy.length; i++) {
            if (copy[i] == null) {
                throw new NullPointerException("element " + i + " of an array is null");
            }
        }
        return copy;
    }

    /** A copy of a list, which nobody changes; {@code null} is {@code null}. */
    public static <T> List<T> copy(List<T> elements) {
        return elements == null ? null : List.copyOf(elements);
    }

    /** The same for a list whose elements may be {@code null}. */
    public static <T> List<T> copyOfOptional(List<T> elements) {
        return elements == null ? null : Collections.unmodifiableList(new ArrayList<>(elements));
    }

    /** Checks that a union has the arm that the discriminant beside it says. */
    public static void checkCase(long which, long meant) {
        if (which != meant) {
            throw invalid("a union with the arm of " + which + " where " + meant + " is meant");
        }
    }

    /** The same for an expression that may have no value. */
    public static void checkCase(long which, LongSupplier expression) {
        try {
            checkCase(which, expression.getAsLong());
        } catch (ArithmeticException e) {
            throw RpcException.of(Hresult.E_INVALIDARG, "which arm of a union is meant has no value: " + e.getMessage(), e);
        }
    }

    /** What is thrown for a discriminant that is none of an arm's. */
    public static RpcException badCase(long which) {
        return invalid("a union's arm with the discriminant " + which + ", which is not one of its own");
    }

    /** What a {@code byte} is in a word, so many bits up. */
    public static long bits(byte value, int up) {
        return (value & 0xffL) << up;
    }

    /** What a {@code boolean} is in a word, so many bits up. */
    public static long bits(boolean value, int up) {
        return (value ? 1L : 0L) << up;
    }

    /** What a {@code short} is in a word, so many bits up. */
    public static long bits(short value, int up) {
        return (value & 0xffffL) << up;
    }

    /** What a {@code char} is in a word, so many bits up. */
    public static long bits(char value, int up) {
        return (long) value << up;
    }

    /** What an {@code int} is in a word, so many bits up. */
    public static long bits(int value, int up) {
        return (value & 0xffffffffL) << up;
    }

    /** What a {@code float} is in a word, so many bits up. */
    public static long bits(float value, int up) {
        return bits(Float.floatToRawIntBits(value), up);
    }

    /** A {@code long}, which is a word of its own. */
    public static long bits(long value, int up) {
        return value << up;
    }

    /** What a {@code double} is in a word, which is its own. */
    public static long bits(double value, int up) {
        return bits(Double.doubleToRawLongBits(value), up);
    }

    /** How many elements arrays have that a structure has one number for; those that are {@code null} have none. */
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
            default -> throw new IllegalArgumentException(array.getClass() + " is no array");
        };
    }

    /** Checks that arrays which a structure has one number for are of one length, and no longer than that number can say. */
    public static void checkLengths(long most, Object... arrays) {
        int length = length(arrays);
        checkRange(length, 0, most);
        for (Object array : arrays) {
            if (array != null) {
                checkLength(size(array), length);
            }
        }
    }

    /** The elements of an array; none for {@code null}. */
    public static byte[] array(Bytes elements) {
        return elements == null ? new byte[0] : elements.toArray();
    }

    /** The elements of an array; none for {@code null}. */
    public static short[] array(Shorts elements) {
        return elements == null ? new short[0] : elements.toArray();
    }

    /** The elements of an array; none for {@code null}. */
    public static char[] array(Chars elements) {
        return elements == null ? new char[0] : elements.toArray();
    }

    /** The elements of an array; none for {@code null}. */
    public static int[] array(Ints elements) {
        return elements == null ? new int[0] : elements.toArray();
    }

    /** The elements of an array; none for {@code null}. */
    public static long[] array(Longs elements) {
        return elements == null ? new long[0] : elements.toArray();
    }

    /** The elements of an array; none for {@code null}. */
    public static float[] array(Floats elements) {
        return elements == null ? new float[0] : elements.toArray();
    }

    /** The elements of an array; none for {@code null}. */
    public static double[] array(Doubles elements) {
        return elements == null ? new double[0] : elements.toArray();
    }

    /** An unsigned {@code hyper} in an expression, which has 63 bits. */
    public static long unsigned(long value) {
        if (value < 0) {
            throw new ArithmeticException(Long.toUnsignedString(value) + " is too large");
        }
        return value;
    }

    /** {@code a % b}, where it has a value. */
    public static long remainder(long a, long b) {
        Math.divideExact(a, b);
        return a % b;
    }

    /** {@code a << b}, where it has a value. */
    public static long shiftLeft(long a, long b) {
        return a << distance(b);
    }

    /** {@code a >> b}, where it has a value. */
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
