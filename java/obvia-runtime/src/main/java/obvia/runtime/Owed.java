package obvia.runtime;

import java.util.ArrayList;
import java.util.List;

/**
 * The references to a client's objects that came in refused one-way calls, until they are given
 * back.
 */
final class Owed {
    /** The maximum number of references per client; later ones stay until the client ends. */
    static final int MAX = RuntimeCalls.RELEASES_MAX;

    private List<Entry> entries = new ArrayList<>();

    /** References with the connection through which the client listed them. */
    record Entry(Connection from, RuntimeCalls.Returned refs) {}

    synchronized void add(Entry entry) {
        if (entries.size() < MAX) {
            entries.add(entry);
        }
    }

    /** Removes and returns all references. */
    synchronized List<Entry> take() {
        List<Entry> taken = entries;
        entries = new ArrayList<>();
        return taken;
    }
}
