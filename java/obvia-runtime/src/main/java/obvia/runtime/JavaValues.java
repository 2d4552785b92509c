package obvia.runtime;

import java.lang.foreign.MemorySegment;
import java.lang.reflect.Array;
import java.util.Arrays;
import java.util.List;
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
 * The common code of proxies and stubs for interfaces that are written in Java: writes the objects
 * of programs to frames, and reads them from frames. Objects are copied in both directions;
 * {@code null} stays {@code null}.
 */
public final class JavaValues {
    private JavaValues() {}

    // Writing.

    /**
     * Returns the object if its class is exactly this class. An object of a subclass would lose its
     * additional state.
     *
     * @throws RpcException with E_INVALIDARG if the object is of a subclass
     */
    public static <T> T exactly(Class<T> type, Object object) {
        if (object.getClass() != type) {
            throw RpcException.of(Hresult.E_INVALIDARG, "a " + object.getClass().getName() + " cannot be passed as a " + type.getName());
        }
        return type.cast(object);
    }

    /** Writes an array of numbers and its length. */
    public static void array(GraphWriter out, int count, int slot, GraphType type, Object array) {
        if (array != null) {
            out.putInt(count, Array.getLength(array));
            out.array(slot, type, segment(array));
        }
    }

    private static MemorySegment segment(Object array) {
        return switch (array) {
            case byte[] bytes -> MemorySegment.ofArray(bytes);
            case short[] shorts -> MemorySegment.ofArray(shorts);
            case char[] chars -> MemorySegment.ofArray(chars);
            case int[] ints -> MemorySegment.ofArray(ints);
            case long[] longs -> MemorySegment.ofArray(longs);
            case float[] floats -> MemorySegment.ofArray(floats);
            case double[] doubles -> MemorySegment.ofArray(doubles);
            default -> throw new IllegalArgumentException("the object is not an array of numbers");
        };
    }

    /** Writes the elements of a list or an array and their number. */
    public static void list(GraphWriter out, int count, int slot, GraphType type, Object elements) {
        List<?> list =
                switch (elements) {
                    case null -> null;
                    // A private copy, so that other threads cannot change the elements while they
                    // are written.
                    case List<?> given -> Arrays.asList(given.toArray());
                    case Object[] given -> Arrays.asList(given.clone());
                    case Object given -> boxed(given);
                };
        if (list != null) {
            out.putInt(count, list.size());
            out.list(slot, type, list);
        }
    }

    // Reading of built values.

    /** Returns the elements of an array of primitives as a list of boxed values. */
    @SuppressWarnings("unchecked")
    public static <T> List<T> boxed(Object array) {
        if (array == null) {
            return null;
        }
        Object[] boxes = new Object[Array.getLength(array)];
        Arrays.setAll(boxes, at -> Array.get(array, at));
        return (List<T>) List.of(boxes);
    }

    /** Returns the list to which a slot leads; {@code null} for null. */
    public static <T> List<T> elements(GraphReader in, int slot) {
        return in.list(slot);
    }

    /**
     * Returns the array to which a slot leads, with the type of {@code like}; {@code null} for
     * null.
     */
    public static <T> T[] elements(GraphReader in, int slot, T[] like) {
        List<T> list = in.list(slot);
        return list == null ? null : list.toArray(like);
    }

    /** Returns the list, or an empty list for {@code null}. */
    public static <T> List<T> some(List<T> list) {
        return list == null ? List.of() : list;
    }

    /** Returns the array, or an empty array for {@code null}. */
    public static <A> A some(A array, Class<A> type) {
        return array == null ? type.cast(Array.newInstance(type.getComponentType(), 0)) : array;
    }

    /** Returns an array of booleans. */
    public static boolean[] booleans(GraphReader in, int slot) {
        List<Boolean> list = in.list(slot);
        if (list == null) {
            return null;
        }
        boolean[] values = new boolean[list.size()];
        for (int at = 0; at < values.length; at++) {
            values[at] = list.get(at);
        }
        return values;
    }

    /** Returns an array of bytes. */
    public static byte[] bytes(GraphReader in, int slot) {
        Bytes found = in.frame().bytes(slot);
        return found == null ? null : found.toArray();
    }

    /** Returns an array of 16-bit numbers. */
    public static short[] shorts(GraphReader in, int slot) {
        Shorts found = in.frame().shorts(slot);
        return found == null ? null : found.toArray();
    }

    /** Returns an array of characters. */
    public static char[] chars(GraphReader in, int slot) {
        Chars found = in.frame().chars(slot);
        return found == null ? null : found.toArray();
    }

    /** Returns an array of 32-bit numbers. */
    public static int[] ints(GraphReader in, int slot) {
        Ints found = in.frame().ints(slot);
        return found == null ? null : found.toArray();
    }

    /** Returns an array of 64-bit numbers. */
    public static long[] longs(GraphReader in, int slot) {
        Longs found = in.frame().longs(slot);
        return found == null ? null : found.toArray();
    }

    /** Returns an array of single-precision numbers. */
    public static float[] floats(GraphReader in, int slot) {
        Floats found = in.frame().floats(slot);
        return found == null ? null : found.toArray();
    }

    /** Returns an array of double-precision numbers. */
    public static double[] doubles(GraphReader in, int slot) {
        Doubles found = in.frame().doubles(slot);
        return found == null ? null : found.toArray();
    }
}
