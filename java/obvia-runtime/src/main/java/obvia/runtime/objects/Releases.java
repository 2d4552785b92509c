package obvia.runtime.objects;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The references to objects of a process that are to be released.
 *
 * <p>The sender of a reference may have invented the reference's count. When this process releases
 * a count, the object's process subtracts the count from all references of this process to the
 * target. Therefore the references to a target are released together with its last proxy, so that
 * no invented count takes the references of another proxy. One case remains: a release that is
 * already being sent when the first proxy of its target is added can take that proxy's references.
 *
 * <p>A target has an entry in one of the maps at most.
 */
final class Releases {
    /** The targets that have proxies. */
    private final Map<Long, Held> held = new HashMap<>();

    /** The counts for targets without proxies. These counts are sent next, the oldest first. */
    private final Map<Long, Long> queue = new LinkedHashMap<>();

    /** The number of a target's proxies, and the count that is released with the last proxy. */
    private static final class Held {
        private int proxies;
        private long refs;
    }

    /** Adds a proxy. The first proxy of a target takes over the references in the queue. */
    synchronized void addProxy(long target) {
        Held known = held.computeIfAbsent(target, key -> new Held());
        known.proxies++;
        Long queued = queue.remove(target);
        known.refs = queued == null ? known.refs : queued;
    }

    /**
     * Removes a proxy with its references. The last proxy of a target moves the target's references
     * to the queue.
     */
    synchronized void removeProxy(long target, long refs) {
        giveBack(target, refs);
        Held known = held.get(target);
        if (known != null && --known.proxies == 0) {
            held.remove(target);
            giveBack(target, known.refs);
        }
    }

    /** Adds references that belong to no proxy. They wait for the target's last proxy, if any. */
    synchronized void giveBack(long target, long refs) {
        Held known = held.get(target);
        if (known != null) {
            known.refs = sum(known.refs, refs);
        } else {
            queue.merge(target, refs, Releases::sum);
        }
    }

    /** Adds counts; the sum does not wrap. */
    private static long sum(long one, long other) {
        return one > Long.MAX_VALUE - other ? Long.MAX_VALUE : one + other;
    }

    synchronized boolean isEmpty() {
        return queue.isEmpty();
    }

    /** Removes the oldest references, at most as many as one release may have, and returns them. */
    synchronized List<RuntimeCalls.CountedReference> next() {
        List<RuntimeCalls.CountedReference> batch = new ArrayList<>();
        Iterator<Map.Entry<Long, Long>> all = queue.entrySet().iterator();
        while (all.hasNext() && batch.size() < RuntimeCalls.RELEASES_MAX) {
            Map.Entry<Long, Long> entry = all.next();
            batch.add(new RuntimeCalls.CountedReference(entry.getKey(), entry.getValue()));
            all.remove();
        }
        return batch;
    }
}
