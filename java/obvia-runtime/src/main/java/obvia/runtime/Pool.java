package obvia.runtime;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * A pool of a few objects for reuse by any thread, as there may be far more threads than objects
 * worth keeping.
 */
final class Pool<T extends Pool.Member> {
    /** The maximum size in bytes of the memory that is kept from call to call. */
    static final int KEPT_MAX = 4 << 20;

    private static final int PLACES = 64;

    /**
     * The pooled objects. An object stays in its place while it is in use, as storing it again
     * would cost a write barrier of the collector.
     */
    private final AtomicReferenceArray<T> places = new AtomicReferenceArray<>(PLACES);

    /** The base of pooled objects. */
    abstract static class Member {
        private static final VarHandle IS_FREE;

        static {
            try {
                IS_FREE = MethodHandles.lookup().findVarHandle(Member.class, "isFree", boolean.class);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        /** Whether the object is not in use. */
        private boolean isFree;
    }

    /** Returns an object that is not in use; {@code null} if none is at hand. */
    T take() {
        int place = place();
        T one = places.getAcquire(place);
        if (one == null || Member.IS_FREE.compareAndSet((Member) one, true, false)) {
            return one;
        }
        // The object comes back, unless its user has failed: then the collector frees it.
        places.setRelease(place, null);
        return null;
    }

    /** Returns an object to the pool. */
    void give(T one) {
        int place = place();
        if (places.getPlain(place) != one) {
            places.setRelease(place, one);
        }
        Member.IS_FREE.setRelease((Member) one, true);
    }

    /**
     * Drops all objects that are not in use: they refer to the types of their last use, whose
     * programs may be gone.
     */
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
