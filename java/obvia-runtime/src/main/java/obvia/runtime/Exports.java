package obvia.runtime;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import obvia.Guid;
import obvia.Hresult;
import obvia.RpcException;

/**
 * What other processes refer to: interface pointers by index and generation, with how many references each client holds.
 *
 * <p>An object has an entry for each interface that it was asked for, and leaves with the last reference to any of them.
 */
final class Exports {
    private final List<Entry> table = new ArrayList<>();
    private final List<Integer> vacant = new ArrayList<>();
    private final Map<Object, Identity> objects = new IdentityHashMap<>();
    private int generation;
    private long lastOid;

    /** Counts removals, replacements and changes of rules: copies of entries that are kept elsewhere are good as long as it does not change. */
    private volatile int removals;

    /** An object of this process, and its entries by interface. */
    private static final class Identity {
        final long oid;
        final boolean isVirtual;
        final Map<Guid, Entry> entries = new HashMap<>();

        Identity(long oid, boolean isVirtual) {
            this.oid = oid;
            this.isVirtual = isVirtual;
        }
    }

    /** An interface pointer. */
    static final class Entry {
        private final Object object;
        private final InterfaceInfo<?> info;
        private final InterfaceInfo.Stub<Object> stub;
        private final long target;
        private final Identity identity;
        private final Map<Long, Long> holders;

        @SuppressWarnings("unchecked")
        private Entry(Object object, InterfaceInfo<?> info, long target, Identity identity, Map<Long, Long> holders) {
            this.object = object;
            this.info = info;
            stub = (InterfaceInfo.Stub<Object>) info.stub();
            this.target = target;
            this.identity = identity;
            this.holders = holders;
        }

        Object object() {
            return object;
        }

        InterfaceInfo<?> info() {
            return info;
        }

        /** Index and generation, in one word. */
        long target() {
            return target;
        }

        long oid() {
            return identity.oid;
        }

        /** Whether virtual threads call it. */
        boolean isVirtual() {
            return identity.isVirtual;
        }

        void perform(InCall call) throws Throwable {
            stub.perform(object, call);
        }
    }

    Exports() {
        // No pointer has index 0, which is the runtime's.
        table.add(null);
    }

    int removals() {
        return removals;
    }

    /** Has every copy of an entry be looked up again. */
    synchronized void recall() {
        removals++;
    }

    /**
     * Counts references of a client to an interface of an object, and returns its entry.
     *
     * @param isVirtual whether virtual threads call it, where it is new here
     */
    synchronized Entry add(Object object, InterfaceInfo<?> info, long client, int refs, boolean isVirtual) {
        Identity identity = objects.computeIfAbsent(object, o -> new Identity(++lastOid, isVirtual));
        Entry entry = identity.entries.computeIfAbsent(info.iid(), iid -> enter(object, info, identity));
        entry.holders.merge(client, (long) refs, Long::sum);
        return entry;
    }

    /** The same for another interface of the object behind an interface pointer. */
    synchronized Entry query(long target, Guid iid, long client, int refs) {
        Entry entry = get(target);
        InterfaceInfo<?> info = Known.find(iid, entry.object);
        info.check(entry.object);
        return add(entry.object, info, client, refs, entry.isVirtual());
    }

    private Entry enter(Object object, InterfaceInfo<?> info, Identity identity) {
        int index = vacant.isEmpty() ? table.size() : vacant.removeLast();
        // Generation 0 is nobody's.
        generation = generation == -1 ? 1 : generation + 1;
        long target = Integer.toUnsignedLong(index) | (long) generation << 32;
        Entry entry = new Entry(object, info, target, identity, new HashMap<>());
        if (index == table.size()) {
            table.add(entry);
        } else {
            table.set(index, entry);
        }
        return entry;
    }

    /** Puts another object in the place of one: whoever refers to that refers to the new one from then on. */
    synchronized void replace(Object former, Object object) {
        Identity identity = objects.get(former);
        if (identity == null || former == object) {
            return;
        }
        if (objects.containsKey(object)) {
            throw RpcException.of(Hresult.E_INVALIDARG, "others refer to the new object already: it cannot be the former one as well");
        }
        // Its class loader may be another, which has interfaces of its own.
        identity.entries.keySet().forEach(iid -> Known.find(iid, object).check(object));
        identity.entries.replaceAll((iid, entry) -> new Entry(object, Known.find(iid, object), entry.target, identity, entry.holders));
        identity.entries.values().forEach(entry -> table.set((int) entry.target, entry));
        objects.remove(former);
        objects.put(object, identity);
        removals++;
    }

    /** The same for an interface pointer that is there. */
    synchronized void addTo(long target, long client, int refs) {
        get(target).holders.merge(client, (long) refs, Long::sum);
    }

    /**
     * An interface pointer by its number.
     *
     * @throws RpcException with RPC_E_DISCONNECTED where there is none
     */
    synchronized Entry get(long target) {
        Entry entry = find(target);
        if (entry == null) {
            throw RpcException.of(Hresult.RPC_E_DISCONNECTED, "there is no such object, or no longer");
        }
        return entry;
    }

    /** The same, or {@code null}. */
    synchronized Entry find(long target) {
        int index = (int) target;
        Entry entry = index > 0 && index < table.size() ? table.get(index) : null;
        return entry != null && entry.target == target ? entry : null;
    }

    /** A client gives references back; it cannot give what it does not hold. */
    synchronized void release(long client, long target, long refs) {
        Entry entry = find(target);
        if (entry == null) {
            return;
        }
        Long held = entry.holders.get(client);
        if (held == null) {
            return;
        }
        if (refs < 0 || refs >= held) {
            entry.holders.remove(client);
        } else {
            entry.holders.put(client, held - refs);
        }
        leave(entry);
    }

    /** A client has ended. */
    synchronized void drop(long client) {
        List<Entry> all = new ArrayList<>(table);
        for (Entry entry : all) {
            if (entry != null && entry.holders.remove(client) != null) {
                leave(entry);
            }
        }
    }

    private void leave(Entry entry) {
        if (!entry.holders.isEmpty()) {
            return;
        }
        int index = (int) entry.target;
        table.set(index, null);
        vacant.add(index);
        entry.identity.entries.remove(entry.info.iid());
        if (entry.identity.entries.isEmpty()) {
            objects.remove(entry.object);
        }
        removals++;
    }

    /** Whether others refer to an object. */
    synchronized boolean has(Object object) {
        return objects.containsKey(object);
    }

    /** How many interface pointers others refer to. */
    synchronized int count() {
        return table.size() - 1 - vacant.size();
    }
}
