package obvia.runtime;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import obvia.Guid;
import obvia.Hresult;
import obvia.RpcException;
import obvia.Waiting;

/**
 * What this process shares with one other whose objects it uses.
 *
 * <p>It has one connection of its own, its home, over which references are asked for and given back; and channels for calls: a platform thread has one of its own as long as it
 * lives, virtual threads take one for each call.
 */
final class Link extends Way {
    /** Channels for virtual threads: with more of them some wait for others' calls. */
    private static final int SHARED_MAX = 32;

    /** Channels of a thread that it finds without looking for them. */
    // Weakly: a thread that calls nobody any more keeps no channel, nor what that leads to.
    private static final ThreadLocal<Set<WindowChannel>> AT_HAND = ThreadLocal.withInitial(() -> Collections.newSetFromMap(new WeakHashMap<>()));

    private final ProcessRuntime runtime;
    private final long oxid;
    private final boolean takesReferences;
    private WindowChannel home;
    private final ReentrantLock atHome = new ReentrantLock();
    private final Set<Meaning> bound = ConcurrentHashMap.newKeySet();
    private final Map<Thread, WindowChannel> owned = new ConcurrentHashMap<>();
    private final ConcurrentLinkedDeque<WindowChannel> idle = new ConcurrentLinkedDeque<>();
    private final Semaphore shared = new Semaphore(SHARED_MAX);
    /** Who of the virtual threads has which. */
    private final Map<Thread, WindowChannel> lent = new ConcurrentHashMap<>();
    /** Channels of threads that have not called for long, until nobody can be using them. */
    private final ConcurrentLinkedQueue<WindowChannel> leaving = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<RuntimeCalls.Returned> returned = new ConcurrentLinkedQueue<>();

    /** The channel that was used last by a thread that has one: mostly there is one such thread. */
    private WindowChannel hot;

    /** An interface, and what this side means by it: class loaders may differ on that. */
    private record Meaning(Guid iid, long high, long low) {}

    private Link(ProcessRuntime runtime, long oxid, Window window) {
        this.runtime = runtime;
        this.oxid = oxid;
        takesReferences = window.takesRegions();
        home = home(window);
    }

    private WindowChannel home(Window window) {
        WindowChannel channel = new WindowChannel(this, window);
        channel.owner = Thread.currentThread();
        return channel;
    }

    /** The name of a process's endpoint in the directory. */
    static String endpoint(long oxid) {
        return String.format("oxid-%016x", oxid);
    }

    /**
     * Connects to the process that serves a name.
     *
     * <p>What a name's server says of itself proves nothing. So the link goes by the endpoint, which is the process's own: who claims to be another process gets none of the
     * calls to it.
     */
    static Link reach(ProcessRuntime runtime, String name) {
        Deadline deadline = Deadline.ofCall();
        Window window = Window.connect(ProcessRuntime.directory(), name, Waiting.ADAPTIVE, true, deadline);
        long oxid;
        try {
            oxid = Bind.introduce(new Link(runtime, 0, window).home, runtime.oxid());
            if (name.equals(endpoint(oxid))) {
                Link link = new Link(runtime, oxid, window);
                window = null;
                return link;
            }
        } finally {
            Directory.close(window);
        }
        Link known = runtime.known(oxid);
        if (known != null) {
            return known;
        }
        Link link = reach(runtime, endpoint(oxid));
        if (link.oxid != oxid) {
            link.close();
            throw RpcException.of(Hresult.RPC_E_INVALID_DATA, "an endpoint leads to another process");
        }
        return link;
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
            // Another thread has used the link meanwhile.
            return channel;
        }
        CallContext context = CallContext.current();
        try {
            channel.say(context);
        } catch (RuntimeException | Error e) {
            // Before the channel goes, and with it what is known of the references.
            Sent.takeBackUnsent(this);
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

    /** A channel for a call of the runtime's own, which says nothing beside its arguments. */
    WindowChannel silentChannel() {
        return Thread.currentThread().isVirtual() ? sharedChannel() : ownChannel();
    }

    /** This thread makes its next call on this channel without looking for one, as it has nothing to say. */
    private void keepAtHand(WindowChannel channel) {
        if (channel.user == null) {
            AT_HAND.get().add(channel);
            channel.user = channel.owner;
        }
    }

    /** The calls of this thread say something from now on: it looks for a channel each time. */
    static void putAway() {
        if (!Thread.currentThread().isVirtual()) {
            Set<WindowChannel> all = AT_HAND.get();
            all.forEach(channel -> channel.user = null);
            all.clear();
        }
    }

    /** The channel of this thread, which is no virtual one. */
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
            if (!shared.tryAcquire(Deadline.ofCall().left(), TimeUnit.NANOSECONDS)) {
                throw RpcException.of(Hresult.RPC_E_TIMEOUT, "other threads' calls have taken all connections until the deadline");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw RpcException.of(Hresult.RPC_E_CALL_CANCELED, "the thread was interrupted", e);
        }
        boolean isDone = false;
        try {
            WindowChannel channel = idle.poll();
            while (channel != null && channel.isClosed()) {
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

    /** Ends the channel of a virtual thread's earlier call, if something was thrown between the call's beginning and its end. */
    void forgetLost() {
        forget(lent.get(Thread.currentThread()));
    }

    private WindowChannel connect(Waiting waiting, boolean isQuiet) {
        Window window;
        try {
            window = Window.connect(ProcessRuntime.directory(), endpoint(oxid), waiting, isQuiet, Deadline.ofCall());
        } catch (RpcException e) {
            throw e.result() == Hresult.RPC_S_SERVER_UNAVAILABLE ? gone(e) : e;
        }
        boolean isDone = false;
        try {
            WindowChannel channel = new WindowChannel(this, window);
            channel.owner = Thread.currentThread();
            // There may be another process by now, whose objects have the same numbers.
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

    /** Puts a channel back that a virtual thread has used. */
    void giveBack(WindowChannel channel) {
        if (!lent.remove(Thread.currentThread(), channel)) {
            return;
        }
        Sent.forget();
        if (channel.isClosed()) {
            channel.window().close();
        } else {
            idle.push(channel);
        }
        shared.release();
    }

    /** Ends a channel that cannot be used any more. */
    void forget(WindowChannel channel) {
        if (channel == null) {
            return;
        }
        if (channel.owner != null) {
            owned.remove(channel.owner, channel);
        } else if (lent.remove(Thread.currentThread(), channel)) {
            Sent.forget();
            shared.release();
        }
        if (hot == channel) {
            hot = null;
        }
        if (channel != home) {
            channel.window().close();
        }
    }

    /** Makes a call of the runtime's own over the link's own connection. */
    <R> R atHome(Function<WindowChannel, R> work) {
        enterHome();
        try {
            if (home.isClosed()) {
                // A call on it was late, or the process has ended. The new one is there before the old one goes, so that the server does not take this client for gone.
                WindowChannel former = home;
                home = connect(Waiting.ADAPTIVE, true);
                home.owner = Thread.currentThread();
                former.window().close();
            }
            return work.apply(home);
        } finally {
            atHome.unlock();
        }
    }

    /** Waits until no other thread is at home, which may take as long as its call. */
    private void enterHome() {
        if (atHome.tryLock()) {
            return;
        }
        try {
            if (!atHome.tryLock(Deadline.ofCall().left(), TimeUnit.NANOSECONDS)) {
                throw RpcException.of(Hresult.RPC_E_TIMEOUT, "another thread has asked the process something until the deadline");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw RpcException.of(Hresult.RPC_E_CALL_CANCELED, "the thread was interrupted", e);
        }
    }

    /** Makes sure, once for each interface, that both sides mean the same by it. */
    void bind(InterfaceInfo<?> info) {
        Meaning meaning = new Meaning(info.iid(), info.fingerprintHigh(), info.fingerprintLow());
        if (!bound.contains(meaning)) {
            atHome(home -> {
                Bind.alter(home, info);
                return null;
            });
            bound.add(meaning);
        }
    }

    @Override
    protected byte[] reference(long through, Object object, InterfaceInfo<?> info) {
        Sent sent = Sent.with(this);
        try {
            return Marshal.marshal(runtime, oxid, object, info, sent, false);
        } catch (RuntimeException | Error e) {
            sent.takeBack();
            throw e;
        }
    }

    @Override
    protected <T> T object(long through, byte[] reference, InterfaceInfo<T> info) {
        return runtime.adopt(ObjRef.fromBytes(reference), info, this, oxid);
    }

    @Override
    protected Reference query(long through, long oid, InterfaceInfo<?> info) {
        return new Reference(this, RuntimeCalls.query(this, through, info), oid, RuntimeCalls.REFS_PER_QUERY);
    }

    /** Whether the process at the other end is gone. */
    boolean isDead() {
        if (!atHome.tryLock()) {
            // Somebody is using it, who finds out.
            return false;
        }
        try {
            return home.window().isClosed();
        } finally {
            atHome.unlock();
        }
    }

    /** Together with others. */
    @Override
    protected void releaseLater(long target, int refs) {
        returned.add(new RuntimeCalls.Returned(target, refs));
        runtime.wakeJanitor();
    }

    /** How many connections there are for calls. */
    int channels() {
        return owned.size() + idle.size() + lent.size();
    }

    /** Lets channels go that nobody needs, and gives back references that have been collected. */
    void tidy() {
        dropThoseOfEndedThreads();
        dropIdle();
        giveBackReferences();
    }

    private void dropThoseOfEndedThreads() {
        owned.values().removeIf(channel -> {
            boolean isOver = !channel.owner.isAlive();
            if (isOver) {
                channel.window().close();
            }
            return isOver;
        });
        // A virtual thread gives back what it has, unless something is thrown where nobody thinks of it.
        lent.forEach((thread, channel) -> {
            if (!thread.isAlive() && lent.remove(thread, channel)) {
                channel.window().close();
                shared.release();
            }
        });
    }

    /**
     * Ends channels on which nobody has called for long; with the next call comes another.
     *
     * <p>A thread asks nobody whether it may use its own. So that is taken from where the thread finds it first, and ends when the thread is seen to make no call.
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
            // A call that began before may have put it there again.
            boolean isFree = !Proxy.isCalling(channel.owner) && hot != channel;
            if (isFree) {
                channel.retire();
            }
            return isFree;
        });
    }

    private void giveBackReferences() {
        List<RuntimeCalls.Returned> batch = new ArrayList<>();
        var all = new ArrayDeque<RuntimeCalls.Returned>();
        for (var entry = returned.poll(); entry != null; entry = returned.poll()) {
            all.add(entry);
        }
        while (!all.isEmpty() && !isDead()) {
            batch.clear();
            while (!all.isEmpty() && batch.size() < RuntimeCalls.RELEASES_MAX) {
                batch.add(all.poll());
            }
            try {
                CallContext.NONE.by(Deadline.in(Duration.ofSeconds(1))).during(() -> {
                    RuntimeCalls.release(this, batch);
                    return null;
                });
            } catch (RpcException e) {
                // A server that has ended has dropped them, and one that is late does it.
            }
        }
    }

    void close() {
        home.window().close();
        owned.values().forEach(channel -> channel.window().close());
        leaving.forEach(channel -> channel.window().close());
        idle.forEach(channel -> channel.window().close());
    }
}
