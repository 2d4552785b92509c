package obvia.runtime.call;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * A pool of a few objects, which any thread can reuse. An object for each thread could take too
 * much memory, because a process may have many threads.
 */
public final class Pool<T extends Pool.Member> {
    /** The maximum size in bytes of the memory that a pooled object keeps from call to call. */
    public static final int KEPT_MAX = 4 << 20;

    private static final int PLACES = 64;

    private static final List<Pool<?>> ALL = new CopyOnWriteArrayList<>();

    /**
     * The pooled objects. An object stays in its place while it is in use, because storing it again
     * would cost a write barrier of the collector.
     */
    private final AtomicReferenceArray<T> places = new AtomicReferenceArray<>(PLACES);

    /** The base of pooled objects. */
    public abstract static class Member {
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

        /** Creates a pooled object. Only subclasses call this constructor. */
        protected Member() {}
    }

    /** Creates a pool, which is never freed. */
    public Pool() {
        ALL.add(this);
    }

    /**
     * Returns the object at this thread's place if that object exists and is not in use, else
     * {@code null}.
     */
    public T take() {
        int place = place();
        T one = places.getAcquire(place);
        if (one == null || Member.IS_FREE.compareAndSet((Member) one, true, false)) {
            return one;
        }
        // The object is in use, by another thread or by earlier work of this thread, and returns to
        // the pool later. If its user fails, the collector frees the object.
        places.setRelease(place, null);
        return null;
    }

    /** Returns an object to the pool. */
    public void give(T one) {
        int place = place();
        if (places.getPlain(place) != one) {
            places.setRelease(place, one);
        }
        Member.IS_FREE.setRelease((Member) one, true);
    }

    /**
     * Drops the objects of all pools that are not in use. An unused object refers to the types of
     * its last use, and would keep the classes of an undeployed program loaded.
     */
    public static void clearAll() {
        ALL.forEach(Pool::clear);
    }

    private void clear() {
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
