package obvia;

import java.lang.System.Logger.Level;
import java.lang.ref.Cleaner;
import java.util.concurrent.atomic.AtomicBoolean;
import obvia.spi.Hold;

/**
 * An argument that is retained beyond its call. Until this object is closed, the argument can be
 * read and does not change.
 *
 * <p>The argument lies in memory of this process, so neither the caller nor its later calls wait
 * until the argument is closed. If a retained argument becomes unreachable without being closed,
 * the collector frees its memory and the leak is counted: {@link Occupancy#leaks}. With
 * {@code -Dobvia.views=collected} the collector is expected to free the memory, and no leak is
 * counted.
 *
 * @param <T> the type of the argument
 */
public final class Retained<T> implements AutoCloseable {
    private static final Cleaner CLEANER = Cleaner.create();
    /** Whether the collector is expected to free retained arguments. */
    private static final boolean IS_COLLECTED = "collected".equals(System.getProperty("obvia.views"));

    private final T value;
    private final State state;
    private final Cleaner.Cleanable cleanable;

    // The cleaner does not run the action before the constructor returns, so `this` may escape.
    @SuppressWarnings("this-escape")
    private Retained(T value, Hold hold) {
        this.value = value;
        state = new State(hold, Occupancy.TRACE ? new Throwable("retained here") : null);
        cleanable = CLEANER.register(this, state);
        Occupancy.add(hold.bytes());
    }

    /**
     * Creates a retained argument. Closing the retained argument releases its memory. Only runtimes
     * call this method.
     *
     * @param <T> the type of the argument
     * @param value the argument
     * @param hold the memory of the argument
     * @return the retained argument
     */
    public static <T> Retained<T> of(T value, Hold hold) {
        return new Retained<>(value, hold);
    }

    /**
     * Returns the argument.
     *
     * @return the argument, or a view of it
     * @throws IllegalStateException if this object is closed
     */
    public T get() {
        if (state.isClosed.get()) {
            throw new IllegalStateException("the retained argument was closed");
        }
        return value;
    }

    /** Frees the memory: the argument can no longer be read. */
    @Override
    public void close() {
        if (state.isClosed.compareAndSet(false, true)) {
            cleanable.clean();
        }
    }

    /** The cleanup action of a retained argument. */
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
                String advice = place == null ? "; -Dobvia.leaks=trace shows where it was retained" : "";
                System.getLogger("obvia").log(Level.WARNING, "a retained argument of " + bytes + " bytes was dropped without being closed" + advice, place);
            }
        }
    }
}
