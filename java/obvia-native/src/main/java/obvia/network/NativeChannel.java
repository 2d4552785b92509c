package obvia.network;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import obvia.runtime.Channel;

/** The buffers of a request and its reply. The library chooses the connection. */
final class NativeChannel extends Channel {
    private static final int SMALL = 4096;
    private static final int KEPT_MAX = 1 << 20;

    private final NativeTransport transport;
    private final MemorySegment returned = Arena.ofAuto().allocate(ValueLayout.JAVA_INT);
    private final Functions.Bytes reply = new Functions.Bytes();
    private boolean isTaken;

    NativeChannel(NativeTransport transport) {
        this.transport = transport;
        memory = Arena.ofAuto().allocate(SMALL, 8);
    }

    /** Marks the channel as used by a call. */
    NativeChannel take() {
        isTaken = true;
        return this;
    }
        super(transport);

    @Override
    protected NativeChannel request(int length) {
        if (memory.byteSize() < length) {
            memory = Arena.ofAuto().allocate(length, 8);
        }
        return this;
    }

    @Override
    protected int exchange(long target, int opnum, int length) {
        SentReferences sent = SentReferences.forCall(target);
        int result;
        try {
            result = Limit.run(NativeTransport.time(), limit -> Functions.call(target, opnum, memory.asSlice(0, length), sent.handOver(), limit, returned, reply));
        } catch (RuntimeException | Error e) {
            sent.takeBack();
            end();
            throw e;
        }
        replyMemory = reply.memory();
        this.length = result < 0 ? 0 : reply.length();
        return result;
    }

    @Override
    protected void oneway(long target, int opnum, int length) {
        SentReferences sent = SentReferences.forCall(target);
        try {
            Limit.run(NativeTransport.time(), limit -> {
                Functions.callOneway(target, opnum, memory.asSlice(0, length), sent.handOver(), limit);
                return null;
            });
        } finally {
            sent.takeBack();
            end();
        }
    }

    @Override
    public void end() {
        if (isTaken) {
            isTaken = false;
            reply.shrink();
            if (memory.byteSize() > KEPT_MAX) {
                memory = Arena.ofAuto().allocate(SMALL, 8);
            }
            transport.giveBack(this);
        }
    }
}
