package obvia.runtime.call;

import java.time.Duration;
import obvia.Hresult;
import obvia.RpcException;

/** A deadline, by {@link System#nanoTime}. */
public record Deadline(long at) {
    /**
     * A practically unlimited time. {@link System#nanoTime} cannot compare points in time that are
     * much further apart.
     */
    private static final Duration LONGEST = Duration.ofNanos(Long.MAX_VALUE / 4);

    /** Returns the deadline that is {@code time} from now. */
    public static Deadline in(Duration time) {
        return new Deadline(System.nanoTime() + nanos(time));
    }

    /**
     * Converts a time to nanoseconds: negative times to 0, very long times to a practically
     * unlimited time.
     */
    public static long nanos(Duration time) {
        return time.isNegative() ? 0 : time.compareTo(LONGEST) > 0 ? LONGEST.toNanos() : time.toNanos();
    }

    /** Returns the remaining nanoseconds, or 0. */
    public long left() {
        return Math.max(0, at - System.nanoTime());
    }

    /** Whether the deadline has passed. */
    public boolean isOver() {
        return at - System.nanoTime() <= 0;
    }

    /** Throws RPC_E_TIMEOUT if the deadline has expired. */
    public void check() {
        if (isOver()) {
            throw RpcException.of(Hresult.RPC_E_TIMEOUT, "the deadline passed");
        }
    }
}
