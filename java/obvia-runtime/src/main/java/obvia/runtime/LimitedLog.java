package obvia.runtime;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/** Warnings that peers bring about: a few at once and one each second after that. What is left out is counted in the next one. */
final class LimitedLog {
    /** How many come at once. */
    static final int BURST = 16;

    private static final long PERIOD = 1_000_000_000;
    private static final Logger LOGGER = System.getLogger("obvia");

    // As much time as there is left for warnings: a period each.
    private long left = BURST * PERIOD;
    private long seen;
    private long untold;

    LimitedLog(long now) {
        seen = now;
    }

    LimitedLog() {
        this(System.nanoTime());
    }

    /** Writes a warning, unless there were too many. */
    void warn(String text, Throwable why) {
        long before = take(System.nanoTime());
        if (before >= 0) {
            LOGGER.log(Level.WARNING, before == 0 ? text : text + ", and " + before + " warnings of this kind before", why);
        }
    }

    /** How many were left out since the last one, or -1 where this one is left out as well. */
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
