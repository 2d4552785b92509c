package obvia.runtime.objects;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import obvia.Hresult;
import obvia.RpcException;
import obvia.runtime.Channel;
import obvia.runtime.Flat;
import obvia.runtime.call.CallContext;
import obvia.runtime.call.Deadline;
import obvia.runtime.call.ErrorInfo;
import obvia.runtime.call.Fault;
import obvia.runtime.call.PeerFailure;
import obvia.runtime.shm.OwnRegion;
import obvia.runtime.shm.Regions;
import obvia.runtime.shm.Window;

/**
 * A channel through shared memory: calls neither allocate, nor lock, nor enter the kernel unless a
 * thread sleeps.
 */
final class WindowChannel extends Channel implements CallContext.Cached {
    /**
     * The time in nanoseconds after an answer for which the connection counts as open without a
     * check. If the connection has ended within that time, the next call fails with
     * RPC_E_DISCONNECTED.
     */
    static final long FRESH = 1_000_000;

    /** The maximum time that a one-way call waits for room for the list of its references. */
    private static final Duration LISTING = Duration.ofSeconds(1);

    private final Link link;
    private final Window window;
    /**
     * The thread that keeps the channel; {@code null} if the channel is returned to the link after
     * each call.
     */
    Thread owner;

    /**
     * The thread that may use the channel without looking it up: the owner, or {@code null}. Only
     * the owner sets this field.
     *
     * <p>Invariant: while this field is the owner, the owner's {@link CallContext#current} is
     * {@link CallContext#NONE}, and the peer was told no other context for the next call.
     * {@link CallContext#during} changes the owner's context, so it invalidates the channels of its
     * thread before and after its work.
     */
    Thread user;

    /** Whether the peer was sent a context for the next call of an object. */
    private boolean hasSaid;

    /** Whether the owner may have marshaled references for its next call. */
    boolean hasReferences;

    private boolean isBroken;
    /** The regions that the peer was offered; {@code null} before the first offer. */
    private OfferedRegions offered;
    /** The peer's description of the last method's failure. */
    private ErrorInfo errorInfo;
    /** The time of the last call of {@link #rest} at which the peer had answered all messages. */
    private long answeredAt = System.nanoTime() - FRESH;

    // The janitor's record: the number of sent messages at the janitor's last check, and the time
    // at which that number last changed.
    private int seen;
    private long seenAt;

    WindowChannel(Link link, Window window) {
        super(link);
        this.link = link;
        this.window = window;
        memory = window.memory();
        replyMemory = window.frame;
    }

    Window window() {
        return window;
    }

    @Override
    public void invalidate() {
        user = null;
    }

    @Override
    protected WindowChannel request(int length) {
        try {
            at = window.place(length);
            return this;
        } catch (InternalError | IllegalStateException e) {
            throw failed(e);
        }
    }

    @Override
    public RpcException failed(Throwable why) {
        if (!(why instanceof InternalError) && !isClosed()) {
            // The program itself has caused the failure.
            return super.failed(why);
        }
        isBroken = true;
        link.forget(this);
        RpcException known = PeerFailure.of(why);
        return known.result() == Hresult.RPC_E_DISCONNECTED ? link.gone(known) : known;
    }

    @Override
    protected int exchange(long target, int opnum, int length) {
        Window window = this.window;
        int callId = window.nextSequence();
        try {
            window.publish(Window.REQUEST, opnum, target, length);
            window.receive(null);
        } catch (RpcException | InternalError | IllegalStateException | IndexOutOfBoundsException e) {
            throw abandon(callId, e);
        } catch (Throwable e) {
            // The stack or memory is exhausted. A late answer to this call must not count as the
            // answer to the thread's next call.
            isBroken = true;
            link.forget(this);
            throw e;
        }
        long answer = window.target();
        if (window.kind() != Window.RESPONSE || (int) (answer >>> 32) != callId) {
            return noResponse(callId, answer);
        }
        window.takenThrough(callId);
        window.claim();
        if (replyMemory != window.frame) {
            replyMemory = window.frame;
        }
        replyAt = window.at;
        this.length = window.length;
        return (int) answer;
    }

    /** Makes a call without a proxy, such as a call of the peer's runtime. */
    void callDirectly(long target, int opnum, int length) {
        call(target, opnum, length);
    }

    @Override
    public long refer(MemorySegment array, boolean isWritten, int length) {
        OwnRegion region = window.takesRegions() ? OwnRegion.of(array, isWritten) : null;
        if (region == null) {
            return 0;
        }
        if (offered == null) {
            offered = new OfferedRegions();
        }
        int number = offered.number(region);
        if (number == OfferedRegions.UNKNOWN) {
            number = offer(region);
        }
        // Offering a region is a call of its own, so the request's frame is allocated again.
        request(length);
        return number == 0 ? 0 : Regions.reference(number, region.offset(array));
    }

    /**
     * Sends the context of the next call. An empty context is sent only if the previous call had a
     * context.
     */
    void say(CallContext context) {
        boolean isSaid = context != CallContext.NONE;
        if (!isSaid && !hasSaid) {
            return;
        }
        byte[] bytes = context.toBytes();
        int before = window.nextSequence();
        try {
            request(bytes.length);
            MemorySegment.copy(MemorySegment.ofArray(bytes), 0, memory, at, bytes.length);
            window.publish(Window.ONEWAY, RuntimeCalls.CONTEXT, 0, bytes.length);
        } catch (InternalError | IllegalStateException e) {
            isBroken = true;
            throw PeerFailure.of(e);
        } finally {
            // The peer applies a published context, even if `publish` fails afterwards.
            if (window.nextSequence() != before) {
                hasSaid = isSaid;
                SentReferences.renumber(this, before);
            }
        }
    }

    /**
     * Offers a region to the peer, and withdraws the regions that have ended. Returns the region's
     * number; 0 if the peer refuses it.
     */
    private int offer(OwnRegion region) {
        List<Integer> ended = new ArrayList<>();
        int number = offered.add(region, ended);
        window.announce(number, region);
        int length = 8 * (1 + ended.size());
        request(length);
        memory.set(Flat.LONG, at, number);
        for (int i = 0; i < ended.size(); i++) {
            memory.set(Flat.LONG, at + 8L * (i + 1), ended.get(i));
        }
        int result = exchange(0, RuntimeCalls.REGIONS, length);
        // The description of a refusal is not needed.
        errorInfo = null;
        if (result != 0) {
            return 0;
        }
        offered.setMapped(number);
        return number;
    }

    @Override
    protected void oneway(long target, int opnum, int length) {
        int callId = window.nextSequence();
        try {
            window.publish(Window.ONEWAY, opnum, target, length);
            if (hasReferences || owner == null) {
                hasReferences = false;
                List<RuntimeCalls.CountedReference> own = SentReferences.takeOwn(this, callId);
                if (!own.isEmpty()) {
                    CallContext.current().by(Deadline.in(LISTING)).during(() -> listReferences(own));
                }
            }
        } catch (InternalError | IllegalStateException e) {
            isBroken = true;
            throw PeerFailure.of(e);
        } finally {
            end();
        }
    }

    /**
     * Sends the list of the references in the call that was sent last. The peer gives these
     * references back if it refuses that call. Returns whether there was room for the list.
     */
    private boolean listReferences(List<RuntimeCalls.CountedReference> own) {
        for (int at = 0; at < own.size(); at += RuntimeCalls.RELEASES_MAX) {
            byte[] list = RuntimeCalls.listed(own.subList(at, Math.min(own.size(), at + RuntimeCalls.RELEASES_MAX)));
            try {
                request(list.length);
            } catch (RpcException e) {
                // The call itself was sent. If the peer refuses it, the references stay until the
                // peer ends.
                return false;
            }
            MemorySegment.copy(MemorySegment.ofArray(list), 0, memory, this.at, list.length);
            window.publish(Window.ONEWAY, RuntimeCalls.LISTED, 0, list.length);
        }
        return true;
    }

    @Override
    protected RpcException failure(int result) {
        ErrorInfo taken = errorInfo;
        errorInfo = null;
        return taken == null ? RpcException.of(result) : taken.toException(result);
    }

    @Override
    public void end() {
        if (owner == null) {
            link.returnChannel(this);
        }
    }

    /** Whether a call on the channel failed half-way, or the peer is gone. */
    boolean isClosed() {
        return isBroken || window.isClosed();
    }

    /**
     * Notes the time {@code now}, by {@link System#nanoTime}, if the peer has answered all
     * messages. Then another thread can take the channel.
     */
    void rest(long now) {
        if (window.isAnswered()) {
            answeredAt = now;
        }
    }

    /**
     * Whether a channel that rested can no longer be used. Asks the kernel only if the last answer
     * is older than {@link #FRESH}.
     */
    boolean isSpent(long now) {
        return isKnownClosed() || (now - answeredAt >= FRESH && window.isClosed());
    }

    /**
     * Whether {@link #isClosed} was true at the last check of the connection. Makes no system call.
     */
    boolean isKnownClosed() {
        return isBroken || window.isKnownClosed();
    }

    /**
     * Whether the channel has been idle for so long that it may be closed. Only the janitor calls
     * this method, repeatedly.
     */
    boolean isIdle() {
        int now = window.nextSequence();
        long time = System.nanoTime();
        if (seenAt == 0 || now != seen) {
            seen = now;
            seenAt = time;
        }
        long limit = window.hasUsedArea() ? Math.min(IdleConnections.cold, IdleConnections.close) : IdleConnections.close;
        return time - seenAt >= limit * 1_000_000;
    }

    /** Closes an idle channel that no thread uses. */
    void retire() {
        (window.hasUsedArea() ? IdleConnections.COOLED : IdleConnections.CLOSED).incrementAndGet();
        window.close();
    }

    /** Sends a PDU and returns the peer's PDU. */
    byte[] exchange(byte[] unit) {
        int callId = window.nextSequence();
        isBroken = true;
        try {
            request(unit.length);
            MemorySegment.copy(MemorySegment.ofArray(unit), 0, memory, at, unit.length);
            window.publish(Window.PDU, 0, 0, unit.length);
            window.receive(null);
            if (window.kind() != Window.PDU) {
                throw PeerFailure.broken("its response to a protocol data unit is not one");
            }
            byte[] answer = window.unit();
            window.takenThrough(callId);
            isBroken = false;
            return answer;
        } catch (InternalError | IllegalStateException e) {
            throw PeerFailure.of(e);
        }
    }

    private RpcException abandon(int callId, Throwable why) {
        RpcException known = PeerFailure.of(why);
        isBroken = true;
        try {
            if (known.result() == Hresult.RPC_E_TIMEOUT || known.result() == Hresult.RPC_E_CALL_CANCELED) {
                // If the cancel cannot be sent, the peer soon notices the end of the connection.
                window.cancel(callId);
            }
        } catch (InternalError | IllegalStateException e) {
            // The peer or the connection has ended meanwhile.
        } finally {
            // The thread's next call uses another channel.
            link.forget(this);
        }
        return known.result() == Hresult.RPC_E_DISCONNECTED ? link.gone(known) : known;
    }

    /**
     * Evaluates an answer that is no response. If the method failed with a description, returns its
     * HRESULT. Throws an exception for any other answer.
     */
    private int noResponse(int callId, long answer) {
        int kind = window.kind();
        int status = (int) answer;
        if (kind == Window.FAULT && (int) (answer >>> 32) == callId) {
            errorInfo = status < 0 ? errorInfoOfFault() : null;
            window.takenThrough(callId);
            if (errorInfo != null) {
                return status;
            }
            if (Fault.isBeforeArguments(status)) {
                SentReferences.takeBackRefused(this, callId);
            }
            end();
            throw Fault.toException(status);
        }
        isBroken = true;
        link.forget(this);
        throw PeerFailure.broken(kind == Window.RESPONSE || kind == Window.FAULT
                ? "the response belongs to another call"
                : "the peer's message is neither a response nor a fault");
    }

    /**
     * Returns the description in a fault's frame; {@code null} if there is none, or the frame is
     * malformed. A description implies that the method was called: other faults have no frame.
     */
    private ErrorInfo errorInfoOfFault() {
        if (window.length == 0 || window.length > ErrorInfo.FRAME_MAX) {
            return null;
        }
        try {
            return ErrorInfo.read(window.bytes());
        } catch (InternalError | IllegalStateException e) {
            // The server's memory is gone, or this side has closed it.
            isBroken = true;
            link.forget(this);
            throw PeerFailure.of(e);
        }
    }
}
