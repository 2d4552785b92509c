package obvia.runtime.objects;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * Received references to objects whose processes could not be reached. Each of these processes has
 * counted the references for this process. The next link to the process gives the references back.
 */
final class UnreachedReferences {
    /** The maximum number of entries. Further references are not remembered. */
    static final int MAX = RuntimeCalls.RELEASES_MAX;

    /**
     * The time in nanoseconds for which references are remembered: half of the time for which a
     * process keeps references for a process that is not connected.
     */
    static final long LIMIT = Duration.ofMinutes(3).toNanos();

    private final List<Entry> entries = new ArrayList<>();

    private record Entry(long oxid, RuntimeCalls.CountedReference refs, long received) {
        boolean isRecent(long now) {
            return now - received < LIMIT;
        }
    }

    /** Adds a reference that was received at this time by {@link System#nanoTime}. */
    synchronized void add(ObjRef reference, long received) {
        entries.removeIf(entry -> !entry.isRecent(received));
        if (entries.size() < MAX) {
            entries.add(new Entry(reference.oxid(), new RuntimeCalls.CountedReference(reference.target(), reference.refs()), received));
        }
    }

    /**
     * Removes the references to objects of a process, and returns those that are not older than
     * {@link #LIMIT}.
     */
    synchronized List<RuntimeCalls.CountedReference> take(long oxid, long now) {
        List<RuntimeCalls.CountedReference> taken = new ArrayList<>();
        for (Iterator<Entry> all = entries.iterator(); all.hasNext(); ) {
            Entry entry = all.next();
            if (entry.oxid == oxid) {
                all.remove();
                if (entry.isRecent(now)) {
                    taken.add(entry.refs);
                }
            }
        }
        return taken;
    }
}
