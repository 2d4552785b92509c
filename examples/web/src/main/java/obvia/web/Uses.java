package obvia.web;

import java.util.concurrent.atomic.AtomicInteger;

/** Counts who uses something that ends when its owner has given it up and the last of them has left. */
final class Uses {
    // The owner is one of them.
    private final AtomicInteger count = new AtomicInteger(1);
    private final Runnable end;

    Uses(Runnable end) {
        this.end = end;
    }

    /** Whether it can still be used; then {@link #leave} has to follow. */
    boolean enter() {
        return count.getAndUpdate(now -> now == 0 ? 0 : now + 1) != 0;
    }

    /** A user, or the owner, needs it no longer. */
    void leave() {
        if (count.decrementAndGet() == 0) {
            end.run();
        }
    }

    /** How many use it, the owner among them. */
    int count() {
        return count.get();
    }
}
