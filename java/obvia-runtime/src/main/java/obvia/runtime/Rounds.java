package obvia.runtime;

import java.util.concurrent.locks.LockSupport;

/** What a thread of the runtime's own does again and again: nothing that one turn throws ends it, be that for want of threads, files or memory. */
final class Rounds implements Runnable {
    /** Before the next turn, where one has failed: what was missing may be there again. */
    private static final long PAUSE = 10_000_000;

    private static final LimitedLog LOG = new LimitedLog();

    private final String what;
    private final Turn turn;

    /** One turn. */
    @FunctionalInterface
    interface Turn {
        /** Whether there is another one. */
        boolean take() throws Exception;
    }

    Rounds(String what, Turn turn) {
        this.what = what;
        this.turn = turn;
    }

    /** Starts the thread. It keeps no class loader but the runtime's own: the program's, who happens to have it started, may be gone before it is. */
    static Thread start(String name, boolean isDaemon, String what, Turn turn) {
        Thread thread = Thread.ofPlatform().name(name).daemon(isDaemon).inheritInheritableThreadLocals(false).unstarted(new Rounds(what, turn));
        thread.setContextClassLoader(Rounds.class.getClassLoader());
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
            // Whoever interrupts it means a pause less.
            Thread.interrupted();
            LockSupport.parkNanos(PAUSE);
            LOG.warn(what + " goes on after a failure", why);
        } catch (Throwable e) {
            // There is no memory to say so.
        }
    }
}
