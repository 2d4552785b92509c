package obvia.runtime.shm;

import obvia.Waiting;

/**
 * The number of polls before a thread sleeps. The number adapts to the success of earlier polls.
 *
 * <p>Two threads that share one processor do not see each other's messages while they poll. All
 * their polls are wasted, so the budget drops to a few polls after a few waits. At growing
 * intervals, one wait still polls for the full time. {@code crates/via/src/wait.rs} does the same.
 */
final class PollBudget {
    /**
     * The maximum number of polls before the first sleep. They take about as long as the two
     * wake-ups that polling may save.
     */
    private static final int MOST = 1 << 13;

    private static final int LEAST = 1 << 4;
    private static final int INTERVAL = 4;
    private static final int INTERVAL_MAX = 256;
    /**
     * The length in nanoseconds from which on a wait counts as a wait for an idle peer. Such a wait
     * does not change the budget, because it does not show whether polling helps.
     */
    private static final long IDLE = 1_000_000;

    private final Waiting waiting;
    private int budget;
    private boolean isPatient;
    private int interval = INTERVAL;
    private int untilProbe = INTERVAL;

    PollBudget(Waiting waiting) {
        this.waiting = waiting;
        setBudget(Runtime.getRuntime().availableProcessors() == 1 ? LEAST : MOST);
    }

    private void setBudget(int budget) {
        this.budget = budget;
        isPatient = budget > LEAST && waiting != Waiting.BLOCK;
    }

    /**
     * Returns the number of polls for a wait that begins; {@link Integer#MAX_VALUE} means no limit.
     */
    int begin() {
        return switch (waiting) {
            case POLL -> Integer.MAX_VALUE;
            case BLOCK -> 0;
            case ADAPTIVE -> untilProbe == 0 ? MOST : budget;
        };
    }

    /** Whether the thread polls, and the budget is above the minimum. */
    boolean isPatient() {
        return isPatient;
    }

    /** Whether the thread polls without a limit. */
    boolean isEndless() {
        return waiting == Waiting.POLL;
    }

    /** Notes that a message arrived during polling. */
    void paid() {
        if (budget == MOST && untilProbe == INTERVAL) {
            return;
        }
        setBudget(MOST);
        interval = INTERVAL;
        untilProbe = INTERVAL;
    }

    /** Notes that the thread slept for {@code nanos} nanoseconds. */
    void slept(long nanos) {
        if (nanos >= IDLE) {
            return;
        }
        setBudget(Math.max(LEAST, budget / 4));
        if (untilProbe > 0) {
            untilProbe--;
        } else {
            interval = Math.min(INTERVAL_MAX, interval * 2);
            untilProbe = interval;
        }
    }
}
