package obvia.network;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests the memory that the library reads: proxies and stubs that a program writes itself may state
 * any length and replace the memory.
 */
@Timeout(120)
class NativeChannelTest {
    private static final int LENGTH = 1 << 20;

    @Test
    void requestsLongerThanTheirMemoryAreRefused() {
        for (int length : new int[] {LENGTH, -1}) {
            NativeChannel calling = new NativeChannel(NativeTransport.INSTANCE).take();
            assertThrows(IndexOutOfBoundsException.class, () -> calling.request(8).exchange(1, 3, length));
            NativeChannel telling = new NativeChannel(NativeTransport.INSTANCE).take();
            assertThrows(IndexOutOfBoundsException.class, () -> telling.request(8).oneway(1, 3, length));
        }
    }

    @Test
    void channelsAreUsedOnlyByTheThreadOfTheirCall() throws Exception {
        NativeChannel channel = new NativeChannel(NativeTransport.INSTANCE).take();
        var others = new ArrayList<Throwable>();
        Thread.ofPlatform().start(() -> {
            others.add(assertThrows(IllegalStateException.class, () -> channel.exchange(1, 3, 8)));
            others.add(assertThrows(IllegalStateException.class, () -> channel.oneway(1, 3, 8)));
            channel.end();
        }).join();
        assertEquals(2, others.size());
        assertNotSame(channel, NativeTransport.INSTANCE.channel(), "another thread cannot end the call");
        channel.end();
        assertThrows(IllegalStateException.class, () -> channel.exchange(1, 3, 8));
    }

    /** A server can have many threads, and each thread keeps its buffers. */
    @Test
    void threadsKeepNoLargeFramesAfterACall() {
        NativeCall call = NativeCall.enter(3, Arena.global().allocate(LENGTH));
        MemorySegment arguments;
        MemorySegment results;
        try {
            arguments = call.memory;
            assertEquals(LENGTH, arguments.byteSize());
            call.reply(LENGTH);
            results = call.replyMemory;
            results.fill((byte) 1);
        } finally {
            call.leave();
        }
        assertTrue(call.memory.byteSize() <= NativeCall.KEPT_MAX);
        assertTrue(call.replyMemory.byteSize() <= NativeCall.KEPT_MAX);
        assertFalse(arguments.scope().isAlive());
        assertFalse(results.scope().isAlive());
        assertEquals(NativeCall.KEPT_MAX, kept(NativeCall.KEPT_MAX).byteSize());
    }

    @Test
    void otherThreadsReadLargeArgumentsUntilTheCallEnds() throws Exception {
        MemorySegment request = Arena.global().allocate(LENGTH).fill((byte) 1);
        NativeCall call = NativeCall.enter(3, request);
        MemorySegment arguments = call.memory;
        assertEquals((byte) 1, CompletableFuture.supplyAsync(() -> arguments.get(ValueLayout.JAVA_BYTE, LENGTH - 1)).get().byteValue());
        call.leave();
        assertThrows(IllegalStateException.class, () -> arguments.get(ValueLayout.JAVA_BYTE, 0));
    }

    /** Returns the memory that a thread keeps after a call with frames of this length. */
    private static MemorySegment kept(int length) {
        NativeCall call = NativeCall.enter(3, Arena.global().allocate(length));
        call.leave();
        return call.memory;
    }

    @Test
    void resultsComeFromTheMemoryOfTheCall() {
        MemorySegment other = Arena.global().allocate(8);
        NativeCall call = NativeCall.enter(3, MemorySegment.NULL);
        try {
            call.reply(LENGTH);
            call.replyMemory = other;
            assertEquals(LENGTH, call.results().byteSize());
            call.reply(-1);
            assertThrows(IndexOutOfBoundsException.class, call::results);
        } finally {
            call.leave();
        }
        call.memory = other;
        assertEquals(LENGTH, NativeCall.enter(3, Arena.global().allocate(LENGTH)).memory.byteSize());
        call.leave();
    }
}
