package obvia.runtime;

import java.lang.foreign.MemorySegment;
import obvia.BadMessageException;
import obvia.Hresult;
import obvia.RpcException;

/**
 * A connection on which one thread at a time makes calls.
 *
 * <p>A proxy's method asks for one by {@link Proxy#begin}, writes the arguments' frame at {@link #at} of {@link #memory}, calls {@link #call}, reads the results' frame at {@link
 * #replyAt} of {@link #replyMemory}, and ends with {@link #end}. Nothing here allocates, locks or asks the kernel unless the thread has to sleep.
 */
public final class Channel {
    /** Where the request's frame lies. */
    public final MemorySegment memory;

    /** Where it begins. */
    public long at;

    /** Where the reply's frame lies, after {@link #call}: in the server's memory. */
    public MemorySegment replyMemory;

    /** Where it begins. */
    public long replyAt;

    /** Bytes of the reply's frame. */
    public int length;

    private final Link link;
    private final Window window;
    /** Whose it is for good; {@code null} where it goes back to the link's others after each call. */
    Thread owner;

    private boolean isBroken;

    // What the janitor knows of it: how many messages were sent when it looked, and when that changed last.
    private int seen;
    private long seenAt;

    Channel(Link link, Window window) {
        this.link = link;
        this.window = window;
        memory = window.memory();
        replyMemory = window.frame;
    }

    Window window() {
        return window;
    }

    /** The place for a request's frame of so many bytes. */
    Channel request(int length) {
        at = window.place(length);
        return this;
    }

    /**
     * Publishes the request, and waits for the response.
     *
     * @param target the interface pointer
     * @param opnum the method
     * @param length bytes of the request's frame: as many as were asked for, or fewer
     * @throws RpcException what the method returned where it failed, or why there are no results
     */
    public void call(long target, int opnum, int length) {
        int result = exchange(target, opnum, length);
        if (result < 0) {
            end();
            throw new RpcException(result);
        }
    }

    /** The same for methods that do not fail by what they return: the result, whatever it is. */
    public int exchange(long target, int opnum, int length) {
        Window window = this.window;
        int callId = window.nextSequence();
        try {
            window.publish(Window.REQUEST, opnum, target, length);
            window.receive(null);
        } catch (RpcException | InternalError | IllegalStateException | IndexOutOfBoundsException e) {
            throw abandon(callId, e);
        }
        long answer = window.target();
        if (window.kind() != Window.RESPONSE || (int) (answer >>> 32) != callId) {
            throw noResponse(callId, answer);
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

    /** Publishes the request as a call without response. */
    public void oneway(long target, int opnum, int length) {
        try {
            window.publish(Window.ONEWAY, opnum, target, length);
        } catch (InternalError | IllegalStateException e) {
            isBroken = true;
            throw Window.failed(e);
        } finally {
            end();
        }
    }

    /** Checks that the reply's frame is a block of so many bytes and nothing else. */
    public void expect(int length) {
        if (this.length != length) {
            throw bad("a reply of " + this.length + " bytes where " + length + " are meant");
        }
    }

    /** Checks that the reply's frame has at least a block of so many bytes. */
    public void expectAtLeast(int length) {
        if (this.length < length) {
            throw bad("a reply of " + this.length + " bytes where there are at least " + length);
        }
    }

    /** Says that a reply breaks the rules, and ends the call; the connection goes on. */
    public BadMessageException bad(String what) {
        end();
        return new BadMessageException("the results are not what the interface says: " + what);
    }

    /** The results have been read: the next call may be made. */
    public void end() {
        if (owner == null) {
            link.giveBack(this);
        }
    }

    /** Whether a call on it failed half-way, or the peer is gone. */
    boolean isClosed() {
        return isBroken || window.isClosed();
    }

    /** Whether no call has begun for so long that it may go. Asked by the janitor alone, again and again. */
    boolean isIdle() {
        int now = window.nextSequence();
        long time = System.nanoTime();
        if (seenAt == 0 || now != seen) {
            seen = now;
            seenAt = time;
        }
        long limit = window.hasUsedArea() ? Math.min(Idle.cold, Idle.close) : Idle.close;
        return time - seenAt >= limit * 1_000_000;
    }

    /** Ends it, as it is idle and nobody has it any more. */
    void retire() {
        (window.hasUsedArea() ? Idle.COOLED : Idle.CLOSED).incrementAndGet();
        window.close();
    }

    /** Sends one protocol data unit, and returns the peer's. */
    byte[] exchange(byte[] unit) {
        int callId = window.nextSequence();
        isBroken = true;
        try {
            request(unit.length);
            MemorySegment.copy(MemorySegment.ofArray(unit), 0, memory, at, unit.length);
            window.publish(Window.PDU, 0, 0, unit.length);
            window.receive(null);
            if (window.kind() != Window.PDU) {
                throw Line.broken("it answers a unit by none");
            }
            byte[] answer = bytes(window.frame, window.at, window.length);
            window.takenThrough(callId);
            isBroken = false;
            return answer;
        } catch (InternalError | IllegalStateException e) {
            throw Window.failed(e);
        }
    }

    /** A private copy of some bytes. */
    static byte[] bytes(MemorySegment memory, long at, int length) {
        byte[] copy = new byte[length];
        MemorySegment.copy(memory, at, MemorySegment.ofArray(copy), 0, length);
        return copy;
    }

    private RpcException abandon(int callId, Throwable why) {
        RpcException known = Window.failed(why);
        isBroken = true;
        if (known.result() == Hresult.RPC_E_TIMEOUT || known.result() == Hresult.RPC_E_CALL_CANCELED) {
            // The connection ends soon after, which says it again.
            window.place(0);
            window.publish(Window.CANCEL, 0, (long) callId << 32, 0);
        }
        link.forget(this);
        return known.result() == Hresult.RPC_E_DISCONNECTED ? link.gone(known) : known;
    }

    private RpcException noResponse(int callId, long answer) {
        int kind = window.kind();
        if (kind == Window.FAULT && (int) (answer >>> 32) == callId) {
            window.takenThrough(callId);
            if (Fault.isBeforeArguments((int) answer)) {
                Sent.takeBackRefused(this, callId);
            }
            end();
            return Fault.toException((int) answer);
        }
        isBroken = true;
        link.forget(this);
        return Line.broken(kind == Window.RESPONSE || kind == Window.FAULT
                ? "the response is to another call"
                : "the answer is neither a response nor a fault");
    }
}
