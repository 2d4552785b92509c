package obvia.runtime.objects;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import obvia.Guid;
import obvia.Hresult;
import obvia.RpcException;
import obvia.Waiting;
import obvia.runtime.InterfaceInfo;
import obvia.runtime.Proxy;
import obvia.runtime.Transport;
import obvia.runtime.call.CallContext;
import obvia.runtime.call.Deadline;
import obvia.runtime.shm.OwnRegion;
import obvia.runtime.shm.Window;

/**
 * The connections of this process to another process whose objects it uses.
 *
 * <p>The home connection serves requests for references and their release. Other connections are
 * channels for calls: a platform thread has a channel of its own as long as it lives, and a virtual
 * thread borrows a channel for each call.
 */
final class Link extends Transport {
    /** The maximum number of channels for virtual threads; further calls wait. */
    private static final int SHARED_MAX = 32;
    /**
     * The number of remembered marks at which the mark of a new connection replaces the mark of a
     * closed connection. The marks of open connections are never forgotten.
     */
    private static final int MARKS_MAX = 1024;
    /**
     * The time limit for giving a batch of references back to the process. Once a round has taken
     * this time, the janitor begins no further batch in that round.
     */
    static final Duration PATIENCE = Duration.ofSeconds(1);

    private final ProcessRuntime runtime;
    private final long oxid;
    private final boolean takesReferences;
    /** The ID of the peer's process; -1 if it is not known. */
    private final long pid;
    private final HomeConnection home;
    private final Set<Meaning> bound = ConcurrentHashMap.newKeySet();
    private final Map<Thread, WindowChannel> owned = new ConcurrentHashMap<>();
    private final ConcurrentLinkedDeque<WindowChannel> idle = new ConcurrentLinkedDeque<>();
    private final Semaphore shared = new Semaphore(SHARED_MAX);
    /** The channels that virtual threads have borrowed. */
    private final Map<Thread, WindowChannel> lent = new ConcurrentHashMap<>();
    /**
     * Idle channels that were taken from their threads. They are closed when no call can still use
     * them.
     */
    private final ConcurrentLinkedQueue<WindowChannel> leaving = new ConcurrentLinkedQueue<>();
    /**
     * The threads that are in {@link #besideHome}. Their stacks have no method of a proxy, so
     * {@link #isCalling} does not detect their calls.
     */
    private final Set<Thread> busy = ConcurrentHashMap.newKeySet();
    private final Releases releases = new Releases();

    private final ConnectionMarks marks = new ConnectionMarks(MARKS_MAX);

    /**
     * The channel that a platform thread used last: in most programs, only one thread makes calls.
     */
    private WindowChannel hot;

    /** An interface with its fingerprint, which may differ between class loaders. */
    private record Meaning(Guid iid, long high, long low) {
        static Meaning of(InterfaceInfo<?> info) {
            return new Meaning(info.iid(), info.fingerprintHigh(), info.fingerprintLow());
        }
    }

    /** Creates the link of a connection to the process with an OXID. */
    Link(ProcessRuntime runtime, long oxid, Window window) {
        this.runtime = runtime;
        this.oxid = oxid;
        takesReferences = window.takesRegions();
        pid = window.pid();
        home = new HomeConnection(this, channel(window));
    }

    private WindowChannel channel(Window window) {
        marks.add(window);
        var channel = new WindowChannel(this, window);
        channel.owner = Thread.currentThread();
        return channel;
    }

    /** Whether this link has opened the connection with this mark. */
    boolean hasConnected(long mark) {
        return marks.has(mark);
    }

    /**
     * Whether a connection to this process came from the process of the link.
     *
     * <p>The OXID that a client claims proves nothing. The kernel does not report the process of a
     * client that is a virtual machine. For such a client, this method asks the process of the link
     * whether it has opened the connection. Only that process serves the endpoint of the OXID.
     *
     * @throws RpcException if the process does not answer
     */
    private boolean isFrom(ReferencesToReturn.Source source) {
        return source.pid() >= 0 ? source.pid() == pid : RuntimeClient.owns(this, source.mark());
    }

    /**
     * Connects to the process that serves a name.
     *
     * <p>The OXID that the server of a name claims proves nothing. The link therefore uses the
     * endpoint of that OXID, which only the process with that OXID can serve: an impostor receives
     * none of the calls.
     */
    static Link reach(ProcessRuntime runtime, String name) {
        return CallContext.byOneDeadline(() -> {
            Link named = open(runtime, name);
            if (name.equals(ObjRef.endpoint(named.oxid))) {
                return named;
            }
            named.close();
            Link known = runtime.links().known(named.oxid);
            return known != null ? known : reach(runtime, named.oxid);
        });
    }

    /**
     * Connects to the process with an OXID. The server of the OXID's endpoint must claim that OXID.
     */
    static Link reach(ProcessRuntime runtime, long oxid) {
        return CallContext.byOneDeadline(() -> {
            Link link = open(runtime, ObjRef.endpoint(oxid));
            if (link.oxid != oxid) {
                link.close();
                throw RpcException.of(Hresult.RPC_E_INVALID_DATA, "the endpoint leads to another process");
            }
            return link;
        });
    }

    /** Connects to the server of a name. Returns a link with the OXID that the server claims. */
    private static Link open(ProcessRuntime runtime, String name) {
        Window window = Window.connect(name, Waiting.ADAPTIVE, true, CallContext.currentDeadline());
        boolean isDone = false;
        try {
            long oxid = Bind.introduce(new Link(runtime, 0, window).home.channel(), runtime.oxid());
            Link link = new Link(runtime, oxid, window);
            isDone = true;
            return link;
        } finally {
            if (!isDone) {
                window.close();
            }
        }
    }

    /** Returns the link of a proxy; {@code null} for any other object. */
    static Link of(Object object) {
        return transportOf(object) instanceof Link link ? link : null;
    }

    /** Returns the interface pointer of a proxy of this link, as {@link #targetOf} does. */
    long target(Proxy proxy) {
        return targetOf(proxy);
    }

    /** Returns the OID of a proxy's object. */
    static long oid(Proxy proxy) {
        return oidOf(proxy);
    }

    /** Adds a proxy before its creation: see {@link Releases}. */
    void addProxy(long target) {
        releases.addProxy(target);
    }

    /** Creates a proxy that was added: see {@link #proxy}. */
    <T> T addedProxy(InterfaceInfo<T> info, long target, long oid, int refs) {
        return proxy(info, target, oid, refs);
    }

    ProcessRuntime runtime() {
        return runtime;
    }

    @Override
    protected long oxid() {
        return oxid;
    }

    @Override
    protected boolean takesReferences() {
        return takesReferences;
    }

    @Override
    protected boolean isShared(MemorySegment array, boolean isWritten) {
        return takesReferences && OwnRegion.of(array, isWritten) != null;
    }

    @Override
    protected WindowChannel channel() {
        WindowChannel hot = this.hot;
        if (hot != null && hot.user == Thread.currentThread()) {
            return hot;
        }
        return otherChannel();
    }

    private WindowChannel otherChannel() {
        WindowChannel channel = silentChannel();
        if (channel.user == Thread.currentThread()) {
            // Another thread has used the link since this thread's last call, so `hot` is the other
            // thread's channel.
            return channel;
        }
        CallContext context = CallContext.current();
        try {
            channel.say(context);
        } catch (RuntimeException | Error e) {
            // References are taken back before the channel is closed, because closing the channel
            // drops the record of the references.
            takeBackUnsent();
            if (channel.isClosed()) {
                forget(channel);
            } else {
                channel.end();
            }
            throw e;
        }
        if (context == CallContext.NONE && channel.owner != null) {
            keepAtHand(channel);
        }
        return channel;
    }

    /**
     * Makes a call of the runtime itself that may take long. Therefore the call does not use the
     * home connection. The call sends no context.
     */
    <R> R besideHome(Function<WindowChannel, R> work) {
        Thread thread = Thread.currentThread();
        busy.add(thread);
        try {
            return work.apply(silentChannel());
        } finally {
            busy.remove(thread);
        }
    }

    /** Returns a channel for a call that sends no context. */
    private WindowChannel silentChannel() {
        return Thread.currentThread().isVirtual() ? sharedChannel() : ownChannel();
    }

    /**
     * Lets this thread make its next call on the channel without a lookup, because the thread has
     * no context to send.
     */
    private void keepAtHand(WindowChannel channel) {
        if (channel.user == null) {
            CallContext.addCached(channel);
            channel.user = channel.owner;
        }
    }

    /** Returns the channel of this platform thread. */
    WindowChannel ownChannel() {
        Thread thread = Thread.currentThread();
        WindowChannel hot = this.hot;
        if (hot != null && hot.owner == thread) {
            return hot;
        }
        WindowChannel channel = owned.get(thread);
        if (channel == null || channel.isClosed()) {
            forget(channel);
            channel = connect(runtime.waiting(), false);
            channel.owner = thread;
            owned.put(thread, channel);
        }
        this.hot = channel;
        return channel;
    }

    private WindowChannel sharedChannel() {
        forgetLost();
        try {
            if (!shared.tryAcquire(CallContext.currentDeadline().left(), TimeUnit.NANOSECONDS)) {
                throw RpcException.of(Hresult.RPC_E_TIMEOUT, "the calls of other threads used all connections until the deadline");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw RpcException.of(Hresult.RPC_E_CALL_CANCELED, "the thread was interrupted", e);
        }
        boolean isDone = false;
        try {
            WindowChannel channel = idle.poll();
            while (channel != null && channel.isSpent(System.nanoTime())) {
                channel.window().close();
                channel = idle.poll();
            }
            channel = channel != null ? channel : connect(runtime.waiting(), false);
            lent.put(Thread.currentThread(), channel);
            isDone = true;
            return channel;
        } finally {
            if (!isDone) {
                shared.release();
            }
        }
    }

    /**
     * Closes the channel of an earlier call of this virtual thread, if an exception has interrupted
     * that call between its beginning and its end.
     */
    void forgetLost() {
        forget(lent.get(Thread.currentThread()));
    }

    WindowChannel connect(Waiting waiting, boolean isQuiet) {
        return CallContext.byOneDeadline(() -> connectNow(waiting, isQuiet));
    }

    private WindowChannel connectNow(Waiting waiting, boolean isQuiet) {
        Window window;
        try {
            window = Window.connect(ObjRef.endpoint(oxid), waiting, isQuiet, CallContext.currentDeadline());
        } catch (RpcException e) {
            throw e.result() == Hresult.RPC_S_SERVER_UNAVAILABLE ? gone(e) : e;
        }
        boolean isDone = false;
        try {
            WindowChannel channel = channel(window);
            // Meanwhile another process may have taken the endpoint, and its objects may have the
            // same numbers.
            if (Bind.introduce(channel, runtime.oxid()) != oxid) {
                throw gone(null);
            }
            channel.owner = null;
            isDone = true;
            return channel;
        } finally {
            if (!isDone) {
                window.close();
            }
        }
    }

    RpcException gone(RpcException why) {
        return RpcException.of(Hresult.RPC_E_DISCONNECTED, "the process that had the object has ended", why);
    }

    /** Gives back the channel that this virtual thread has borrowed. */
    void returnChannel(WindowChannel channel) {
        if (!lent.remove(Thread.currentThread(), channel)) {
            return;
        }
        SentReferences.forget();
        if (channel.isKnownClosed()) {
            channel.window().close();
        } else {
            channel.rest(System.nanoTime());
            idle.push(channel);
        }
        shared.release();
    }

    /** Closes a channel that cannot be used any more. */
    void forget(WindowChannel channel) {
        if (channel == null) {
            return;
        }
        if (channel.owner != null) {
            owned.remove(channel.owner, channel);
        } else if (lent.remove(Thread.currentThread(), channel)) {
            SentReferences.forget();
            shared.release();
        }
        if (hot == channel) {
            hot = null;
        }
        if (!home.has(channel)) {
            channel.window().close();
        }
    }

    HomeConnection home() {
        return home;
    }

    /** Makes a call of the runtime itself over the home connection. */
    <R> R atHome(Function<WindowChannel, R> work) {
        return home.use(work);
    }

    /** Whether the peer's process is gone. */
    boolean isDead() {
        return home.isDead();
    }

    /** Verifies once for each interface that both sides have the same version. */
    void bind(InterfaceInfo<?> info) {
        if (!isBound(info)) {
            atHome(home -> {
                Bind.alter(home, info);
                return null;
            });
            bound.add(Meaning.of(info));
        }
    }

    /** Whether {@link #bind} has verified the version of an interface. */
    boolean isBound(InterfaceInfo<?> info) {
        return bound.contains(Meaning.of(info));
    }

    @Override
    protected byte[] reference(long through, Object object, InterfaceInfo<?> info) {
        SentReferences sent = SentReferences.with(this);
        try {
            return sent.marshal(runtime, oxid, object, info, false);
        } catch (RuntimeException | Error e) {
            sent.takeBack();
            throw e;
        }
    }

    @Override
    protected void takeBackUnsent() {
        SentReferences.takeBackUnsent(this);
    }

    @Override
    protected <T> T object(long through, byte[] reference, InterfaceInfo<T> info) {
        return runtime.adopt(ObjRef.fromBytes(reference), info, this, oxid);
    }

    @Override
    protected <T> T query(long through, long oid, InterfaceInfo<T> info) {
        long target = RuntimeClient.query(this, through, info);
        addProxy(target);
        return proxy(info, target, oid, RuntimeCalls.REFS_PER_QUERY);
    }

    @Override
    protected void releaseLater(long target, int refs) {
        releases.removeProxy(target, refs);
        runtime.links().wakeJanitor();
    }

    /** Releases references that do not belong to a proxy, soon and without waiting. */
    void giveBack(long target, long refs) {
        releases.giveBack(target, refs);
        runtime.links().wakeJanitor();
    }

    /** Returns the number of connections for calls. */
    int channels() {
        return owned.size() + idle.size() + lent.size();
    }

    /** Closes channels that are not needed. */
    void dropChannels() {
        dropThoseOfEndedThreads();
        dropIdle();
    }

    /** Whether there are references that are to be released or given back. */
    boolean hasReferencesToReturn() {
        return !releases.isEmpty() || runtime.clients().hasReferencesToReturn(oxid);
    }

    /**
     * Sends the references that are to be released or given back. While another thread uses the
     * home connection, the references wait for the janitor's next round. Returns false if the
     * process did not answer.
     */
    boolean returnAllReferences() {
        // The janitor serves all links: a process that answers slowly must not keep the janitor
        // from other links.
        Deadline end = Deadline.in(PATIENCE);
        boolean isFree = true;
        try {
            while (isFree && hasReferencesToReturn() && !end.isOver() && !isDead()) {
                isFree = returnReferences();
            }
            return true;
        } catch (RpcException e) {
            // If the server has ended, it has dropped the references. If the server is slow, the
            // janitor sends the remaining batches in a later round.
            return false;
        }
    }

    private void dropThoseOfEndedThreads() {
        owned.values().removeIf(channel -> {
            boolean isOver = !channel.owner.isAlive();
            if (isOver) {
                channel.window().close();
            }
            return isOver;
        });
        // A virtual thread returns its channel at the end of a call, unless an exception has
        // interrupted the call.
        lent.forEach((thread, channel) -> {
            if (!thread.isAlive() && lent.remove(thread, channel)) {
                channel.window().close();
                shared.release();
            }
        });
    }

    /**
     * Closes idle channels. The next call of a thread opens another channel.
     *
     * <p>A thread uses its own channel without synchronization. The channel is therefore first
     * removed from the table in which the thread looks for it. The channel is closed only after the
     * thread has been seen to make no call.
     */
    private void dropIdle() {
        for (WindowChannel channel : idle) {
            if (channel.isIdle() && idle.remove(channel)) {
                channel.retire();
            }
        }
        owned.values().removeIf(channel -> channel.isIdle() && leaving.add(channel));
        leaving.removeIf(channel -> {
            if (hot == channel) {
                hot = null;
            }
            // A call that began before the channel was removed may have put the channel back into
            // `hot`. Taking the stack trace stops the channel's owner. Afterwards this thread sees
            // everything that the owner wrote before. So the stack trace is checked first, then
            // `busy` and `hot`.
            boolean isFree = !isCalling(channel.owner) && !busy.contains(channel.owner) && hot != channel;
            if (isFree) {
                channel.retire();
            }
            return isFree;
        });
    }

    /**
     * Sends a batch of references that are to be released or given back, unless another thread uses
     * the home connection. Returns whether the batch was sent.
     *
     * @throws RpcException if the process did not answer
     */
    private boolean returnReferences() {
        // The batch leaves the queue only when the connection is free to send it.
        return CallContext.NONE.by(Deadline.in(PATIENCE)).during(() -> home.tryUse(channel -> {
            List<RuntimeCalls.CountedReference> batch = releases.isEmpty() ? runtime.clients().takeReferencesToReturn(oxid, this::isFrom) : releases.next();
            if (!batch.isEmpty()) {
                RuntimeClient.release(channel, batch, unsent -> releases.giveBack(unsent.target(), unsent.refs()));
            }
        }));
    }

    void close() {
        home.close();
        owned.values().forEach(channel -> channel.window().close());
        leaving.forEach(channel -> channel.window().close());
        idle.forEach(channel -> channel.window().close());
    }
}
