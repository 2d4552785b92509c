package obvia.runtime.objects;

import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import obvia.Guid;
import obvia.Hresult;
import obvia.RpcException;
import obvia.runtime.InCall;
import obvia.runtime.InterfaceInfo;
import obvia.runtime.Interfaces;

/**
 * The objects that other processes reference: interface pointers by index and generation, with the
 * reference count of each client.
 *
 * <p>An object has an entry for each interface that was requested. The object is removed with the
 * last reference to any of these interfaces.
 */
final class Exports {
    private static final SecureRandom RANDOM = new SecureRandom();

    private final List<Entry> table = new ArrayList<>();
    private final List<Integer> vacant = new ArrayList<>();
    private final Map<Object, Identity> objects = new IdentityHashMap<>();
    /** The interface pointers to which each client has references. */
    private final Map<Long, Set<Long>> shares = new HashMap<>();
    private final Limits limits;
    private long lastOid;

    /**
     * The count of removals, replacements and changes of rules. Cached entries are valid as long as
     * this count does not change.
     */
    private volatile int removals;

    /**
     * The limits, which are those of {@code crates/com/src/orpc/references.rs}.
     *
     * @param pointers the maximum number of interface pointers to which one client has references
     * @param objects the maximum number of objects
     * @param clients the maximum number of clients that have references
     */
    record Limits(int pointers, int objects, int clients) {
        static final Limits USUAL = new Limits(1 << 16, 1 << 20, 1 << 14);
    }

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

        /** Returns the index and the generation in one word. */
        long target() {
            return target;
        }

        long oid() {
            return identity.oid;
        }

        /** Whether virtual threads call the methods. */
        boolean isVirtual() {
            return identity.isVirtual;
        }

        void perform(InCall call) throws Throwable {
            stub.perform(object, call);
        }
    }

    Exports() {
        this(Limits.USUAL);
    }

    Exports(Limits limits) {
        this.limits = limits;
        // Index 0 is reserved for the runtime's own interface.
        table.add(null);
    }

    int removals() {
        return removals;
    }

    /** Invalidates all cached entries. */
    synchronized void recall() {
        removals++;
    }

    /**
     * Adds references of a client to an interface of an object, and returns the entry.
     *
     * @param isVirtual whether virtual threads call the methods of an object that is new in this
     *     table
     * @throws RpcException with E_NOINTERFACE if the object lacks the interface, or with
     *     E_OUTOFMEMORY at a limit
     */
    synchronized Entry add(Object object, InterfaceInfo<?> info, long client, int refs, boolean isVirtual) {
        checkInterface(object, info);
        Identity known = objects.get(object);
        checkRoom(client, known == null ? null : known.entries.get(info.iid()));
        if (known == null && objects.size() >= limits.objects) {
            throw full("this process has passed references to " + limits.objects + " objects, the maximum");
        }
        Identity identity = objects.computeIfAbsent(object, o -> new Identity(++lastOid, isVirtual));
        Entry entry = identity.entries.computeIfAbsent(info.iid(), iid -> enter(object, info, identity));
        hold(entry, client, refs);
        return entry;
    }

    /** Throws E_OUTOFMEMORY if a client may not have references to a further interface pointer. */
    private void checkRoom(long client, Entry entry) {
        Set<Long> share = shares.get(client);
        if (share == null && shares.size() >= limits.clients) {
            throw full(limits.clients + " clients have references, the maximum");
        }
        boolean isHeld = entry != null && entry.holders.containsKey(client);
        if (share != null && share.size() >= limits.pointers && !isHeld) {
            throw full("the client has references to " + limits.pointers + " interface pointers, the maximum: it must release some first");
        }
    }

    private static RpcException full(String why) {
        return RpcException.of(Hresult.E_OUTOFMEMORY, why);
    }

    private void hold(Entry entry, long client, int refs) {
        // If memory runs out after the first statement, the client's share names an entry that the
        // client does not hold; `release` and `drop` tolerate this. In the other order, the client
        // could hold an entry that its share does not name, and the references would never be
        // dropped.
        shares.computeIfAbsent(client, c -> new HashSet<>()).add(entry.target);
        entry.holders.merge(client, (long) refs, Long::sum);
    }

    /**
     * Adds references of a client to another interface of the object behind an interface pointer,
     * and returns the entry.
     */
    synchronized Entry query(long target, Guid iid, long client, int refs) {
        Entry entry = get(target);
        InterfaceInfo<?> info = Interfaces.find(iid, entry.object);
        return add(entry.object, info, client, refs, entry.isVirtual());
    }

    /** Throws E_NOINTERFACE if the object lacks the interface. */
    static void checkInterface(Object object, InterfaceInfo<?> info) {
        if (!info.type().isInstance(object)) {
            throw RpcException.of(Hresult.E_NOINTERFACE, "an object of " + object.getClass().getName() + " does not have interface " + info);
        }
    }

    private Entry enter(Object object, InterfaceInfo<?> info, Identity identity) {
        int index = vacant.isEmpty() ? table.size() : vacant.removeLast();
        long target = Integer.toUnsignedLong(index) | (long) drawGeneration() << 32;
        Entry entry = new Entry(object, info, target, identity, new HashMap<>());
        if (index == table.size()) {
            table.add(entry);
        } else {
            table.set(index, entry);
        }
        return entry;
    }

    /**
     * Draws a generation that is not 0. Other processes cannot predict the generation, so they
     * cannot name an object to which they were given no reference.
     */
    private static int drawGeneration() {
        int drawn = RANDOM.nextInt();
        return drawn == 0 ? 1 : drawn;
    }

    /**
     * Replaces an object. From then on, existing references lead to the new object. If this
     * replacement or the one elsewhere fails, nothing changes here.
     *
     * @param elsewhere replaces the object for other references, and gives the new object its rule
     */
    synchronized void replace(Object former, Object object, Runnable elsewhere) {
        Identity identity = objects.get(former);
        if (identity == null || former == object) {
            elsewhere.run();
            return;
        }
        if (objects.containsKey(object)) {
            throw RpcException.of(Hresult.E_INVALIDARG, "the new object already has references of its own, so it cannot take over those of the former one");
        }
        // The new object may have another class loader, with classes of its own for the interfaces.
        Map<Guid, Entry> entries = new HashMap<>(identity.entries);
        entries.keySet().forEach(iid -> checkInterface(object, Interfaces.find(iid, object)));
        entries.replaceAll((iid, entry) -> new Entry(object, Interfaces.find(iid, object), entry.target, identity, entry.holders));
        // From here on, calls that begin wait for the lock. Otherwise calls through shared memory
        // could still reach the former object after others have reached the new one.
        removals++;
        elsewhere.run();
        identity.entries.putAll(entries);
        entries.values().forEach(entry -> table.set((int) entry.target, entry));
        objects.remove(former);
        objects.put(object, identity);
    }

    /**
     * Adds references of a client to an existing interface pointer.
     *
     * @throws RpcException with E_OUTOFMEMORY at a limit
     */
    synchronized void addTo(long target, long client, int refs) {
        Entry entry = get(target);
        checkRoom(client, entry);
        hold(entry, client, refs);
    }

    /**
     * Returns the entry of an interface pointer.
     *
     * @throws RpcException with RPC_E_DISCONNECTED if there is no such entry
     */
    synchronized Entry get(long target) {
        Entry entry = find(target);
        if (entry == null) {
            throw RpcException.of(Hresult.RPC_E_DISCONNECTED, "the object does not exist, or no longer exists");
        }
        return entry;
    }

    /** Returns the entry of an interface pointer, or {@code null}. */
    synchronized Entry find(long target) {
        int index = (int) target;
        Entry entry = index > 0 && index < table.size() ? table.get(index) : null;
        return entry != null && entry.target == target ? entry : null;
    }

    /**
     * Releases references of a client, at most as many as the client holds; all of them if
     * {@code refs} is negative.
     */
    synchronized void release(long client, long target, long refs) {
        Entry entry = find(target);
        if (entry == null) {
            return;
        }
        Long held = entry.holders.get(client);
        if (held == null) {
            return;
        }
        if (refs >= 0 && refs < held) {
            entry.holders.put(client, held - refs);
            return;
        }
        shares.computeIfPresent(client, (c, share) -> {
            share.remove(target);
            return share.isEmpty() ? null : share;
        });
        leave(entry, client);
    }

    /** Whether a client has references to an interface pointer. */
    synchronized boolean isHolder(long client, long target) {
        Entry entry = find(target);
        return entry != null && entry.holders.containsKey(client);
    }

    /** Whether a client has references. */
    synchronized boolean isHolder(long client) {
        return shares.containsKey(client);
    }

    /** Releases all references of a client. */
    synchronized void drop(long client) {
        Set<Long> share = shares.remove(client);
        if (share != null) {
            share.forEach(target -> leave(find(target), client));
        }
    }

    /**
     * Removes a client from the holders of an entry, and the entry with its last holder. Does
     * nothing if the entry is {@code null}.
     */
    private void leave(Entry entry, long client) {
        if (entry == null) {
            return;
        }
        entry.holders.remove(client);
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

    /** Whether other processes hold references to an object. */
    synchronized boolean has(Object object) {
        return objects.containsKey(object);
    }

    /** Returns the number of interface pointers that other processes hold references to. */
    synchronized int count() {
        return table.size() - 1 - vacant.size();
    }
}
