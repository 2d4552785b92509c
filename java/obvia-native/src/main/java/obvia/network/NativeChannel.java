package obvia.network;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import obvia.runtime.Channel;

/**
 * The buffers of a request and its reply. The library chooses the connection.
 *
 * <p>The library writes to the reply's buffer without a check of its lifetime. A buffer therefore
 * belongs to one call until the library has returned, even if a program's own proxy misuses the
 * channel.
 */
final class NativeChannel extends Channel {
    private static final int SMALL = 4096;
    private static final int KEPT_MAX = 1 << 20;

    private final NativeTransport transport;
    private final MemorySegment returned = Arena.ofAuto().allocate(ValueLayout.JAVA_INT);
    private final Functions.Bytes reply = new Functions.Bytes();
    /**
     * The thread that may use the channel; {@code null} while the channel is free, and while the
     * library uses the channel's buffers.
     */
    private Thread user;

    NativeChannel(NativeTransport transport) {
        super(transport);
        this.transport = transport;
        memory = Arena.ofAuto().allocate(SMALL, 8);
    }

    /** Lets this thread use the channel for a call. */
    NativeChannel take() {
        user = Thread.currentThread();
        return this;
    }

    /** Prevents any use of the channel until the library has returned. */
    private void lock() {
        if (user != Thread.currentThread()) {
            throw new IllegalStateException("the channel does not belong to a call of this thread");
        }
        user = null;
    }

    @Override
    protected NativeChannel request(int length) {
        if (memory.byteSize() < length) {
            memory = Arena.ofAuto().allocate(length, 8);
        }
        return this;
    }

    @Override
    protected int exchange(long target, int opnum, int length) {
        lock();
        SentReferences sent = SentReferences.forCall(target);
        int result;
        try {
            result = Limit.run(NativeTransport.time(), limit -> Functions.call(target, opnum, memory.asSlice(0, length), sent.handOver(), limit, returned, reply));
        } catch (RuntimeException | Error e) {
            sent.takeBack();
            take().end();
            throw e;
        }
        take();
        replyMemory = reply.memory();
        this.length = result < 0 ? 0 : reply.length();
        return result;
    }

    @Override
    protected void oneway(long target, int opnum, int length) {
        lock();
        SentReferences sent = SentReferences.forCall(target);
        try {
            Limit.run(NativeTransport.time(), limit -> {
                Functions.callOneway(target, opnum, memory.asSlice(0, length), sent.handOver(), limit);
                return null;
            });
        } finally {
            sent.takeBack();
            take().end();
        }
    }

    @Override
    public void end() {
        if (user == Thread.currentThread()) {
            user = null;
            reply.shrink();
            if (memory.byteSize() > KEPT_MAX) {
                memory = Arena.ofAuto().allocate(SMALL, 8);
            }
            transport.giveBack(this);
        }
    }
}
