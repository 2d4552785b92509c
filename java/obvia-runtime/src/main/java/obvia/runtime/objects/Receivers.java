package obvia.runtime.objects;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The processes to which other processes passed references, and that have no connection to this
 * process. {@linkplain Clients Lost clients} are in this table, too. Any process can name receivers
 * or become a lost client, so this table has a limit. References of processes in the table are
 * dropped after {@link #LIMIT}.
 */
final class Receivers {
    /** The maximum number of receivers. */
    static final int MAX = 1 << 13;

    /** The maximum number of receivers to which one process has passed references. */
    static final int MAX_PER_GIVER = 1 << 10;

    /** The time in nanoseconds for which the references of a receiver are kept. */
    static final long LIMIT = Duration.ofMinutes(6).toNanos();

    /** The receivers by OXID. */
    private final Map<Long, Receiver> receivers = new HashMap<>();
    /**
     * The number of receivers of each giver, by process ID. A giver is a process that passed
     * references to receivers.
     */
    private final Map<Long, Integer> given = new HashMap<>();

    private record Receiver(long giver, long since) {}

    /**
     * Adds a receiver, or restarts the time limit of a known receiver. Returns false at a limit.
     *
     * @param giver the process ID of the process that passes references on; for a lost client, the
     *     client's process ID
     * @param since the time by {@link System#nanoTime} at which the references were sent
     */
    synchronized boolean add(long receiver, long giver, long since) {
        if (renew(receiver, since)) {
            return true;
        }
        if (receivers.size() >= MAX || given.getOrDefault(giver, 0) >= MAX_PER_GIVER) {
            return false;
        }
        receivers.put(receiver, new Receiver(giver, since));
        given.merge(giver, 1, Integer::sum);
        return true;
    }

    /**
     * Restarts the time limit of a receiver, at {@code since}. Returns false if there is no such
     * receiver.
     */
    synchronized boolean renew(long receiver, long since) {
        return receivers.computeIfPresent(receiver, (_, known) -> new Receiver(known.giver, since)) != null;
    }

    /**
     * Counts a receiver toward the limit of a new giver, and no longer toward the limit of the
     * former giver. Returns false if the new giver has reached its limit.
     */
    synchronized boolean charge(long receiver, long giver) {
        Receiver known = receivers.get(receiver);
        if (known == null || known.giver == giver) {
            return true;
        }
        if (given.getOrDefault(giver, 0) >= MAX_PER_GIVER) {
            return false;
        }
        remove(receiver);
        return add(receiver, giver, known.since);
    }

    /**
     * Removes a receiver that has connected, or whose references are dropped. Returns the time at
     * which its last references were sent, or null if there is no such receiver.
     */
    synchronized Long remove(long receiver) {
        Receiver known = receivers.remove(receiver);
        if (known == null) {
            return null;
        }
        given.computeIfPresent(known.giver, (_, count) -> count > 1 ? count - 1 : null);
        return known.since;
    }

    /**
     * Removes a receiver if its time limit has expired. Returns whether the receiver was removed.
     */
    synchronized boolean removeExpired(long receiver, long now) {
        Receiver known = receivers.get(receiver);
        boolean isOver = known != null && now - known.since >= LIMIT;
        if (isOver) {
            remove(receiver);
        }
        return isOver;
    }

    /** Returns the receivers whose time limit has expired. */
    synchronized List<Long> expired(long now) {
        List<Long> expired = new ArrayList<>();
        receivers.forEach((receiver, known) -> {
            if (now - known.since >= LIMIT) {
                expired.add(receiver);
            }
        });
        return expired;
    }
}
