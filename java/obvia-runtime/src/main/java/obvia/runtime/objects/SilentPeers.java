package obvia.runtime.objects;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/**
 * The peers that have left a request of the janitor without an answer.
 *
 * <p>The janitor waits for one peer at a time. In each round, the janitor first serves the peers
 * that are not in this list, and then a few peers of the list. A peer stays in the list for a while
 * even if it answers again. Otherwise a peer that answers only every second request would delay all
 * other peers.
 *
 * <p>Only the janitor uses the list.
 */
final class SilentPeers<P> {
    /** The maximum number of silent peers that are served in one round. */
    static final int MAX_PER_ROUND = 2;

    /** The time in nanoseconds for which a peer counts as silent. */
    static final long LASTING = Duration.ofMinutes(10).toNanos();

    /** The time of the last missing answer, by peer. The peer that was served last comes last. */
    private final Map<P, Long> silent = new LinkedHashMap<>();

    boolean has(P peer) {
        return silent.containsKey(peer);
    }

    /** Notes that a peer did not answer. */
    void add(P peer, long now) {
        silent.remove(peer);
        silent.put(peer, now);
    }

    /**
     * Removes the peers that no longer exist, and the peers whose last missing answer is at least
     * {@link #LASTING} ago.
     */
    void retain(Set<P> peers, long now) {
        silent.entrySet().removeIf(known -> !peers.contains(known.getKey()) || now - known.getValue() >= LASTING);
    }

    /**
     * Returns the silent peers that are served in this round: the first few for which the janitor
     * has requests.
     */
    List<P> next(Predicate<P> hasRequests) {
        List<P> next = new ArrayList<>();
        for (P peer : silent.keySet()) {
            if (next.size() < MAX_PER_ROUND && hasRequests.test(peer)) {
                next.add(peer);
            }
        }
        for (P peer : next) {
            silent.put(peer, silent.remove(peer));
        }
        return next;
    }
}
