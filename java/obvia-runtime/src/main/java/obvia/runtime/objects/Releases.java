package obvia.runtime.objects;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * The references to objects of a process that are to be released.
 *
 * <p>The sender of a reference may have made up its count, and the process subtracts a released
 * count from all references of this one to the target. The references to a target are therefore
 * released with its last proxy: no count can end another proxy.
 */
final class Releases {
    /** The targets that have proxies. */
    private final Map<Long, Held> held = new ConcurrentHashMap<>();

    private final ConcurrentLinkedQueue<RuntimeCalls.CountedReference> queue = new ConcurrentLinkedQueue<>();

    /** The number of a target's proxies, and of the references to be released with the last one. */
    private record Held(int proxies, long refs) {
        Held with(int more, int moreRefs) {
            return new Held(proxies + more, refs + moreRefs);
        }
    }

    /** Adds a proxy. */
    void addProxy(long target) {
        held.merge(target, new Held(1, 0), (known, _) -> known.with(1, 0));
    }

    /** Removes a proxy, and queues the target's references if it was the last proxy. */
    void removeProxy(long target, int refs) {
        held.computeIfPresent(target, (_, known) -> {
            Held left = known.with(-1, refs);
            if (left.proxies > 0) {
                return left;
            }
            queue.add(new RuntimeCalls.CountedReference(target, left.refs));
            return null;
        });
    }

    /** Queues references that belong to no proxy, unless the target has proxies. */
    void giveBack(long target, int refs) {
        if (held.computeIfPresent(target, (_, known) -> known.with(0, refs)) == null) {
            queue.add(new RuntimeCalls.CountedReference(target, refs));
        }
    }

    boolean isEmpty() {
        return queue.isEmpty();
    }

    /** Removes the oldest references, at most those of one release, and returns them. */
    List<RuntimeCalls.CountedReference> next() {
        List<RuntimeCalls.CountedReference> batch = new ArrayList<>();
        while (!queue.isEmpty() && batch.size() < RuntimeCalls.RELEASES_MAX) {
            batch.add(queue.poll());
        }
        return batch;
    }
}
