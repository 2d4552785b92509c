package obvia.runtime.shm;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import obvia.runtime.call.Deadline;

/** Limits the number of pieces of work that run at once: for each requester, and in total. */
final class WorkLimit<K> {
    private final int eachMax;
    private final int allMax;
    private final Map<K, Integer> each = new HashMap<>();
    private int all;

    WorkLimit(int eachMax, int allMax) {
        this.eachMax = eachMax;
        this.allMax = allMax;
    }

    /**
     * Waits until a requester may begin work, and counts the work. Returns false if the deadline
     * expired first.
     *
     * @throws InterruptedException if the thread was interrupted while it waited
     */
    synchronized boolean begin(K requester, Deadline end) throws InterruptedException {
        while (all == allMax || each.getOrDefault(requester, 0) == eachMax) {
            long left = end.left();
            if (left == 0) {
                return false;
            }
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
        all++;
        each.merge(requester, 1, Integer::sum);
        return true;
    }

    /** Ends work of a requester. */
    synchronized void end(K requester) {
        all--;
        each.computeIfPresent(requester, (key, count) -> count == 1 ? null : count - 1);
        notifyAll();
    }
}
