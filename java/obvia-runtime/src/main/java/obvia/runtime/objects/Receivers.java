package obvia.runtime.objects;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Processes that were passed references by others and are not connected, and {@linkplain Clients
 * lost clients}. Anyone can name such processes or leave, so their number is limited, and after a
 * while their references are dropped.
 */
final class Receivers {
    /** The maximum number of receivers. */
    static final int MAX = 1 << 13;

    /** The maximum number of receivers to which one process has passed references. */
    static final int MAX_PER_GIVER = 1 << 10;

    /** The time in nanoseconds for which the references of a receiver are kept. */
    static final long LIMIT = Duration.ofMinutes(6).toNanos();

    /** The receivers by OXID, in the order of their arrival. */
    private final Map<Long, Receiver> receivers = new LinkedHashMap<>();
    /** The number of receivers by process ID of the giver. */
    private final Map<Long, Integer> given = new HashMap<>();

    private record Receiver(long giver, long since) {}

    /**
     * Adds a receiver, or notes that a known one was passed further references. Returns false at a
     * limit.
     *
     * @param giver the process ID of the process that passes references on; for a lost client its
     *     own
     * @param now the time by {@link System#nanoTime}
     */
    synchronized boolean add(long receiver, long giver, long now) {
        Receiver known = receivers.remove(receiver);
        if (known != null) {
            receivers.put(receiver, new Receiver(known.giver, now));
            return true;
        }
        if (receivers.size() >= MAX || given.getOrDefault(giver, 0) >= MAX_PER_GIVER) {
            return false;
        }
        receivers.put(receiver, new Receiver(giver, now));
        given.merge(giver, 1, Integer::sum);
        return true;
    }

    /** Removes a receiver that has connected, or whose references are dropped. */
    synchronized void remove(long receiver) {
        Receiver known = receivers.remove(receiver);
        if (known != null) {
            given.computeIfPresent(known.giver, (_, count) -> count > 1 ? count - 1 : null);
        }
    }

    /** Removes a receiver if its time is over. Returns whether it is. */
    synchronized boolean removeExpired(long receiver, long now) {
        Receiver known = receivers.get(receiver);
        boolean isOver = known != null && now - known.since >= LIMIT;
        if (isOver) {
            remove(receiver);
        }
        return isOver;
    }

    /** Returns the receivers whose time is over. */
    synchronized List<Long> expired(long now) {
        List<Long> expired = new ArrayList<>();
        for (Map.Entry<Long, Receiver> receiver : receivers.entrySet()) {
            // The receivers are in the order of their times.
            if (now - receiver.getValue().since < LIMIT) {
                break;
            }
            expired.add(receiver.getKey());
        }
        return expired;
    }
}
