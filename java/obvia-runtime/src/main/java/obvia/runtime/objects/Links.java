package obvia.runtime.objects;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import obvia.Hresult;
import obvia.RpcException;
import obvia.runtime.shm.RepeatedTask;

/**
 * The links of this process to other processes, and the janitor: a thread that gives references
 * back and closes idle connections.
 */
final class Links {
    private final ProcessRuntime runtime;
    private final Map<Long, Link> links = new ConcurrentHashMap<>();
    private final UnreachedReferences unreached = new UnreachedReferences();
    private final Semaphore janitorsBell = new Semaphore(0);
    private final SilentPeers<Link> silent = new SilentPeers<>();
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
        Link link = keep(Link.reach(runtime, name));
        giveUnreachedBack(link);
        return link;
    }

    /**
     * Returns the existing link to a process, or {@code null}. If the home connection has ended,
     * closes the link, and drops the references of the process unless the process is connected or
     * known to live.
     */
    Link known(long oxid) {
        Link link = links.get(oxid);
        if (link != null && link.isDead()) {
            links.remove(oxid, link);
            link.close();
            // A process without a connection to this process has not received the references that
            // were sent to it. These references are dropped.
            runtime.clients().dropEnded(oxid);
            return null;
        }
        return link;
    }

    /** Whether this process has a living link to the process with an OXID. */
    boolean hasLiving(long oxid) {
        Link link = links.get(oxid);
        return link != null && !link.isDead();
    }

    /**
     * Whether this process has opened the connection with this mark to the process with an OXID.
     */
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
        Link raced = links.putIfAbsent(link.oxid(), link);
        if (raced != null) {
            link.close();
            return raced;
        }
        return link;
    }

    /** Gives back references that were received while a link's process could not be reached. */
    private void giveUnreachedBack(Link link) {
        unreached.take(link.oxid(), System.nanoTime()).forEach(refs -> link.giveBack(refs.target(), refs.refs()));
    }

    /**
     * Returns the link to the process of a received reference, after adding the reference's proxy
     * to the link: see {@link Link#addProxy}. If the process cannot be reached, the next link to
     * the process gives the reference back.
     */
    Link linkToObject(ObjRef reference) {
        Link known = known(reference.oxid());
        Link link = known != null ? known : reach(reference);
        // The proxy is added first, so that unreached references to the same target are released
        // only with the proxy.
        link.addProxy(reference.target());
        giveUnreachedBack(link);
        return link;
    }

    private Link reach(ObjRef reference) {
        if (reference.endpoints().isEmpty()) {
            throw RpcException.of(Hresult.RPC_E_INVALID_OBJREF, "the reference has no binding");
        }
        long received = System.nanoTime();
        try {
            String endpoint = ObjRef.endpoint(reference.oxid());
            if (!reference.endpoints().contains(endpoint)) {
                throw RpcException.of(Hresult.RPC_S_SERVER_UNAVAILABLE, "the process that has the object cannot be reached through shared memory");
            }
            return keep(Link.reach(runtime, reference.oxid()));
        } catch (RuntimeException | Error e) {
            unreached.add(reference, received);
            // Another thread may have made a link in the meantime.
            Link other = known(reference.oxid());
            if (other != null) {
                giveUnreachedBack(other);
            }
            throw e;
        }
    }

    void startJanitor() {
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
        all.runtime.clients().dropUnclaimed();
        all.tidyLinks();
        return true;
    }

    private void tidyLinks() {
        silent.retain(Set.copyOf(links.values()), System.nanoTime());
        // The silent links of this round are chosen before any link is served. A link that becomes
        // silent in this round therefore waits until the next round.
        List<Throwable> failures = new ArrayList<>();
        List<Link> last = silent.next(link -> hasReferencesToReturn(link, failures));
        for (Link link : links.values()) {
            serve(link, failures, () -> {
                link.dropChannels();
                if (!silent.has(link)) {
                    returnReferences(link);
                }
            });
        }
        for (Link link : last) {
            serve(link, failures, () -> returnReferences(link));
        }
        if (!failures.isEmpty()) {
            throw new IllegalStateException("a link is not served", failures.getLast());
        }
    }

    /**
     * Serves a link that is alive. Adds a failure to the list, so that the janitor reports the
     * failure after it has served the other links.
     */
    private void serve(Link link, List<Throwable> failures, Runnable work) {
        try {
            if (known(link.oxid()) == link) {
                work.run();
            }
        } catch (RuntimeException | Error e) {
            failures.add(e);
        }
    }

    /** Whether a link is alive and has references to return. */
    private boolean hasReferencesToReturn(Link link, List<Throwable> failures) {
        var has = new AtomicBoolean();
        serve(link, failures, () -> has.set(link.hasReferencesToReturn()));
        return has.get();
    }

    private void returnReferences(Link link) {
        if (!link.returnAllReferences()) {
            silent.add(link, System.nanoTime());
        }
    }

    void wakeJanitor() {
        janitorsBell.release();
    }
}
