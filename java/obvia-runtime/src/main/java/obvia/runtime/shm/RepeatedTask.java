package obvia.runtime.shm;

import java.util.concurrent.locks.LockSupport;
import obvia.runtime.call.LimitedLog;

/**
 * The repeated task of a runtime thread. No failure of a turn ends the thread, including a lack of
 * threads, file descriptors or memory.
 */
public final class RepeatedTask implements Runnable {
    /**
     * The pause in nanoseconds after a failed turn, after which the missing resource may be
     * available again.
     */
    private static final long PAUSE = 10_000_000;

    private static final LimitedLog LOG = new LimitedLog();

    private final String what;
    private final Step turn;

    /** One repetition of the task. */
    @FunctionalInterface
    public interface Step {
        /** Performs a turn. Returns whether another one follows. */
        boolean take() throws Exception;
    }

    RepeatedTask(String what, Step turn) {
        this.what = what;
        this.turn = turn;
    }

    /**
     * Starts the thread. The thread keeps no class loader but the runtime's: the program that
     * happens to start it may be unloaded earlier.
     */
    public static Thread start(String name, boolean isDaemon, String what, Step turn) {
        Thread thread = Thread.ofPlatform().name(name).daemon(isDaemon).inheritInheritableThreadLocals(false).unstarted(new RepeatedTask(what, turn));
        thread.setContextClassLoader(RepeatedTask.class.getClassLoader());
        thread.start();
        return thread;
    }

    @Override
    public void run() {
        boolean goesOn = true;
        while (goesOn) {
            try {
                goesOn = turn.take();
            } catch (Throwable e) {
                rest(e);
            }
        }
    }

    private void rest(Throwable why) {
        try {
            // An interrupt only shortens the pause.
            Thread.interrupted();
            LockSupport.parkNanos(PAUSE);
            LOG.warn(what + " continues after a failure", why);
        } catch (Throwable e) {
            // Memory is exhausted: the failure is not logged.
        }
    }
}
