package obvia.runtime.shm;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import obvia.runtime.call.Deadline;

/**
 * Work with files whose file system may never answer. A separate thread does the work.
 *
 * <p>A file system in user space (FUSE) is a program, and no deadline ends a wait for that program.
 * The thread stays until the file system answers.
 */
final class TimedWork<T> {
    /** The time limit of work with files. */
    static final Duration USUAL = Duration.ofSeconds(10);

    /** The time for which a late result may be used, counted from the end of the work. */
    private static final Duration FRESH = Duration.ofMinutes(1);

    private static final String SILENCE = "its file system does not respond";

    private final CompletableFuture<T> outcome = new CompletableFuture<>();
    private final Deadline end;
    /** The time until which a result may be used; {@code null} until there is a result. */
    private volatile Deadline fresh;

    /** Starts the work. */
    TimedWork(Duration time, Callable<T> work) {
        end = Deadline.in(time);
        Thread.ofPlatform().daemon().name("obvia-files").start(() -> {
            try {
                T found = work.call();
                fresh = Deadline.in(FRESH);
                outcome.complete(found);
            } catch (Throwable e) {
                // A failure after the time limit says nothing about the state of the file now.
                outcome.completeExceptionally(end.isOver() ? new LateException(SILENCE, e) : e);
            }
        });
    }

    /**
     * Waits for the outcome until the work's time limit. After the limit, this method does not
     * wait: it returns the outcome if the work is done.
     *
     * @throws LateException if the work is not done at the time limit
     * @throws IOException if the work has thrown it
     */
    T await() throws IOException {
        try {
            if (end.isOver() && !outcome.isDone()) {
                throw new LateException(SILENCE, null);
            }
            return outcome.copy().orTimeout(end.left(), TimeUnit.NANOSECONDS).join();
        } catch (CompletionException e) {
            switch (e.getCause()) {
                case TimeoutException late -> throw new LateException(SILENCE, late);
                case IOException why -> throw why;
                case RuntimeException why -> throw why;
                case Error why -> throw why;
                default -> throw e;
            }
        }
    }

    /**
     * Whether the outcome is outdated. After the time limit, a failure is outdated at once, and a
     * result is outdated one minute after the end of the work.
     */
    boolean isStale() {
        return end.isOver() && (outcome.isCompletedExceptionally() || fresh != null && fresh.isOver());
    }

    /** Closes the result as soon as it exists: no caller waits for it any longer. */
    void closeOutcome() {
        outcome.thenAccept(result -> Resources.close(result instanceof AutoCloseable opened ? opened : null));
    }

    /**
     * Signals that the work did not end in time, or did not begin because too much other work is
     * late.
     */
    static final class LateException extends IOException {
        private static final long serialVersionUID = 1;

        LateException(String message, Throwable why) {
            super(message, why);
        }

        /**
         * Returns only the message, because error messages put the exception after the name of a
         * file.
         */
        @Override
        public String toString() {
            return getMessage();
        }
    }
}
