package obvia.web;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * The use count of an object. The object ends when its owner has dropped it and the last user has
 * left.
 */
final class Uses {
    // The owner counts as a user.
    private final AtomicInteger count = new AtomicInteger(1);
    private final Runnable end;

    Uses(Runnable end) {
        this.end = end;
    }

    /**
     * Begins a use, unless the object has ended. If this returns true, {@link #leave} has to
     * follow.
     */
    boolean enter() {
        return count.getAndUpdate(now -> now == 0 ? 0 : now + 1) != 0;
    }

    /** Ends a use by a user or by the owner. */
    void leave() {
        if (count.decrementAndGet() == 0) {
            end.run();
        }
    }

    /** Returns the number of users, including the owner. */
    int count() {
        return count.get();
    }
}
