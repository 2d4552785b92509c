package obvia;

import java.lang.System.Logger.Level;
import java.lang.ref.Cleaner;
import java.util.concurrent.atomic.AtomicBoolean;
import obvia.spi.Hold;

/**
 * An argument that is kept beyond the call that it came with: it can be read, and does not change, until this is closed.
 *
 * <p>It has memory of this process's own: the caller and its later calls are not held up. One that is dropped without being closed is given back when the collector finds it, and
 * reported: {@link Occupancy#leaks}. Under {@code -Dobvia.views=collected} that is how it is meant, and nothing is reported.
 *
 * @param <T> its type
 */
public final class Retained<T> implements AutoCloseable {
    private static final Cleaner CLEANER = Cleaner.create();
    /** Whether the collector is meant to find them. */
    private static final boolean IS_COLLECTED = "collected".equals(System.getProperty("obvia.views"));

    private final T value;
    private final State state;
    private final Cleaner.Cleanable cleanable;

    // Nobody is told of it before it is done: what is registered runs when it is gone.
    @SuppressWarnings("this-escape")
    private Retained(T value, Hold hold) {
        this.value = value;
        state = new State(hold, Occupancy.TRACE ? new Throwable("retained here") : null);
        cleanable = CLEANER.register(this, state);
        Occupancy.add(hold.bytes());
    }

    /**
     * One of a value that can be read until the hold is let go. For runtimes.
     *
     * @param <T> its type
     * @param value the value
     * @param hold what keeps it
     * @return what the program has of it
     */
    public static <T> Retained<T> of(T value, Hold hold) {
        return new Retained<>(value, hold);
    }

    /**
     * The value.
     *
     * @return the argument, or a view of it
     * @throws IllegalStateException where this was closed
     */
    public T get() {
        if (state.isClosed.get()) {
            throw new IllegalStateException("what was retained has been closed");
        }
        return value;
    }

    /** Gives the memory back: the value can no longer be read. */
    @Override
    public void close() {
        if (state.isClosed.compareAndSet(false, true)) {
            cleanable.clean();
        }
    }

    /** What is left to be done when it is gone. */
    private static final class State implements Runnable {
        private final Hold hold;
        private final Throwable place;
        private final AtomicBoolean isClosed = new AtomicBoolean();

        State(Hold hold, Throwable place) {
            this.hold = hold;
            this.place = place;
        }

        @Override
        public void run() {
            boolean isLeak = isClosed.compareAndSet(false, true) && !IS_COLLECTED;
            int bytes = hold.bytes();
            hold.release();
            Occupancy.remove(bytes, isLeak);
            if (isLeak) {
                String advice = place == null ? "; -Dobvia.leaks=trace tells where it was retained" : "";
                System.getLogger("obvia").log(Level.WARNING, "a retained argument of " + bytes + " bytes was dropped without being closed" + advice, place);
            }
        }
    }
}
