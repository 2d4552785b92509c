package obvia.bench;

import java.io.Serializable;
import java.util.Arrays;

/** The measured data: lists of the shapes in the J-RPC paper. */
final class Sample {
    /** The length of each array in a list, in bytes. */
    static final int ARRAY = 16;

    private Sample() {}

    /** A list of numbers. */
    static final class Ll implements Serializable {
        private static final long serialVersionUID = 1;

        int value;
        Ll next;
    }

    /** A list of numbers and arrays. */
    static final class Lba implements Serializable {
        private static final long serialVersionUID = 1;

        int value;
        byte[] data;
        Lba next;
    }

    /** Returns the number in an element of a list. */
    static int value(int at) {
        return at * 0x9e3779b1;
    }

    /** Returns the array in an element of a list. */
    static byte[] data(int at) {
        return bytes(ARRAY, at);
    }

    /** Returns an array whose bytes differ from those of arrays with another seed. */
    static byte[] bytes(int length, int seed) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) ((i + seed) * 31);
        }
        return bytes;
    }

    /** Returns a list of {@code length} elements. */
    static Object list(String shape, int length) {
        Ll numbers = null;
        Lba arrays = null;
        boolean hasArrays = hasArrays(shape);
        for (int at = length - 1; at >= 0; at--) {
            if (hasArrays) {
                Lba first = new Lba();
                first.value = value(at);
                first.data = data(at);
                first.next = arrays;
                arrays = first;
            } else {
                Ll first = new Ll();
                first.value = value(at);
                first.next = numbers;
                numbers = first;
            }
        }
        return hasArrays ? arrays : numbers;
    }

    /** Whether the elements of a shape have arrays. */
    static boolean hasArrays(String shape) {
        return switch (shape) {
            case "LL" -> false;
            case "LBA" -> true;
            default -> throw new IllegalArgumentException("there is no shape " + shape);
        };
    }

    /** Returns the sum over all elements of a list. */
    static long walk(Object list) {
        long sum = 0;
        switch (list) {
            case Ll first -> {
                for (Ll element = first; element != null; element = element.next) {
                    sum += element.value;
                }
            }
            case Lba first -> {
                for (Lba element = first; element != null; element = element.next) {
                    sum += element.value + element.data[ARRAY - 1];
                }
            }
            case Numbers first -> {
                for (Numbers element = first; element != null; element = element.next()) {
                    sum += element.value();
                }
            }
            case Blocks first -> {
                for (Blocks element = first; element != null; element = element.next()) {
                    sum += element.value() + element.data().get(ARRAY - 1);
                }
            }
            case NumbersGraph first -> {
                for (NumbersGraph element = first; element != null; element = element.next()) {
                    sum += element.value();
                }
            }
            case BlocksGraph first -> {
                for (BlocksGraph element = first; element != null; element = element.next()) {
                    sum += element.value() + element.data().get(ARRAY - 1);
                }
            }
            default -> throw new IllegalArgumentException("no list: " + list);
        }
        return sum;
    }

    /**
     * Throws an exception unless the list has {@code length} elements with the content that
     * {@link #list} sets.
     */
    static void check(Object list, int length) {
        Object element = list;
        for (int at = 0; at < length; at++) {
            int value = value(at);
            byte[] data = data(at);
            boolean isRight;
            switch (element) {
                case Ll found -> {
                    isRight = found.value == value;
                    element = found.next;
                }
                case Lba found -> {
                    isRight = found.value == value && Arrays.equals(found.data, data);
                    element = found.next;
                }
                case Numbers found -> {
                    isRight = found.value() == value;
                    element = found.next();
                }
                case Blocks found -> {
                    isRight = found.value() == value && Arrays.equals(found.data().toArray(), data);
                    element = found.next();
                }
                case NumbersGraph found -> {
                    isRight = found.value() == value;
                    element = found.next();
                }
                case BlocksGraph found -> {
                    isRight = found.value() == value && Arrays.equals(found.data().toArray(), data);
                    element = found.next();
                }
                case null, default -> isRight = false;
            }
            if (!isRight) {
                throw new IllegalStateException("element " + at + " is another one");
            }
        }
        if (element != null) {
            throw new IllegalStateException("there are more than " + length + " elements");
        }
    }
}
