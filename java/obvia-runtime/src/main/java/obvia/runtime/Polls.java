package obvia.runtime;

import obvia.Waiting;

/**
 * How often to look before sleeping, learned from what looking brought.
 *
 * <p>Two threads that look on one processor never see each other's message meanwhile; there every look is wasted, and the budget falls to almost nothing after a few
 * waits. Now and then, and ever more seldom, one wait looks long all the same. {@code crates/via/src/wait.rs} does the same.
 */
final class Polls {
    /** Looks before the first sleep: about what the two wake-ups take that it may save. */
    private static final int MOST = 1 << 13;

    private static final int LEAST = 1 << 4;
    private static final int INTERVAL = 4;
    private static final int INTERVAL_MAX = 256;
    /** A wait that took longer says that the peer had nothing to send, and nothing about whether looking pays. */
    private static final long IDLE = 1_000_000;

    private final Waiting waiting;
    private int budget;
    private boolean isPatient;
    private int interval = INTERVAL;
    private int untilProbe = INTERVAL;

    Polls(Waiting waiting) {
        this.waiting = waiting;
        setBudget(Runtime.getRuntime().availableProcessors() == 1 ? LEAST : MOST);
    }

    private void setBudget(int budget) {
        this.budget = budget;
        isPatient = budget > LEAST && waiting != Waiting.BLOCK;
    }

    /** The looks of a wait that begins; {@link Integer#MAX_VALUE} are without end. */
    int begin() {
        return switch (waiting) {
            case POLL -> Integer.MAX_VALUE;
            case BLOCK -> 0;
            case ADAPTIVE -> untilProbe == 0 ? MOST : budget;
        };
    }

    /** Whether the thread looks again and again at all. */
    boolean isPatient() {
        return isPatient;
    }

    /** Whether the thread looks without end. */
    boolean isEndless() {
        return waiting == Waiting.POLL;
    }

    /** A message came while looking. */
    void paid() {
        if (budget == MOST && untilProbe == INTERVAL) {
            return;
        }
        setBudget(MOST);
        interval = INTERVAL;
        untilProbe = INTERVAL;
    }

    /** The thread had to sleep, for so many nanoseconds. */
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
