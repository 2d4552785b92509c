package obvia.runtime;

import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;

/** The types of an interface's objects, in the order of their numbers in frames: from 16 on. */
public final class GraphKinds {
    private static final int NONE = 0;

    /** Every type that there is, by its place. Their classes keep them, and nothing here keeps these. */
    private static final List<Placed> ALL = new ArrayList<>();

    private static final ReferenceQueue<GraphType> GONE = new ReferenceQueue<>();

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

    /** A type, as long as it is there. */
    private static final class Placed extends WeakReference<GraphType> {
        private final int place;

        Placed(GraphType type, int place) {
            super(type, GONE);
            this.place = place;
        }
    }

    /** A type's place among all: that of one which is gone, with whatever knew it, or else a new one. */
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
            return at(i);
        }
        return i >= 0 && i < types.length ? types[i] : null;
    }
}
