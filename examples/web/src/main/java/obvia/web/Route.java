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
    /** Changed by whoever holds the lock; {@code null} while there is none. */
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
    synchronized void replaceProcess(String handler) throws IOException {
        checkOpen();
        HandlerProcess fresh = launch(handler);
        HandlerProcess old = current;
        failures = 0;
        take(fresh, handler);
        if (old != null) {
            Log.say("%s: takes over %s; %s ends when its %d requests have been answered", fresh, prefix, old, old.requests());
            old.leave();
        }
    }

    private void take(HandlerProcess process, String handler) {
        current = process;
        this.handler = handler;
        // Which may be at once.
        process.onExit(this::lost);
    }

    /** Has the process that is there take another handler. */
    synchronized void replaceHandler(String handler) throws IOException {
        checkOpen();
        if (current == null) {
            throw new IOException("nothing is running for " + prefix);
        }
        current.host().replace(handler);
        this.handler = handler;
        Log.say("%s: has %s now", current, Log.quote(handler));
    }

    private void checkOpen() throws IOException {
        if (isClosed) {
            throw new IOException("the server ends");
        }
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

    private synchronized void launchAgain() {
        if (isClosed || current != null) {
            return;
        }
        try {
            take(launch(handler), handler);
        } catch (IOException e) {
            failures++;
            Log.say("%s is still not handled: %s", prefix, Log.quote(String.valueOf(e.getMessage())));
            launchLater();
        }
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
