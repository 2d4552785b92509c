package obvia.runtime.objects;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The references to a client's objects that arrived in refused one-way calls. This process keeps
 * them until it gives them back to the client.
 */
final class ReferencesToReturn {
    /**
     * The maximum number of targets per client. References beyond the maximum are not given back.
     * The client counts them until this process ends.
     */
    static final int MAX = RuntimeCalls.RELEASES_MAX;

    /** The lists by the connections on which they were received. */
    private final Map<Source, List<RuntimeCalls.CountedReference>> lists = new LinkedHashMap<>();

    private int count;

    /**
     * A connection, which may have ended since.
     *
     * @param pid the ID of the peer's process; -1 if it is not known
     * @param mark the connection's mark
     */
    record Source(long pid, long mark) {}

    /**
     * Adds references that were listed on a connection. At the limit, the longest list loses its
     * last entry. Therefore another process that claims the client's OXID cannot use up the limit.
     */
    synchronized void add(Source from, RuntimeCalls.CountedReference refs) {
        lists.computeIfAbsent(from, source -> new ArrayList<>()).add(refs);
        if (count < MAX) {
            count++;
            return;
        }
        Collections.max(lists.values(), Comparator.comparingInt(List::size)).removeLast();
        lists.values().removeIf(List::isEmpty);
    }

    /** Returns the connection whose list is the oldest; {@code null} if there are no lists. */
    synchronized Source first() {
        return lists.isEmpty() ? null : lists.keySet().iterator().next();
    }

    /** Removes and returns the list of a connection. */
    synchronized List<RuntimeCalls.CountedReference> take(Source from) {
        List<RuntimeCalls.CountedReference> taken = lists.remove(from);
        if (taken == null) {
            return List.of();
        }
        count -= taken.size();
        return taken;
    }
}
