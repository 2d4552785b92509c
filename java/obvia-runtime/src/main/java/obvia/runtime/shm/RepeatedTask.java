package obvia.runtime.shm;

import java.util.concurrent.locks.LockSupport;
import obvia.runtime.call.LimitedLog;

/**
 * The repeated task of a runtime thread. No failure of a step ends the thread, not even a lack of
 * threads, file descriptors or memory.
 */
public final class RepeatedTask implements Runnable {
    /**
     * The pause in nanoseconds after a failed step. The missing resource may be available again
     * when the pause ends.
     */
    private static final long PAUSE = 10_000_000;

    private static final LimitedLog LOG = new LimitedLog();

    private final String what;
    private final Step step;

    /** A repetition of the task. */
    @FunctionalInterface
    public interface Step {
        /** Performs a step. Returns whether another step follows. */
        boolean perform() throws Exception;
    }

    RepeatedTask(String what, Step step) {
        this.what = what;
        this.step = step;
    }

    /**
     * Starts the thread. Warnings in the log call the task {@code what}. The thread refers to no
     * class loader but the runtime's, because the program whose call starts the thread may be
     * unloaded before the thread ends.
     */
    public static Thread start(String name, boolean isDaemon, String what, Step step) {
        Thread thread = Thread.ofPlatform().name(name).daemon(isDaemon).inheritInheritableThreadLocals(false).unstarted(new RepeatedTask(what, step));
        thread.setContextClassLoader(RepeatedTask.class.getClassLoader());
        thread.start();
        return thread;
    }

    @Override
    public void run() {
        boolean goesOn = true;
        while (goesOn) {
            try {
                goesOn = step.perform();
            } catch (Throwable e) {
                rest(e);
            }
        }
    }

    private void rest(Throwable why) {
        try {
            // The interrupt status is cleared, because `parkNanos` would return at once otherwise.
            Thread.interrupted();
            LockSupport.parkNanos(PAUSE);
            LOG.warn(what + " continues after a failure", why);
        } catch (Throwable e) {
            // Memory is exhausted: the failure is not logged.
        }
    }
}
