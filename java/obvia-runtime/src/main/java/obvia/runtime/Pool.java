package obvia.runtime;

import java.util.concurrent.atomic.AtomicReferenceArray;

/** A few things to be used again, by whichever thread comes next: there may be far more threads than anybody wants to keep memory for. */
final class Pool<T> {
    private static final int PLACES = 64;

    private final AtomicReferenceArray<T> places = new AtomicReferenceArray<>(PLACES);

    /** One that nobody else has; {@code null} where there is none at hand. */
    T take() {
        int place = place();
        return places.getPlain(place) == null ? null : places.getAndSet(place, null);
    }

    /** Gives one back. */
    void give(T one) {
        places.setRelease(place(), one);
    }

    private static int place() {
        return (int) Thread.currentThread().threadId() & PLACES - 1;
    }
}
