package obvia.runtime;

import java.time.Duration;
import obvia.Hresult;
import obvia.RpcException;

/** When something has to be done: a point of {@link System#nanoTime}. */
record Deadline(long at) {
    /** How long calls may take where nobody says otherwise. */
    private static final Duration USUAL = Duration.ofSeconds(30);

    /** As good as for ever: two points of time that are further apart cannot be compared. */
    private static final Duration LONGEST = Duration.ofNanos(Long.MAX_VALUE / 4);

    static Deadline in(Duration time) {
        return new Deadline(System.nanoTime() + nanos(time));
    }

    /** A time in nanoseconds: none where it is negative, and not more than can be counted. */
    static long nanos(Duration time) {
        return time.isNegative() ? 0 : time.compareTo(LONGEST) > 0 ? LONGEST.toNanos() : time.toNanos();
    }

    /** The one of a call that begins on this thread now. */
    static Deadline ofCall() {
        Deadline ofWork = CallContext.current().deadline();
        return ofWork != null ? ofWork : in(USUAL);
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
            throw RpcException.of(Hresult.RPC_E_TIMEOUT, "the deadline passed");
        }
    }
}
