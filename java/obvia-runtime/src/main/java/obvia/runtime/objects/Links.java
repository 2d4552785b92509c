package obvia.runtime.objects;

import java.lang.ref.WeakReference;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import obvia.Hresult;
import obvia.RpcException;
import obvia.runtime.call.CallContext;
import obvia.runtime.call.Deadline;
import obvia.runtime.shm.RepeatedTask;

/** The links of this process to others, and the janitor, a thread that tidies them. */
final class Links {
    private final ProcessRuntime runtime;
    private final Map<Long, Link> links = new ConcurrentHashMap<>();
    private final UnreachedReferences unreached = new UnreachedReferences();
    private final Semaphore janitorsBell = new Semaphore(0);
    private volatile Thread janitor;

    Links(ProcessRuntime runtime) {
        this.runtime = runtime;
    }

    /** Returns the number of connections for calls. */
    int channels() {
        return links.values().stream().mapToInt(Link::channels).sum();
    }

    /** Returns the link to the process that serves a name. */
    Link linkToName(String name) {
        return keep(Link.reach(runtime, name));
    }

    /**
     * Returns the existing link to a process, or {@code null}. If the process is gone, closes the
     * link and drops the references of the process.
     */
    Link known(long oxid) {
        Link link = links.get(oxid);
        if (link != null && link.isDead()) {
            links.remove(oxid, link);
            link.close();
            // The process has no connection to this one: references that were sent to it have not
            // arrived.
            if (!runtime.clients().has(oxid)) {
                runtime.exports().drop(oxid);
            }
            return null;
        }
        return link;
    }

    /** Whether this process has opened the connection with this mark to another process. */
    boolean hasOpened(long oxid, long mark) {
        Link link = links.get(oxid);
        return link != null && link.hasConnected(mark);
    }

    private Link keep(Link link) {
        startJanitor();
        Link known = known(link.oxid());
        if (known == link) {
            return link;
        }
        if (known != null) {
            link.close();
            return known;
        }
        giveUnreachedBack(link);
        Link raced = links.putIfAbsent(link.oxid(), link);
        if (raced != null) {
            link.close();
            return raced;
        }
        return link;
    }

    /**
     * Gives unreached references back over a new link, before it makes a proxy, whose references
     * their counts could end.
     */
    private void giveUnreachedBack(Link link) {
        List<RuntimeCalls.CountedReference> batch = unreached.take(link.oxid(), System.nanoTime());
        if (batch.isEmpty()) {
            return;
        }
        try {
            CallContext.current().by(Deadline.in(Link.PATIENCE)).during(() -> {
                RuntimeClient.release(link, batch);
                return null;
            });
        } catch (RpcException e) {
            // The process drops the references at the end of the connection.
        }
    }

    /**
     * Returns the link to the process of a received reference. If the process cannot be reached,
     * the next link to it gives the reference back.
     */
    Link linkToObject(ObjRef reference) {
        Link known = known(reference.oxid());
        if (known != null) {
            return known;
        }
        if (reference.endpoints().isEmpty()) {
            throw RpcException.of(Hresult.RPC_E_INVALID_OBJREF, "the reference has no binding");
        }
        long received = System.nanoTime();
        try {
            String endpoint = ObjRef.endpoint(reference.oxid());
            if (!reference.endpoints().contains(endpoint)) {
                throw RpcException.of(Hresult.RPC_S_SERVER_UNAVAILABLE, "the process that has the object cannot be reached through shared memory");
            }
            return keep(Link.reach(runtime, endpoint));
        } catch (RuntimeException | Error e) {
            Link other = known(reference.oxid());
            if (other == null) {
                unreached.add(reference, received);
            } else {
                other.giveBack(reference.target(), reference.refs());
            }
            throw e;
        }
    }

    private void startJanitor() {
        if (janitor != null) {
            return;
        }
        synchronized (this) {
            if (janitor == null) {
                WeakReference<Links> links = new WeakReference<>(this);
                janitor = RepeatedTask.start("obvia-janitor", true, "releasing references", () -> tidy(links.get()));
            }
        }
    }

    /** Cleans up once. Returns whether the links still exist. */
    private static boolean tidy(Links all) throws InterruptedException {
        if (all == null) {
            return false;
        }
        if (all.janitorsBell.tryAcquire(IdleConnections.period(), TimeUnit.MILLISECONDS)) {
            all.janitorsBell.drainPermits();
        }
        for (Link link : all.links.values()) {
            if (all.known(link.oxid()) == link) {
                link.tidy();
            }
        }
        return true;
    }

    void wakeJanitor() {
        janitorsBell.release();
    }
}
