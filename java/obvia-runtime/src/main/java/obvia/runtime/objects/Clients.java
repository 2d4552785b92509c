package obvia.runtime.objects;

import java.security.SecureRandom;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongPredicate;
import java.util.function.Predicate;
import obvia.Hresult;
import obvia.RpcException;

/**
 * The processes that have connected to this one, by the OXIDs that they claim.
 *
 * <p>A client is gone with its last connection, unless it was given references lately and lives: it
 * may have closed its connections before it received the references, and connects again to use
 * them. This process may see the end of the connections only after it has counted the references.
 * Such a lost client keeps its references for the time of a {@linkplain Receivers receiver}, at
 * most until it ends.
 */
final class Clients {
    private final Exports exports;
    private final LongPredicate isReached;
    private final Map<Long, Client> clients = new ConcurrentHashMap<>();
    /** The lost clients. Each is a receiver, too, whose limits hold for it. */
    private final Set<Long> lost = ConcurrentHashMap.newKeySet();
    private final Map<Long, Long> marks = new ConcurrentHashMap<>();
    private final Receivers receivers = new Receivers();

    /**
     * Creates the table.
     *
     * @param isReached whether this process has a link to the process of an OXID, which has not
     *     ended
     */
    Clients(Exports exports, LongPredicate isReached) {
        this.exports = exports;
        this.isReached = isReached;
    }

    /**
     * A connected or lost client.
     *
     * @param process the client's process; null if it has ended, or its ID is not known
     * @param count the number of connections; 0 for a lost client
     * @param given the time by {@link System#nanoTime} when the client was last given references
     *     other than in responses; null for never
     * @param toReturn the references to be given back to the client
     */
    private record Client(long pid, ProcessHandle process, int count, Long given, ReferencesToReturn toReturn) {
        static Client connected(long pid, Long given) {
            return new Client(pid, pid > 0 ? ProcessHandle.of(pid).orElse(null) : null, 1, given, new ReferencesToReturn());
        }

        Client counted(int more) {
            return new Client(pid, process, count + more, given, toReturn);
        }

        Client givenAt(long now) {
            return new Client(pid, process, count, now, toReturn);
        }

        boolean wasGivenLately(long now) {
            return given != null && now - given < Receivers.LIMIT;
        }
    }

    /**
     * Adds a connection of a client. Returns false if the connection comes from another process
     * than the client's earlier ones: it must not release the client's references.
     */
    boolean enter(long client, long pid) {
        return clients.compute(client, (c, known) -> {
            if (known != null && known.pid != pid) {
                return known;
            }
            receivers.remove(client);
            lost.remove(client);
            if (known != null) {
                return known.counted(1);
            }
            // References that were counted for the client before may still be on their way to it.
            return Client.connected(pid, exports.isHolder(client) ? System.nanoTime() : null);
        }).pid == pid;
    }

    /**
     * Removes a connection of a client. With the last one, the client's references are dropped,
     * unless it is lost.
     */
    void leave(long client) {
        leave(client, System.nanoTime());
    }

    void leave(long client, long now) {
        clients.computeIfPresent(client, (c, known) -> {
            if (known.count > 1) {
                return known.counted(-1);
            }
            boolean isLost = known.wasGivenLately(now) && exports.isHolder(client) && isAlive(client, known) && receivers.add(client, known.pid, now);
            if (!isLost) {
                // The references are dropped before the client can connect again.
                return dropped(client);
            }
            lost.add(client);
            return known.counted(-1);
        });
    }

    /** Drops the references of a client or a receiver, whose entry is being removed. */
    private Client dropped(long client) {
        exports.drop(client);
        marks.remove(client);
        lost.remove(client);
        return null;
    }

    /**
     * Whether a client's process lives. If its ID is not known, it counts as living as long as the
     * link to it.
     */
    private boolean isAlive(long client, Client known) {
        return known.pid > 0 ? ProcessState.isAlive(known.process) : isReached.test(client);
    }

    /** Notes that a process is given references in a call, before they are counted for it. */
    void give(long to) {
        long now = System.nanoTime();
        clients.computeIfPresent(to, (c, known) -> {
            if (known.count == 0) {
                // The time of a lost client begins anew.
                receivers.add(to, known.pid, now);
            }
            return known.givenAt(now);
        });
    }

    /**
     * Adds references of a process to an object, which another process passes on.
     *
     * @param giver the process ID of the other process
     * @throws RpcException with E_OUTOFMEMORY if the process is not connected and there are too many
     *     such processes, or with RPC_E_DISCONNECTED if the object does not exist
     */
    void passOn(long target, long giver, long to, int refs) {
        // The process neither connects nor leaves meanwhile.
        clients.compute(to, (c, known) -> {
            exports.get(target);
            long now = System.nanoTime();
            if ((known == null || known.count == 0) && !receivers.add(to, giver, now)) {
                throw RpcException.of(Hresult.E_OUTOFMEMORY, "references were passed on to too many processes that are not connected");
            }
            exports.addTo(target, to, refs);
            return known == null ? null : known.givenAt(now);
        });
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
        for (long client : lost) {
            clients.computeIfPresent(client, (c, known) -> known.count > 0 || isAlive(client, known) ? known : removed(client));
        }
    }

    /** Drops the references of a process that has ended, unless it is connected. */
    void dropEnded(long oxid) {
        clients.compute(oxid, (c, known) -> known != null && known.count > 0 ? known : removed(oxid));
    }

    private Client removed(long client) {
        receivers.remove(client);
        return dropped(client);
    }

    /** Returns the number that only this process and the client know. */
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
     * list came from another process, which only claims the OXID, the list is dropped and the
     * returned one is empty.
     *
     * @param isFrom whether a connection is one of the process
     * @throws RpcException if {@code isFrom} throws it; the list stays
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
