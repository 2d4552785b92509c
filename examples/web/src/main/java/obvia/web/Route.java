package obvia.web;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;

/**
 * A prefix of paths, and the process that handles them. The process is started, replaced at run
 * time, and restarted when it ends.
 */
final class Route implements AutoCloseable {
    private static final Duration FIRST_PAUSE = Duration.ofMillis(100);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);
    /** The lifetime after which a process counts as successfully started. */
    private static final Duration LIVED = Duration.ofSeconds(10);

    private final String prefix;
    private final HandlerProcess.Launcher launcher;
    /**
     * The lock that is held while a process starts, which takes time. The monitor of this route
     * guards the fields below.
     */
    private final Object changes = new Object();
    /** The present process; {@code null} if there is none. */
    private volatile HandlerProcess current;

    private String handler;
    private boolean isClosed;
    private int failures;

    /** Starts the process. */
    Route(String prefix, String handler, HandlerProcess.Launcher launcher) throws IOException {
        this.prefix = prefix;
        this.launcher = launcher;
        take(launch(handler), handler);
    }

    String prefix() {
        return prefix;
    }

    /**
     * Returns the process, which the caller must leave after its use; {@code null} if there is
     * none.
     */
    HandlerProcess enter() {
        while (true) {
            HandlerProcess process = current;
            if (process == null || process.enter()) {
                return process;
            }
            // The process was dropped after it had been read from the field.
        }
    }

    /**
     * Starts a new process, which gets all further requests. The old process ends when its requests
     * have been answered.
     */
    void replaceProcess(String handler) throws IOException {
        synchronized (changes) {
            HandlerProcess fresh = launch(handler);
            HandlerProcess old = take(fresh, handler);
            if (old != null) {
                Log.say("%s: takes over %s; %s ends when its %d requests have been answered", fresh, prefix, old, old.requests());
                old.leave();
            }
        }
    }

    /** Replaces the handler in the present process. */
    void replaceHandler(String handler) throws IOException {
        synchronized (changes) {
            HandlerProcess process = current;
            if (process == null) {
                throw new IOException("nothing is running for " + prefix);
            }
            process.host().replace(handler);
            synchronized (this) {
                this.handler = handler;
            }
            Log.say("%s: has %s now", process, Log.quote(handler));
        }
    }

    /**
     * Sets the process. Returns the previous process, which the caller must leave, or {@code null}.
     */
    private synchronized HandlerProcess take(HandlerProcess process, String handler) throws IOException {
        if (isClosed) {
            process.leave();
            throw new IOException("the server ends");
        }
        HandlerProcess old = current;
        current = process;
        this.handler = handler;
        // If the process has already ended, the callback runs at once.
        process.onExit(this::lost);
        return old;
    }

    private HandlerProcess launch(String handler) throws IOException {
        HandlerProcess process = launcher.launch(handler);
        Log.say("%s: handles %s with %s", process, prefix, Log.quote(handler));
        return process;
    }

    /** Drops a process that has ended or cannot be reached any more. */
    synchronized void lost(HandlerProcess process) {
        if (process != current) {
            // Another process has taken over, or the loss was reported before.
            return;
        }
        current = null;
        process.leave();
        if (!isClosed) {
            boolean hasLived = process.since().plus(LIVED).isBefore(Instant.now());
            failures = hasLived ? 0 : failures + 1;
            Log.say("%s: has ended; %s is not handled", process, prefix);
            launchLater();
        }
    }

    private void launchLater() {
        // The pause doubles with each failure.
        Duration pause = FIRST_PAUSE.multipliedBy(1L << Math.min(failures, 6));
        Duration bounded = pause.compareTo(LONGEST_PAUSE) < 0 ? pause : LONGEST_PAUSE;
        Thread.ofVirtual().name("web-launch" + prefix).start(() -> {
            try {
                Thread.sleep(bounded);
            } catch (InterruptedException e) {
                return;
            }
            launchAgain();
        });
    }

    private void launchAgain() {
        synchronized (changes) {
            String handler = wanted();
            if (handler == null) {
                return;
            }
            try {
                take(launch(handler), handler);
            } catch (IOException e) {
                Log.say("%s is still not handled: %s", prefix, Log.quote(String.valueOf(e.getMessage())));
                failedAgain();
            }
        }
    }

    /** Returns the handler for which a process has to be started, or {@code null}. */
    private synchronized String wanted() {
        return isClosed || current != null ? null : handler;
    }

    private synchronized void failedAgain() {
        failures++;
        launchLater();
    }

    /** Returns a line that describes the route. */
    synchronized String line() {
        return current == null ? "%s %s, not running".formatted(prefix, handler) : "%s %s, %s, %d requests".formatted(prefix, handler, current, current.requests());
    }

    @Override
    public synchronized void close() {
        isClosed = true;
        HandlerProcess process = current;
        current = null;
        if (process != null) {
            process.leave();
        }
    }
}
