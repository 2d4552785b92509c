package obvia.runtime;

import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;

/**
 * The types of an interface's objects, in the order of their numbers in frames, which begin at 16.
 */
public final class GraphKinds {
    private static final int NONE = 0;

    /**
     * All types, by index. The references are weak, so that the list does not keep the types'
     * classes loaded.
     */
    private static final List<Placed> ALL = new ArrayList<>();

    private static final ReferenceQueue<GraphType> GONE = new ReferenceQueue<>();

    /** All types, for frames that do not leave this process. */
    static final GraphKinds EVERY = new GraphKinds(null);

    private final GraphType[] types;

    /** The numbers of types, by index. */
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

    /** Returns the types of an interface. */
    public static GraphKinds of(GraphType... types) {
        return new GraphKinds(types.clone());
    }

    /** A weak reference to a type. */
    private static final class Placed extends WeakReference<GraphType> {
        private final int place;

        Placed(GraphType type, int place) {
            super(type, GONE);
            this.place = place;
        }
    }

    /**
     * Returns the index of a new type: the former index of a collected type, which has no users
     * left, or else the next free index.
     */
    static int add(GraphType type) {
        synchronized (ALL) {
            if (GONE.poll() instanceof Placed gone) {
                ALL.set(gone.place, new Placed(type, gone.place));
                return gone.place;
            }
            ALL.add(new Placed(type, ALL.size()));
            return ALL.size() - 1;
        }
    }

    private static GraphType at(int place) {
        synchronized (ALL) {
            return place >= 0 && place < ALL.size() ? ALL.get(place).get() : null;
        }
    }

    /** Returns the number of a type. */
    int number(GraphType type) {
        int index = type.index;
        int number = index < numbers.length ? numbers[index] : NONE;
        return number == NONE ? other(type) : number;
    }

    private int other(GraphType type) {
        if (types != null) {
            throw new IllegalStateException("a structure has a pointer to a type that its interface does not know: " + type.getClass());
        }
        return Frames.KIND_FIRST + type.index;
    }

    /** Returns the type of a number; {@code null} if there is none. */
    GraphType type(int number) {
        int i = number - Frames.KIND_FIRST;
        if (types == null) {
            return at(i);
        }
        return i >= 0 && i < types.length ? types[i] : null;
    }
}
