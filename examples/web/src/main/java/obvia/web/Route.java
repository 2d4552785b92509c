package obvia.web;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;

/** A prefix of paths, and the process that handles them: started, replaced while it runs, started again when it ends. */
final class Route implements AutoCloseable {
    private static final Duration FIRST_PAUSE = Duration.ofMillis(100);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);
    /** Who has lived so long has not failed at starting. */
    private static final Duration LIVED = Duration.ofSeconds(10);

    private final String prefix;
    private final HandlerProcess.Launcher launcher;
    /** Held while a process starts, which takes its time; what is below has a lock of its own, this. */
    private final Object changes = new Object();
    /** {@code null} while there is none. */
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

    /** The process, which has to be left again; {@code null} while there is none. */
    HandlerProcess enter() {
        while (true) {
            HandlerProcess process = current;
            if (process == null || process.enter()) {
                return process;
            }
            // It has been given up since; who did that has put another in its place before.
        }
    }

    /** Has a new process take over; the old one ends when the requests that it has have been answered. */
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

    /** Has the process that is there take another handler. */
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

    /** Returns the process that was there before, or {@code null}; it has to be left. */
    private synchronized HandlerProcess take(HandlerProcess process, String handler) throws IOException {
        if (isClosed) {
            process.leave();
            throw new IOException("the server ends");
        }
        HandlerProcess old = current;
        current = process;
        this.handler = handler;
        // Which may be at once.
        process.onExit(this::lost);
        return old;
    }

    private HandlerProcess launch(String handler) throws IOException {
        HandlerProcess process = launcher.launch(handler);
        Log.say("%s: handles %s with %s", process, prefix, Log.quote(handler));
        return process;
    }

    /** A process has ended, or cannot be reached any more. */
    synchronized void lost(HandlerProcess process) {
        if (process != current) {
            // Another has taken over, or it is known already.
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
        // Twice as long each time.
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

    /** The handler that has no process and is to have one, or {@code null}. */
    private synchronized String wanted() {
        return isClosed || current != null ? null : handler;
    }

    private synchronized void failedAgain() {
        failures++;
        launchLater();
    }

    /** A line of what it does. */
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
