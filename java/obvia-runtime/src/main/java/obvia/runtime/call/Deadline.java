package obvia.runtime.call;

import java.time.Duration;
import obvia.Hresult;
import obvia.RpcException;

/** A deadline, by {@link System#nanoTime}. */
public record Deadline(long at) {
    /** The default time limit of calls. */
    private static final Duration USUAL = Duration.ofSeconds(30);

    /** A practically unlimited time: points in time that are further apart cannot be compared. */
    private static final Duration LONGEST = Duration.ofNanos(Long.MAX_VALUE / 4);

    /** Returns the deadline that is a time from now. */
    public static Deadline in(Duration time) {
        return new Deadline(System.nanoTime() + nanos(time));
    }

    /** Converts a time to nanoseconds: negative times to 0, long ones to the maximum. */
    public static long nanos(Duration time) {
        return time.isNegative() ? 0 : time.compareTo(LONGEST) > 0 ? LONGEST.toNanos() : time.toNanos();
    }

    /** Returns the deadline of a call that begins on this thread now. */
    public static Deadline ofCall() {
        Deadline ofWork = CallContext.current().deadline();
        return ofWork != null ? ofWork : in(USUAL);
    }

    /** Returns the remaining nanoseconds, or 0. */
    public long left() {
        return Math.max(0, at - System.nanoTime());
    }

    /** Whether the deadline has passed. */
    public boolean isOver() {
        return at - System.nanoTime() <= 0;
    }

    /** Throws an exception if the deadline has expired. */
    public void check() {
        if (isOver()) {
            throw RpcException.of(Hresult.RPC_E_TIMEOUT, "the deadline passed");
        }
    }
}
