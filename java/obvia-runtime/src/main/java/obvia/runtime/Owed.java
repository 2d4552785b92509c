package obvia.runtime;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The references to a client's objects that came in refused one-way calls, until they are given
 * back.
 */
final class Owed {
    /** The maximum number of targets per client; the references to others stay until it ends. */
    static final int MAX = RuntimeCalls.RELEASES_MAX;

    /** The lists by the connections on which they were received. */
    private final Map<Connection, List<RuntimeCalls.Returned>> lists = new LinkedHashMap<>();

    private int count;

    /**
     * Adds references that were listed on a connection. Without room for them, the connection with
     * the longest list loses its last entry: another process that claims the client's OXID must not
     * take all places.
     */
    synchronized void add(Connection from, RuntimeCalls.Returned refs) {
        lists.computeIfAbsent(from, connection -> new ArrayList<>()).add(refs);
        if (count < MAX) {
            count++;
            return;
        }
        Collections.max(lists.values(), Comparator.comparingInt(List::size)).removeLast();
        lists.values().removeIf(List::isEmpty);
    }

    /** Returns the connection whose list is the oldest; {@code null} without lists. */
    synchronized Connection first() {
        return lists.isEmpty() ? null : lists.keySet().iterator().next();
    }

    /** Removes and returns the list of a connection. */
    synchronized List<RuntimeCalls.Returned> take(Connection from) {
        List<RuntimeCalls.Returned> taken = lists.remove(from);
        if (taken == null) {
            return List.of();
        }
        count -= taken.size();
        return taken;
    }
}
