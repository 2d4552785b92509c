package obvia.runtime.objects;

import java.lang.ref.WeakReference;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import obvia.runtime.shm.Window;

/**
 * The marks of a link's connections: of all open connections, and of the connections that were
 * closed last.
 */
final class ConnectionMarks {
    private final int max;
    private final Map<Long, WeakReference<Window>> all = new LinkedHashMap<>();

    /**
     * Creates an empty set.
     *
     * @param max the number of marks at which a new mark replaces the mark of a closed connection;
     *     open connections can exceed the number
     */
    ConnectionMarks(int max) {
        this.max = max;
    }

    synchronized void add(Window window) {
        if (all.size() >= max) {
            forgetClosed();
        }
        all.put(window.mark(), new WeakReference<>(window));
    }

    private void forgetClosed() {
        for (Iterator<WeakReference<Window>> each = all.values().iterator(); each.hasNext();) {
            Window window = each.next().get();
            if (window == null || window.isKnownClosed()) {
                each.remove();
                return;
            }
        }
    }

    synchronized boolean has(long mark) {
        return all.containsKey(mark);
    }
}
