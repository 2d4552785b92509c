package obvia.runtime;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicReferenceArray;

/** A few things to be used again, by whichever thread comes next: there may be far more threads than anybody wants to keep memory for. */
final class Pool<T extends Pool.Member> {
    private static final int PLACES = 64;

    /** Those that there are: they stay where they are while they are in use, as storing them again would cost the collector's barrier. */
    private final AtomicReferenceArray<T> places = new AtomicReferenceArray<>(PLACES);

    /** What can be in one. */
    abstract static class Member {
        private static final VarHandle IS_FREE;

        static {
            try {
                IS_FREE = MethodHandles.lookup().findVarHandle(Member.class, "isFree", boolean.class);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        /** Nobody has it. */
        private boolean isFree;
    }

    /** One that nobody else has; {@code null} where there is none at hand. */
    T take() {
        int place = place();
        T one = places.getAcquire(place);
        if (one == null || Member.IS_FREE.compareAndSet((Member) one, true, false)) {
            return one;
        }
        // It comes back, unless whoever has it has failed: then it is nobody's.
        places.setRelease(place, null);
        return null;
    }

    /** Gives one back. */
    void give(T one) {
        int place = place();
        if (places.getPlain(place) != one) {
            places.setRelease(place, one);
        }
        Member.IS_FREE.setRelease((Member) one, true);
    }

    /** Lets go of all that nobody has: they know the types that they were used with last, whose programs may be gone. */
    void clear() {
        for (int place = 0; place < PLACES; place++) {
            T one = places.getAcquire(place);
            if (one != null && Member.IS_FREE.compareAndSet((Member) one, true, false)) {
                places.compareAndSet(place, one, null);
            }
        }
    }

    private static int place() {
        return (int) Thread.currentThread().threadId() & PLACES - 1;
    }
}
