package obvia.runtime;

import java.time.Duration;
import obvia.Hresult;
import obvia.RpcException;

/** When something has to be done: a point of {@link System#nanoTime}. */
record Deadline(long at) {
    /** How long calls may take where nobody says otherwise. */
    private static final Duration USUAL = Duration.ofSeconds(30);

    private static final ThreadLocal<Deadline> OF_THREAD = new ThreadLocal<>();

    static Deadline in(Duration time) {
        return new Deadline(System.nanoTime() + time.toNanos());
    }

    /** The one of a call that begins on this thread now. */
    static Deadline ofCall() {
        Deadline set = OF_THREAD.get();
        return set == null ? in(USUAL) : set;
    }

    /** Sets the one of this thread, and returns what was. */
    static Deadline set(Deadline deadline) {
        Deadline before = OF_THREAD.get();
        restore(before == null || deadline.at - before.at < 0 ? deadline : before);
        return before;
    }

    static void restore(Deadline before) {
        if (before == null) {
            OF_THREAD.remove();
        } else {
            OF_THREAD.set(before);
        }
    }

    /** Nanoseconds that are left, or 0. */
    long left() {
        return Math.max(0, at - System.nanoTime());
    }

    boolean isOver() {
        return at - System.nanoTime() <= 0;
    }

    /** Throws when it is over. */
    void check() {
        if (isOver()) {
            throw new RpcException(Hresult.RPC_E_TIMEOUT, "the deadline passed");
        }
    }
}
