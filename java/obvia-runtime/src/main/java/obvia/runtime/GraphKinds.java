package obvia.runtime;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** The types of an interface's objects, in the order of their numbers in frames: from 16 on. */
public final class GraphKinds {
    private static final int NONE = 0;

    private static final List<GraphType> ALL = new CopyOnWriteArrayList<>();

    /** Every type that there is, for frames that nobody else sees. */
    static final GraphKinds EVERY = new GraphKinds(null);

    private final GraphType[] types;

    /** The numbers of types, by their places among all. */
    private final int[] numbers;

    private GraphKinds(GraphType[] types) {
        this.types = types;
        int most = -1;
        for (int i = 0; types != null && i < types.length; i++) {
            most = Math.max(most, types[i].index);
        }
        numbers = new int[most + 1];
        for (int i = 0; types != null && i < types.length; i++) {
            numbers[types[i].index] = Frames.KIND_FIRST + i;
        }
    }

    /** Those of an interface. */
    public static GraphKinds of(GraphType... types) {
        return new GraphKinds(types.clone());
    }

    /** A type's place among all. */
    static synchronized int add(GraphType type) {
        ALL.add(type);
        return ALL.size() - 1;
    }

    /** The number of a type. */
    int number(GraphType type) {
        int index = type.index;
        int number = index < numbers.length ? numbers[index] : NONE;
        return number == NONE ? other(type) : number;
    }

    private int other(GraphType type) {
        if (types != null) {
            throw new IllegalStateException("a structure has a pointer to what its interface does not know: " + type.getClass());
        }
        return Frames.KIND_FIRST + type.index;
    }

    /** The type of a number; {@code null} where there is none. */
    GraphType type(int number) {
        int i = number - Frames.KIND_FIRST;
        if (types == null) {
            return i >= 0 && i < ALL.size() ? ALL.get(i) : null;
        }
        return i >= 0 && i < types.length ? types[i] : null;
    }
}
