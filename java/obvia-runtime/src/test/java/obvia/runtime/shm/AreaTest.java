package obvia.runtime.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import obvia.Hresult;
import obvia.RpcException;
import obvia.Waiting;
import obvia.runtime.Flat;
import obvia.runtime.call.Deadline;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the larger area that a peer announces, while the mapping of the area is delayed. */
@Timeout(120)
class AreaTest {
    private static final int LENGTH = 1 << 20;

    /**
     * Keeps this process from opening the files of another process until the returned latch opens.
     */
    private static CountDownLatch delayed(Path process) {
        var end = new CountDownLatch(1);
        for (int attempt = 0; attempt < 4 * PeerFile.THREADS_MAX; attempt++) {
            Deadline soon = Deadline.in(Duration.ofMillis(1));
            assertThrows(RpcException.class, () -> PeerFile.withinTime(process, soon, () -> end.await(60, TimeUnit.SECONDS)));
        }
        return end;
    }

    /** Sends a message with a frame in a new area, as peers in other languages do. */
    private static void sendInArea(Window client, UnlinkedFile area) {
        ByteBuffer announced = ByteBuffer.allocate(41).order(ByteOrder.LITTLE_ENDIAN);
        announced.put((byte) 1).putInt(1).putInt(AnnouncedFiles.AREA).putLong(LENGTH).putLong(area.number());
        client.connection.send(announced.putLong(ProcessHandle.current().pid()).putLong(0).flip());
        MemorySegment memory = client.memory();
        long slot = Layout.slot(1);
        memory.set(Flat.INT, slot + Layout.SLOT_FRAME, 1);
        memory.set(Flat.INT, slot + Layout.SLOT_FRAME + 4, 0);
        memory.set(Flat.INT, slot + Layout.SLOT_FRAME + 8, 8);
        Layout.LONG_WORD.setRelease(memory, slot, 1L | 3L << 32 | (long) Window.ONEWAY << 48 | (long) Layout.IN_AREA << 56);
    }

    /** A thread that waits until it may open the file of an area. */
    private record Receiver(Thread thread, CompletableFuture<Boolean> outcome) {
        static Receiver of(Window window) throws InterruptedException {
            var outcome = new CompletableFuture<Boolean>();
            Thread thread = Thread.ofPlatform().daemon().start(() -> {
                try {
                    window.receive(Wires.patience());
                    outcome.complete(true);
                } catch (Throwable e) {
                    outcome.completeExceptionally(e);
                }
            });
            Wires.await("the thread waits", () -> Arrays.stream(thread.getStackTrace()).anyMatch(frame -> frame.getMethodName().equals("awaitPermit")));
            return new Receiver(thread, outcome);
        }

        int failure() {
            return ((RpcException) assertThrows(ExecutionException.class, () -> outcome.get(60, TimeUnit.SECONDS)).getCause()).result();
        }
    }

    /** Returns the number of mappings of the area's file. */
    private static long mappings(UnlinkedFile area) throws IOException {
        String name = Files.readSymbolicLink(area.path()).getFileName().toString().split(" ")[0];
        try (var lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.filter(line -> line.contains(name)).count();
        }
    }

    @Test
    void anAreaIsMappedAndUnmappedWithItsWindow() throws Exception {
        try (Wires.Pair pair = Wires.pair(Waiting.BLOCK, Waiting.BLOCK);
                UnlinkedFile area = UnlinkedFile.of(LENGTH + Long.BYTES)) {
            sendInArea(pair.client(), area);
            pair.server().receive(Wires.patience());
            assertEquals(8, pair.server().length);
            assertFalse(pair.server().isMessageLost());
            assertEquals(1, mappings(area));
            pair.server().close();
            assertEquals(0, mappings(area));
        }
    }

    @Test
    void anAreaThatIsMappedAfterTheWindowWasClosedIsUnmapped() throws Exception {
        try (Wires.Pair pair = Wires.pair(Waiting.BLOCK, Waiting.BLOCK);
                UnlinkedFile area = UnlinkedFile.of(LENGTH + Long.BYTES)) {
            CountDownLatch end = delayed(PeerFile.processOf(area.path()));
            try {
                sendInArea(pair.client(), area);
                Receiver receiver = Receiver.of(pair.server());
                pair.server().close();
                end.countDown();
                assertEquals(Hresult.RPC_E_DISCONNECTED, receiver.failure());
                assertEquals(0, mappings(area));
            } finally {
                end.countDown();
            }
        }
    }

    /**
     * An interrupt that loses a message must end the connection, unlike an interrupt while a server
     * waits for a message.
     */
    @Test
    void anInterruptThatLosesAMessageIsNoticed() throws Exception {
        try (Wires.Pair pair = Wires.pair(Waiting.BLOCK, Waiting.BLOCK);
                UnlinkedFile area = UnlinkedFile.of(LENGTH + Long.BYTES)) {
            CountDownLatch end = delayed(PeerFile.processOf(area.path()));
            try {
                sendInArea(pair.client(), area);
                Receiver receiver = Receiver.of(pair.server());
                receiver.thread.interrupt();
                assertEquals(Hresult.RPC_E_CALL_CANCELED, receiver.failure());
                assertTrue(pair.server().isMessageLost());
            } finally {
                end.countDown();
            }
        }
    }
}
