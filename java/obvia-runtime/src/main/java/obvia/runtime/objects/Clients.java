package obvia.runtime.objects;

import java.security.SecureRandom;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongPredicate;
import java.util.function.Predicate;
import java.util.function.Supplier;
import obvia.Hresult;
import obvia.RpcException;

/**
 * The processes that have connected to this process, by the OXIDs that they claim.
 *
 * <p>A client is removed with its last connection. If its process lives and was given references
 * lately, the client becomes a <em>lost client</em> instead: the process may have closed its
 * connections before it received the references, and then connects again to use them. The
 * references of a lost client are dropped when its process ends, or when {@link Receivers#LIMIT}
 * has passed since this process last gave it references. References that other processes pass to a
 * lost client do not renew that time.
 */
final class Clients {
    private final Exports exports;
    private final LongPredicate isReached;
    private final Map<Long, Client> clients = new ConcurrentHashMap<>();
    /**
     * The lost clients. Each lost client is also in {@link #receivers}, so the limits of receivers
     * hold for lost clients.
     */
    private final Set<Long> lost = ConcurrentHashMap.newKeySet();
    /**
     * The times by {@link System#nanoTime} at which processes were last given references, by OXID.
     * References in responses do not count. A process can be given references before it connects.
     */
    private final Map<Long, Long> given = new ConcurrentHashMap<>();
    private final Map<Long, Long> marks = new ConcurrentHashMap<>();
    private final Receivers receivers = new Receivers();

    /**
     * Creates the table.
     *
     * @param isReached tests whether this process has a living link to the process with an OXID
     */
    Clients(Exports exports, LongPredicate isReached) {
        this.exports = exports;
        this.isReached = isReached;
    }

    /**
     * A connected or lost client.
     *
     * @param process the client's process; null if it had ended when the client entered, or if its
     *     ID is not known
     * @param count the number of connections; 0 for a lost client
     * @param toReturn the references to be given back to the client
     */
    private record Client(long pid, ProcessHandle process, int count, ReferencesToReturn toReturn) {
        static Client connected(long pid) {
            return new Client(pid, pid > 0 ? ProcessHandle.of(pid).orElse(null) : null, 1, new ReferencesToReturn());
        }

        Client counted(int more) {
            return new Client(pid, process, count + more, toReturn);
        }

        boolean isLost() {
            return count == 0;
        }
    }

    /**
     * Adds a connection of a client. Returns false if the client's earlier connections came from
     * another process: then the new connection must not release the client's references.
     */
    boolean enter(long client, long pid) {
        return clients.compute(client, (c, known) -> {
            if (known != null && known.isLost() && hasEnded(known)) {
                known = removed(client);
            }
            if (known != null && known.pid != pid) {
                return known;
            }
            // References that other processes passed to the client may still be on their way.
            Long passed = receivers.remove(client);
            if (passed != null) {
                given.merge(client, passed, (one, other) -> one - other > 0 ? one : other);
            }
            lost.remove(client);
            return known != null ? known.counted(1) : Client.connected(pid);
        }).pid == pid;
    }

    /**
     * Removes a connection of a client. After the last connection, the client becomes a lost
     * client, or its references are dropped.
     */
    void leave(long client) {
        leave(client, System.nanoTime());
    }

    void leave(long client, long now) {
        clients.computeIfPresent(client, (c, known) -> {
            if (known.count > 1) {
                return known.counted(-1);
            }
            Long since = given.get(client);
            boolean isGivenLately = since != null && now - since < Receivers.LIMIT;
            boolean isLost = isGivenLately && exports.isHolder(client) && isAlive(client, known, new HashMap<>()) && receivers.add(client, known.pid, since);
            if (!isLost) {
                // The references are dropped before the client can connect again.
                return dropped(client);
            }
            lost.add(client);
            return known.counted(-1);
        });
    }

    /**
     * Drops the references of a client or a receiver. Returns null, which removes the client's
     * entry.
     */
    private Client dropped(long client) {
        exports.drop(client);
        marks.remove(client);
        lost.remove(client);
        given.remove(client);
        return null;
    }

    /**
     * Whether a client's process lives. A client whose process ID is not known counts as living
     * while there is a link to the client.
     *
     * @param looked the results of earlier checks by process; this method adds its result
     */
    private boolean isAlive(long client, Client known, Map<ProcessHandle, Boolean> looked) {
        return known.pid > 0 ? looked.computeIfAbsent(known.process, ProcessState::isAlive) : isReached.test(client);
    }

    /** Whether a client's process is known to have ended. */
    private static boolean hasEnded(Client known) {
        return known.pid > 0 && !ProcessState.isAlive(known.process);
    }

    /**
     * Runs {@code count}, which counts references that a call of this process sends to another
     * process, and notes the time. Returns the result of {@code count}.
     */
    <R> R give(long to, Supplier<R> count) {
        AtomicReference<R> counted = new AtomicReference<>();
        // The process neither connects nor leaves while this function runs.
        clients.compute(to, (c, known) -> {
            counted.set(count.get());
            long now = System.nanoTime();
            given.put(to, now);
            // The renewal has no effect for a connected process, which is no receiver and has no
            // time limit.
            receivers.renew(to, now);
            return known;
        });
        return counted.get();
    }

    /**
     * Counts references to an object for a process that receives them from a third process.
     *
     * @param giver the process ID of the process that passes the references on
     * @throws RpcException with E_OUTOFMEMORY at a limit of references, or at the limit of
     *     processes that are not connected, or with RPC_E_DISCONNECTED if the object does not exist
     */
    void passOn(long target, long giver, long to, int refs) {
        // The process neither connects nor leaves while this function runs.
        clients.compute(to, (c, known) -> {
            exports.addTo(target, to, refs);
            boolean isDone = false;
            try {
                notePassed(giver, to, known);
                isDone = true;
            } finally {
                if (!isDone) {
                    exports.release(to, target, refs);
                }
            }
            return known;
        });
    }

    /** Notes that a process passes references on to another process. */
    private void notePassed(long giver, long to, Client known) {
        long now = System.nanoTime();
        // Passing references on does not renew a lost client's time; otherwise another process
        // could prolong that time for ever.
        boolean hasRoom = known == null ? receivers.add(to, giver, now) : !known.isLost() || receivers.charge(to, giver);
        if (!hasRoom) {
            throw RpcException.of(Hresult.E_OUTOFMEMORY, "references were passed on to too many processes that are not connected");
        }
        if (known != null) {
            given.put(to, now);
        }
    }

    /**
     * Drops the references of processes that received them long ago and did not connect, and of
     * lost clients that have ended.
     */
    void dropUnclaimed() {
        dropUnclaimed(System.nanoTime());
    }

    void dropUnclaimed(long now) {
        for (long receiver : receivers.expired(now)) {
            clients.compute(receiver, (c, known) -> receivers.removeExpired(receiver, now) ? dropped(receiver) : known);
        }
        // Many clients can belong to one process, and the check whether a process lives takes a
        // tenth of a millisecond.
        Map<ProcessHandle, Boolean> looked = new HashMap<>();
        for (long client : lost) {
            clients.computeIfPresent(client, (c, known) -> !known.isLost() || isAlive(client, known, looked) ? known : removed(client));
        }
        given.values().removeIf(since -> now - since >= Receivers.LIMIT);
    }

    /**
     * Drops the references of a process to which the link has ended, unless the process is
     * connected or known to live.
     */
    void dropEnded(long oxid) {
        clients.compute(oxid, (c, known) -> {
            boolean isKept = known != null && (!known.isLost() || known.pid > 0 && !hasEnded(known));
            return isKept ? known : removed(oxid);
        });
    }

    private Client removed(long client) {
        receivers.remove(client);
        return dropped(client);
    }

    /** Returns the random number that only this process and the client know. */
    long markFor(long client) {
        return marks.computeIfAbsent(client, c -> drawNumber());
    }

    /** Draws a random number other than 0. */
    static long drawNumber() {
        long drawn;
        do {
            drawn = new SecureRandom().nextLong();
        } while (drawn == 0);
        return drawn;
    }

    /** Returns the references to be given back to a connected client. */
    ReferencesToReturn referencesToReturn(long client) {
        return clients.get(client).toReturn;
    }

    /** Whether there are references to be given back to a process. */
    boolean hasReferencesToReturn(long oxid) {
        Client client = clients.get(oxid);
        return client != null && client.toReturn.first() != null;
    }

    /**
     * Removes the oldest list of references to be given back to a process, and returns it. If the
     * list came from another process, which only claims the OXID, the list is dropped, and the
     * returned list is empty.
     *
     * @param isFrom tests whether a connection belongs to the process
     * @throws RpcException if {@code isFrom} throws the exception; the list then stays in the table
     */
    List<RuntimeCalls.CountedReference> takeReferencesToReturn(long oxid, Predicate<ReferencesToReturn.Source> isFrom) {
        Client client = clients.get(oxid);
        ReferencesToReturn.Source from = client == null ? null : client.toReturn.first();
        if (from == null) {
            return List.of();
        }
        boolean isSame = isFrom.test(from);
        List<RuntimeCalls.CountedReference> list = client.toReturn.take(from);
        return isSame ? list : List.of();
    }
}
