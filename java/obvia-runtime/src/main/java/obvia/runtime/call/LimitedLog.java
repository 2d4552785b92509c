package obvia.runtime.call;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/**
 * Warnings that peers can cause, limited to a burst and then one warning per second. The next
 * logged warning reports the number of suppressed warnings.
 */
public final class LimitedLog {
    /** The maximum number of warnings at once. */
    static final int BURST = 16;

    private static final long PERIOD = 1_000_000_000;
    private static final Logger LOGGER = System.getLogger("obvia");

    // The time budget in nanoseconds: each warning costs one period.
    private long left = BURST * PERIOD;
    private long seen;
    private long untold;

    LimitedLog(long now) {
        seen = now;
    }

    /** Creates a log that can log a whole burst at once. */
    public LimitedLog() {
        this(System.nanoTime());
    }

    /** Logs a warning unless the limit is exceeded. */
    public void warn(String text, Throwable why) {
        long before = take(System.nanoTime());
        if (before >= 0) {
            LOGGER.log(Level.WARNING, before == 0 ? text : text + ", and " + before + " earlier warnings of this kind were not logged", why);
        }
    }

    /**
     * Returns the number of suppressed warnings since the last logged warning, or -1 if the present
     * warning is suppressed as well.
     */
    synchronized long take(long now) {
        left = Math.min(left + Math.max(now - seen, 0), BURST * PERIOD);
        seen = now;
        if (left < PERIOD) {
            untold++;
            return -1;
        }
        left -= PERIOD;
        long before = untold;
        untold = 0;
        return before;
    }
}
