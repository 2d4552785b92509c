package obvia.runtime.objects;

import java.security.SecureRandom;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import obvia.Hresult;
import obvia.RpcException;

/** The processes that have connected to this one, by the OXIDs that they claim. */
final class Clients {
    private final Exports exports;
    private final Map<Long, Client> clients = new ConcurrentHashMap<>();
    private final Map<Long, Long> marks = new ConcurrentHashMap<>();
    private final Receivers receivers = new Receivers();

    Clients(Exports exports) {
        this.exports = exports;
    }

    /**
     * A connected client: its process ID, the number of its connections, and the references to be
     * given back to it.
     */
    private record Client(long pid, int count, ReferencesToReturn toReturn) {
        Client counted(int more) {
            return new Client(pid, count + more, toReturn);
        }
    }

    /**
     * Adds a connection of a client. Returns false if the connection comes from another process
     * than the client's earlier ones: it must not release the client's references.
     */
    boolean enter(long client, long pid) {
        return clients.compute(client, (c, known) -> {
            receivers.remove(client);
            return known == null ? new Client(pid, 1, new ReferencesToReturn()) : known.pid == pid ? known.counted(1) : known;
        }).pid == pid;
    }

    /** Removes a connection of a client. With the last one, the client's references are dropped. */
    void leave(long client) {
        clients.computeIfPresent(client, (c, known) -> {
            if (known.count > 1) {
                return known.counted(-1);
            }
            // The references are dropped before the client can connect again.
            exports.drop(client);
            marks.remove(client);
            return null;
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
            if (known == null && !receivers.add(to, giver, System.nanoTime())) {
                throw RpcException.of(Hresult.E_OUTOFMEMORY, "references were passed on to too many processes that are not connected");
            }
            exports.addTo(target, to, refs);
            return known;
        });
    }

    /** Drops the references of processes that received them long ago and did not connect. */
    void dropUnclaimed() {
        long now = System.nanoTime();
        for (long receiver : receivers.expired(now)) {
            clients.compute(receiver, (c, known) -> {
                if (receivers.removeExpired(receiver, now)) {
                    exports.drop(receiver);
                }
                return known;
            });
        }
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

    /** Whether a process is connected. */
    boolean has(long oxid) {
        return clients.containsKey(oxid);
    }
}
