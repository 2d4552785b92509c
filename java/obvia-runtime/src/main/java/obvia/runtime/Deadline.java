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

    /** The one of the work that a thread does. Tasks that the work forks, and waits for, have it as well. */
    private static final ScopedValue<Deadline> OF_WORK = ScopedValue.newInstance();

    static Deadline in(Duration time) {
        return new Deadline(System.nanoTime() + nanos(time));
    }

    /** A time in nanoseconds: none where it is negative, and not more than can be counted. */
    static long nanos(Duration time) {
        return time.isNegative() ? 0 : time.compareTo(LONGEST) > 0 ? LONGEST.toNanos() : time.toNanos();
    }

    /** The one of a call that begins on this thread now. */
    static Deadline ofCall() {
        return OF_WORK.isBound() ? OF_WORK.get() : in(USUAL);
    }

    /** Does some work by this point of time, or by an earlier one that this thread has. */
    <R, E extends Throwable> R during(ScopedValue.CallableOp<? extends R, E> work) throws E {
        boolean isSooner = !OF_WORK.isBound() || at - OF_WORK.get().at < 0;
        return ScopedValue.where(OF_WORK, isSooner ? this : OF_WORK.get()).call(work);
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
