package obvia.runtime.objects;

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
import obvia.runtime.InCall;
import obvia.runtime.call.CallContext;
import obvia.runtime.call.ErrorInfo;
import obvia.runtime.call.Fault;
import obvia.runtime.call.LimitedLog;
import obvia.runtime.call.PeerFailure;
import obvia.runtime.call.Pool;
import obvia.runtime.shm.Regions;
import obvia.runtime.shm.Window;

/**
 * The server's end of a client's connection: receives calls and performs them.
 *
 * <p>The connection has a thread of its own as long as calls arrive. The export of the object that
 * was called last decides whether the thread is a platform or a virtual thread. After an idle time
 * the thread ends. When the client then rings the doorbell, the poller starts another thread.
 */
final class Connection implements Runnable {
    private static final LimitedLog LOG = new LimitedLog();
    private static final byte[] NO_FRAME = {};

    /** The connections by thread, so that methods can ask for their caller. */
    private static final Map<Thread, Connection> OF_THREAD = new ConcurrentHashMap<>();

    private final ProcessRuntime runtime;
    private final Exports exports;
    private final Window window;
    private final WindowCall call;
    private final Regions regions = new Regions();
    // The OXID that the client claims; 0 until the client has sent an OXID.
    private long client;
    // The interface pointer of the last call, and the count of removals when the pointer was looked
    // up.
    private Exports.Entry last;
    private int lastRemovals;
    // The cached interface pointer while the client's next call has a context; null otherwise.
    private Exports.Entry aside;
    // The context of the next call; null if the client sent none.
    private CallContext context;
    // The number of the last call that was refused before its arguments were read; -1 for none. A
    // message that lists that call's references (RuntimeCalls.LISTED) sets this field to its own
    // number, so that a further list can follow.
    private long refused = -1;
    // The exception of the last method until it is sent to the caller; null if the method returned
    // its result.
    private Throwable failure;
    // Whether the connection's thread is virtual, and whether the next thread first handles a
    // message that the previous thread has received.
    private boolean isVirtual;
    private boolean isReceived;
    private final AtomicBoolean isResting = new AtomicBoolean();

    /** Creates the server's end of a connection whose client has been greeted. */
    Connection(ProcessRuntime runtime, Window window) {
        this.runtime = runtime;
        exports = runtime.exports();
        this.window = window;
        call = new WindowCall(window, this);
        window.setTimeout(Duration.ofMillis(IdleConnections.warm));
    }

    ProcessRuntime runtime() {
        return runtime;
    }

    long pid() {
        return window.pid();
    }

    long client() {
        return client;
    }

    Regions regions() {
        return regions;
    }

    /** Maps the client's region with this number. */
    void admitRegion(int number) {
        regions.admit(number, window);
    }

    /** Returns the connection whose call this thread performs, or {@code null}. */
    static Connection current() {
        return OF_THREAD.get(Thread.currentThread());
    }

    /** Whether the client has given up the call. */
    boolean isCancelled() {
        return window.isGivenUp();
    }

    /** Returns the client's process; its ID is 0 if unknown. */
    Caller peer() {
        return new Caller(Math.max(0, window.pid()), null, null, null, SecurityLevel.NONE);
    }

    /** Verifies that the client may name an object. */
    void checkNamed(long target) {
        runtime.checkNamed(target, client, peer());
    }

    /** Whether the thread of this connection is virtual now. */
    boolean isVirtual() {
        return isVirtual;
    }

    /**
     * Serves until the connection ends, goes to rest, or continues on a thread of the other kind.
     * Then the connection no longer belongs to this thread.
     */
    @Override
    public void run() {
        // A copy of the field: before this thread ends, another thread may own the connection and
        // change the field.
        boolean isVirtual = this.isVirtual;
        count(isVirtual, 1);
        OF_THREAD.put(Thread.currentThread(), this);
        boolean isOver = true;
        try {
            window.rise();
            isOver = serveAll();
        } catch (HandedOver e) {
            isOver = false;
        } catch (RpcException | InternalError | IllegalStateException | IndexOutOfBoundsException e) {
            RpcException why = PeerFailure.of(e);
            if (why.result() != Hresult.RPC_E_DISCONNECTED) {
                LOG.warn("the connection of process " + Long.toHexString(client) + " is closed: " + why.getMessage(), null);
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
        IdleConnections.HOT.addAndGet(more);
        if (isVirtual) {
            IdleConnections.VIRTUAL.addAndGet(more);
        }
    }

    /** Closes the connection. If a step fails, the later steps follow nevertheless. */
    private void close() {
        try {
            Pool.clearAll();
        } finally {
            try {
                window.close();
            } finally {
                try {
                    regions.close();
                } finally {
                    runtime.clients().leave(client);
                }
            }
        }
    }

    /**
     * Serves until the connection goes to rest. Returns false, because the connection is not over.
     */
    private boolean serveAll() {
        if (isReceived) {
            isReceived = false;
            take();
        }
        while (serve()) {
            // Each turn serves a message, until no message arrives.
        }
        return false;
    }

    /** Serves a message. Returns whether this thread continues to serve the connection. */
    private boolean serve() {
        // An interrupt that was meant for one method must not reach the next method.
        Thread.interrupted();
        try {
            window.receive(null);
        } catch (RpcException e) {
            boolean isWaitOver = e.result() == Hresult.RPC_E_TIMEOUT || e.result() == Hresult.RPC_E_CALL_CANCELED;
            if (isWaitOver && !window.isMessageLost()) {
                // An idle connection must not keep an object alive.
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

    /** Handles the message that was received last. */
    private void take() {
        switch (window.kind()) {
            case Window.REQUEST -> {
                // The client has read all earlier responses, because a caller reads the response of
                // a call before it makes the next call.
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
                bind(window.unit());
            }
            // The cancelled call has already been answered, because this thread serves one call at
            // a time.
            case Window.CANCEL -> window.release();
            default -> throw PeerFailure.broken("message kind " + window.kind() + " does not exist");
        }
    }

    // Threads.

    /**
     * Hands the connection over to the poller, unless a message has arrived. Returns whether the
     * connection was handed over and therefore belongs to another thread.
     */
    private boolean rest() {
        if (!window.rest()) {
            return false;
        }
        Pool.clearAll();
        IdleConnections.WARM.incrementAndGet();
        isResting.set(true);
        try {
            window.watch(this::wake);
        } catch (IOException | RuntimeException | Error e) {
            // The connection has ended, or memory is exhausted: this thread continues to serve the
            // connection.
            if (isResting.compareAndSet(true, false)) {
                IdleConnections.WARM.decrementAndGet();
                window.rise();
                return false;
            }
        }
        return true;
    }

    /**
     * Resumes the connection after the client has rung the doorbell or ended. Touches no memory of
     * the connection, because a fault must not occur on the poller's thread.
     */
    private void wake() {
        if (!isResting.compareAndSet(true, false)) {
            return;
        }
        IdleConnections.WARM.decrementAndGet();
        try {
            start();
        } catch (RuntimeException | Error e) {
            LOG.warn("a connection is closed, because there is no thread for it", e);
            close();
        }
    }

    private void start() {
        Thread.Builder thread = isVirtual ? Thread.ofVirtual() : Thread.ofPlatform().daemon();
        thread.name("obvia-serve").start(this);
    }

    /**
     * Hands the connection over to a new thread of the other kind, which performs the call that was
     * received last. Returns the exception that unwinds this thread.
     *
     * @param said the context of that call
     */
    private HandedOver handOver(CallContext said) {
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
        return HandedOver.INSTANCE;
    }

    /** Unwinds a thread that has handed its connection over to another thread. */
    private static final class HandedOver extends RuntimeException {
        private static final long serialVersionUID = 1;
        private static final HandedOver INSTANCE = new HandedOver();

        private HandedOver() {
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
        int length = call.replyLength();
        if (length == 0) {
            window.place(0);
        }
        window.publish(Window.RESPONSE, opnum, answer | (long) callId << 32, length);
    }

    /**
     * Answers a failed call: with a fault, or with the method's HRESULT. The description is sent as
     * the frame of a fault, which no proxy takes for results.
     */
    private void fail(int callId, int opnum, long answer) {
        boolean isFault = answer >>> 32 != 0;
        byte[] frame = isFault || failure == null ? NO_FRAME : ErrorInfo.frameOf(failure, window.isClientOwnUser());
        failure = null;
        long at;
        try {
            at = window.place(frame.length);
        } catch (RpcException e) {
            if (e.result() != Hresult.E_OUTOFMEMORY) {
                throw e;
            }
            // The area has no room for the whole description.
            frame = ErrorInfo.truncated(frame, Window.INLINE_MAX);
            at = window.place(frame.length);
        }
        MemorySegment.copy(MemorySegment.ofArray(frame), 0, window.memory(), at, frame.length);
        long words = Integer.toUnsignedLong((int) answer) | (long) callId << 32;
        window.publish(isFault || frame.length != 0 ? Window.FAULT : Window.RESPONSE, opnum, words, frame.length);
    }

    /** Performs a call. Returns the method's HRESULT, or a fault's status with bit 32 set. */
    private long perform(long target) {
        try {
            if (target == 0 && client != 0) {
                RuntimeServer.serve(call);
            } else {
                Exports.Entry entry = last;
                if (!isGood(entry, target)) {
                    return performOther(target);
                }
                entry.perform(call);
            }
            return Integer.toUnsignedLong(call.result());
        } catch (HandedOver e) {
            throw e;
        } catch (Throwable e) {
            call.takeBack();
            if (e instanceof InternalError gone && !(window.isWhole() && regions.areWhole())) {
                // The client's memory is gone, so the connection ends. If the client's memory is
                // whole, the failed access was to other memory, such as memory of a server that the
                // method called: then only the call fails.
                throw gone;
            }
            // No caller waits for the failure of a call without response.
            failure = window.kind() == Window.REQUEST ? e : null;
            return noteRefusal(InCall.answer(e));
        }
    }

    /**
     * Notes that the call was refused, if the answer says that its arguments were not read. Returns
     * the answer.
     */
    private long noteRefusal(long answer) {
        if (answer >>> 32 != 0 && Fault.isBeforeArguments((int) answer)) {
            refused = Integer.toUnsignedLong(window.sequence());
        }
        return answer;
    }

    /**
     * Notes that the references in a list are to be given back to the client. Does nothing unless
     * the message directly before the list was a refused call, or another list for the refused
     * call.
     */
    void addReferencesToReturn(WindowCall call) {
        boolean isNext = refused >= 0 && (int) refused + 1 == window.sequence();
        refused = isNext ? Integer.toUnsignedLong(window.sequence()) : -1;
        if (!isNext) {
            return;
        }
        ReferencesToReturn toReturn = runtime.clients().referencesToReturn(client);
        var source = new ReferencesToReturn.Source(window.pid(), window.mark());
        call.forEachReference((target, refs) -> {
            toReturn.add(source, new RuntimeCalls.CountedReference(target, Math.max(refs, 0)));
        });
        runtime.links().wakeJanitor();
    }

    /** Whether the cached entry is the interface pointer that is called, and is still valid. */
    private boolean isGood(Exports.Entry known, long target) {
        return known != null && known.target() == target && lastRemovals == exports.removals();
    }

    /** Performs a call with a context, or a call of another object than the previous call's. */
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
            return noteRefusal(Fault.answer(client == 0 ? Fault.PROTOCOL_ERROR : Fault.OBJECT_NOT_FOUND));
        }
        // The caller of a call without response does not wait, so the caller's deadline does not
        // apply.
        CallContext heard = said == null || window.kind() == Window.REQUEST ? said : said.withoutTime();
        if (heard == null) {
            entry.perform(call);
        } else {
            heard.during(() -> {
                entry.perform(call);
                return null;
            });
        }
        return Integer.toUnsignedLong(call.result());
    }

    /**
     * Stores the context of the next call. Sets the cached entry aside, so that the next call takes
     * the path for calls with a context.
     */
    void expect(WindowCall call) {
        aside = last != null ? last : aside;
        last = null;
        context = null;
        CallContext said = call.length > CallContext.LENGTH_MAX ? null : CallContext.read(window.bytes());
        if (said == null) {
            throw call.bad("a context has " + call.length + " bytes");
        }
        context = said == CallContext.NONE ? null : said;
    }

    /**
     * Sets the context class loader, which service lookups of the method use, to the class loader
     * of the called object's program.
     */
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
            throw new Fault.Refused(Fault.ACCESS_DENIED);
        }
        if (entry != null && entry.isVirtual() != isVirtual) {
            last = null;
            throw handOver(said);
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
            if (!runtime.clients().enter(answer.client(), window.pid())) {
                throw PeerFailure.broken("it claims to be another process");
            }
            client = answer.client();
        } else if (client == 0 || answer.client() != 0 && answer.client() != client) {
            // The OXID of a client must not change, and a client without an OXID is refused.
            throw PeerFailure.broken("it does not identify its process");
        }
        long at = window.place(answer.unit().length);
        MemorySegment.copy(MemorySegment.ofArray(answer.unit()), 0, window.memory(), at, answer.unit().length);
        window.publish(Window.PDU, 0, 0, answer.unit().length);
    }
}
