package obvia.runtime;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import obvia.Caller;
import obvia.Hresult;
import obvia.RpcException;
import obvia.SecurityLevel;

/**
 * A client's connection as its server has it: takes calls, and has them performed.
 *
 * <p>It has a thread of its own as long as calls come: a platform or a virtual one, as the object wants it that was called last. Where none comes for a while the thread
 * ends, and the {@link Poller} starts another one when the client rings.
 */
final class Connection implements Runnable {
    private static final LimitedLog LOG = new LimitedLog();
    private static final byte[] NO_WORDS = {};

    /** Those that have a thread: a method asks who calls it, and no call has to say so. */
    private static final Map<Thread, Connection> OF_THREAD = new ConcurrentHashMap<>();

    private final ProcessRuntime runtime;
    private final Exports exports;
    private final Window window;
    private final WindowCall call;
    private final Regions regions = new Regions();
    // The process that the client says it is; 0 as long as it has not.
    private long client;
    // The interface pointer that was called last, and when it was looked up, in removals.
    private Exports.Entry last;
    private int lastRemovals;
    // What that was before the client said something of its next call; null where it has said nothing since.
    private Exports.Entry aside;
    // What the next call of an object has said; null where it has said nothing.
    private CallContext context;
    // Why the method has failed that was called last, until its caller is told; null where it returned its result.
    private Throwable failure;
    // What kind of thread it has, and whether that finds a message that another one has received.
    private boolean isVirtual;
    private boolean isReceived;
    private final AtomicBoolean isResting = new AtomicBoolean();

    Connection(ProcessRuntime runtime, Window window) {
        this.runtime = runtime;
        exports = runtime.exports();
        this.window = window;
        call = new WindowCall(window, this);
        window.setPatience(Duration.ofMillis(Idle.warm));
    }

    ProcessRuntime runtime() {
        return runtime;
    }

    long client() {
        return client;
    }

    Regions regions() {
        return regions;
    }

    /** Maps the region that the client has named by this number. */
    void admitRegion(int number) {
        regions.admit(number, window.region(number));
    }

    /** The one whose call this thread performs, or {@code null} where it performs none. */
    static Connection current() {
        return OF_THREAD.get(Thread.currentThread());
    }

    /** Whether the client no longer waits for the answer. */
    boolean isCancelled() {
        return window.isGivenUp();
    }

    /** The client's process: its number, 0 where that is not known. */
    Caller peer() {
        return new Caller(Math.max(0, window.pid()), null, null, null, SecurityLevel.NONE);
    }

    /** Whether its methods are called by virtual threads now. */
    boolean isVirtual() {
        return isVirtual;
    }

    /** Serves until the connection ends, rests, or goes on on a thread of the other kind: then it is no longer this thread's. */
    @Override
    public void run() {
        // Another thread may have it before this one ends.
        boolean isVirtual = this.isVirtual;
        count(isVirtual, 1);
        OF_THREAD.put(Thread.currentThread(), this);
        boolean isOver = true;
        try {
            isOver = serveAll();
        } catch (Elsewhere e) {
            isOver = false;
        } catch (RpcException | InternalError | IllegalStateException | IndexOutOfBoundsException e) {
            RpcException why = Window.failed(e);
            if (why.result() != Hresult.RPC_E_DISCONNECTED) {
                LOG.warn("a connection of process " + Long.toHexString(client) + " ends: " + why.getMessage(), null);
            }
        } finally {
            OF_THREAD.remove(Thread.currentThread());
            count(isVirtual, -1);
            if (isOver) {
                close();
            }
        }
    }

    private static void count(boolean isVirtual, int more) {
        Idle.HOT.addAndGet(more);
        if (isVirtual) {
            Idle.VIRTUAL.addAndGet(more);
        }
    }

    /** Nobody calls here for a while: the next who does makes what is needed anew. */
    private static void clearPools() {
        GraphReader.clearPool();
        GraphWriter.clearPool();
    }

    private void close() {
        clearPools();
        window.close();
        regions.close();
        runtime.leave(client);
    }

    /** Serves until it rests. */
    private boolean serveAll() {
        if (isReceived) {
            isReceived = false;
            take();
        }
        while (serve()) {
            // Until nothing comes.
        }
        return false;
    }

    /** Whether to go on on this thread. */
    private boolean serve() {
        // Whoever interrupted a method did not mean what comes after it.
        Thread.interrupted();
        try {
            window.receive(null);
        } catch (RpcException e) {
            if (e.result() == Hresult.RPC_E_TIMEOUT || e.result() == Hresult.RPC_E_CALL_CANCELED) {
                // Keeps nobody's object alive while nothing is called.
                last = null;
                aside = null;
                setContext(Connection.class.getClassLoader());
                return e.result() == Hresult.RPC_E_CALL_CANCELED || !rest();
            }
            throw e;
        }
        take();
        return true;
    }

    /** Does what the message says that was received last. */
    private void take() {
        switch (window.kind()) {
            case Window.REQUEST -> {
                // A caller has taken every earlier response before it calls again.
                window.takenAll();
                window.claim();
                answer(window.sequence(), window.target());
            }
            case Window.ONEWAY -> {
                call.enter();
                perform(window.target());
                window.release();
            }
            case Window.PDU -> {
                window.takenAll();
                bind(Channel.bytes(window.frame, window.at, window.length));
            }
            // The call it names has been answered, or this thread would not be here.
            case Window.CANCEL -> window.release();
            default -> throw Line.broken("a message of kind " + window.kind());
        }
    }

    // Threads.

    /** Lets the poller look at the connection, unless something has come. From then on it is another thread's. */
    private boolean rest() {
        if (!window.rest()) {
            return false;
        }
        clearPools();
        Idle.WARM.incrementAndGet();
        isResting.set(true);
        try {
            window.watch(this::wake);
        } catch (IOException e) {
            if (isResting.compareAndSet(true, false)) {
                Idle.WARM.decrementAndGet();
                throw Line.gone(e);
            }
        }
        return true;
    }

    /** The client has rung, or ended. */
    private void wake() {
        if (!isResting.compareAndSet(true, false)) {
            return;
        }
        Idle.WARM.decrementAndGet();
        try {
            window.rise();
            start();
        } catch (OutOfMemoryError e) {
            LOG.warn("a connection ends, as there is no thread for it", e);
            close();
        }
    }

    private void start() {
        Thread.Builder thread = isVirtual ? Thread.ofVirtual() : Thread.ofPlatform().daemon();
        thread.name("obvia-serve").start(this);
    }

    /**
     * Hands the connection over to a new thread of the other kind, which performs the call that was received last.
     *
     * @param said the context of that call
     */
    private Elsewhere goElsewhere(CallContext said) {
        isVirtual = !isVirtual;
        isReceived = true;
        context = said;
        try {
            start();
        } catch (OutOfMemoryError e) {
            isVirtual = !isVirtual;
            isReceived = false;
            context = null;
            throw e;
        }
        return Elsewhere.INSTANCE;
    }

    /** Leaves a thread that the connection is no longer of. */
    private static final class Elsewhere extends RuntimeException {
        private static final long serialVersionUID = 1;
        private static final Elsewhere INSTANCE = new Elsewhere();

        private Elsewhere() {
            super("another thread goes on", null, false, false);
        }
    }

    // Calls.

    private void answer(int callId, long target) {
        call.enter();
        int opnum = call.opnum;
        long answer = perform(target);
        if (answer > Integer.MAX_VALUE) {
            fail(callId, opnum, answer);
            return;
        }
        int length = call.replyLength;
        if (length == 0) {
            window.place(0);
        }
        window.publish(Window.RESPONSE, opnum, answer | (long) callId << 32, length);
    }

    /** Answers a call that has failed, by a fault, or by what its method returned. Its words are the frame of a fault, which no proxy takes for results. */
    private void fail(int callId, int opnum, long answer) {
        boolean isFault = answer >>> 32 != 0;
        // The directory admits processes of this user, and the superuser's.
        byte[] frame = isFault || failure == null ? NO_WORDS : Words.frameOf(failure, true);
        failure = null;
        long at;
        try {
            at = window.place(frame.length);
        } catch (RpcException e) {
            if (e.result() != Hresult.E_OUTOFMEMORY) {
                throw e;
            }
            // Nor is there room for many words.
            frame = Words.beginning(frame);
            at = window.place(frame.length);
        }
        MemorySegment.copy(MemorySegment.ofArray(frame), 0, window.memory(), at, frame.length);
        long words = Integer.toUnsignedLong((int) answer) | (long) callId << 32;
        window.publish(isFault || frame.length != 0 ? Window.FAULT : Window.RESPONSE, opnum, words, frame.length);
    }

    /** What the method returned, or a fault's status with a bit above it. */
    private long perform(long target) {
        try {
            if (target == 0 && client != 0) {
                RuntimeCalls.serve(call);
            } else {
                Exports.Entry entry = last;
                if (!isGood(entry, target)) {
                    return performOther(target);
                }
                entry.perform(call);
            }
            return Integer.toUnsignedLong(call.result);
        } catch (Elsewhere e) {
            throw e;
        } catch (Throwable e) {
            call.takeBack();
            if (e instanceof InternalError gone) {
                // The caller's memory is gone.
                throw gone;
            }
            // Nobody waits to be told of what is called without response.
            failure = window.kind() == Window.REQUEST ? e : null;
            return InCall.answer(e);
        }
    }

    /** Whether it is the interface pointer that is called, and still what it was when it was looked up. */
    private boolean isGood(Exports.Entry known, long target) {
        return known != null && known.target() == target && lastRemovals == exports.removals();
    }

    /** A call of another object than the last one, or one that says something beside its arguments. */
    private long performOther(long target) throws Throwable {
        Exports.Entry former = aside;
        aside = null;
        CallContext said = context;
        context = null;
        boolean isFormer = isGood(former, target);
        Exports.Entry entry = isFormer ? former : find(target, said);
        if (isFormer) {
            last = former;
        }
        if (entry == null) {
            return InCall.FAULT | Integer.toUnsignedLong(client == 0 ? Fault.PROTOCOL_ERROR : Fault.OBJECT_NOT_FOUND);
        }
        // Nobody waits for what is called without response.
        CallContext heard = said == null || window.kind() == Window.REQUEST ? said : said.withoutTime();
        if (heard == null) {
            entry.perform(call);
        } else {
            heard.during(() -> {
                entry.perform(call);
                return null;
            });
        }
        return Integer.toUnsignedLong(call.result);
    }

    /** Notes what the next call of an object says, which takes the long way for that. */
    void expect(WindowCall call) {
        aside = last != null ? last : aside;
        last = null;
        context = null;
        CallContext said = call.length > CallContext.LENGTH_MAX ? null : CallContext.read(Channel.bytes(call.memory, call.at, call.length));
        if (said == null) {
            throw call.bad("a context in " + call.length + " bytes");
        }
        context = said == CallContext.NONE ? null : said;
    }

    /** Services that a method looks for are those of its object's program, and of none that happened to be there first. */
    private static void setContext(ClassLoader loader) {
        if (loader != null) {
            Thread.currentThread().setContextClassLoader(loader);
        }
    }

    private Exports.Entry find(long target, CallContext said) {
        int removals = exports.removals();
        Exports.Entry entry = client == 0 ? null : exports.find(target);
        if (entry != null && !runtime.rules().permitsCall(entry.object(), peer())) {
            last = null;
            Rules.logRefusal("method " + call.opnum + " of " + entry.info().name(), peer());
            throw new InCall.Refused(Fault.ACCESS_DENIED);
        }
        if (entry != null && entry.isVirtual() != isVirtual) {
            last = null;
            throw goElsewhere(said);
        }
        if (entry != null) {
            setContext(entry.object().getClass().getClassLoader());
        }
        last = entry;
        lastRemovals = removals;
        return entry;
    }

    private void bind(byte[] unit) {
        Bind.Answer answer = Bind.answer(unit, runtime.oxid());
        if (answer.client() != 0 && client == 0) {
            if (!runtime.enter(answer.client(), window.pid())) {
                throw Line.broken("it says that it is a process that it is not");
            }
            client = answer.client();
        } else if (client == 0 || answer.client() != 0 && answer.client() != client) {
            // Who has said who it is does not become somebody else; who has not may not go on.
            throw Line.broken("it does not say who it is");
        }
        long at = window.place(answer.unit().length);
        MemorySegment.copy(MemorySegment.ofArray(answer.unit()), 0, window.memory(), at, answer.unit().length);
        window.publish(Window.PDU, 0, 0, answer.unit().length);
    }
}
