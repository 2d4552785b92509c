package obvia.runtime.shm;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import obvia.BadMessageException;
import obvia.Hresult;
import obvia.RpcException;
import obvia.Waiting;
import obvia.runtime.Flat;
import obvia.runtime.call.CallContext;
import obvia.runtime.call.Deadline;
import obvia.runtime.call.FrameLimit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(120)
public class WindowTest {
    public static void send(Window window, int kind, int length, int seed) {
        long at = window.place(length);
        MemorySegment.copy(words(length, seed), 0, window.memory(), Flat.LONG, at, length / 8);
        window.publish(kind, 3, seed, length);
    }

    public static void receive(Window window, int kind, int length, int seed) {
        window.receive(Wires.patience());
        assertEquals(kind, window.kind());
        assertEquals(seed, window.target());
        assertEquals(length, window.length);
        long[] received = new long[length / 8];
        MemorySegment.copy(window.frame, Flat.LONG, window.at, received, 0, received.length);
        assertArrayEquals(words(length, seed), received);
    }

    /** Returns the content of a message. Different seeds give different contents. */
    private static long[] words(int length, int seed) {
        long[] words = new long[length / 8];
        for (int index = 0; index < words.length; index++) {
            words[index] = 8L * seed * index;
        }
        return words;
    }

    @ParameterizedTest
    @EnumSource(Waiting.class)
    void messagesOfEveryLengthArrive(Waiting waiting) throws Exception {
        int[] lengths = {0, 8, 112, 120, 4096, 200_000, 300_000, 8, 1 << 20, 5 << 20, 64};
        // On a busy machine, a polling thread waits for the time slice of the other thread.
        int rounds = waiting == Waiting.POLL ? 3 : 30;
        try (Wires.Pair pair = Wires.pair(waiting, waiting)) {
            var server = CompletableFuture.runAsync(() -> {
                for (int turn = 0; turn < rounds * lengths.length; turn++) {
                    receive(pair.server(), Window.REQUEST, lengths[turn % lengths.length], turn);
                    pair.server().takenAll();
                    send(pair.server(), Window.RESPONSE, lengths[(turn + 1) % lengths.length], turn);
                }
            });
            for (int turn = 0; turn < rounds * lengths.length; turn++) {
                int callId = pair.client().nextSequence();
                send(pair.client(), Window.REQUEST, lengths[turn % lengths.length], turn);
                receive(pair.client(), Window.RESPONSE, lengths[(turn + 1) % lengths.length], turn);
                pair.client().takenThrough(callId);
            }
            server.get();
        }
        assertEquals(0, Wires.leftovers());
    }

    @Test
    void pdusLongerThanTheirHeaderCanSayAreNotCopied() throws Exception {
        try (Wires.Pair pair = Wires.pair(Waiting.BLOCK, Waiting.BLOCK)) {
            send(pair.client(), Window.PDU, 0xfff8, 1);
            pair.server().receive(Wires.patience());
            assertEquals(0xfff8, pair.server().unit().length);
            send(pair.client(), Window.PDU, 0x10000, 2);
            pair.server().receive(Wires.patience());
            assertThrows(BadMessageException.class, pair.server()::unit);
        }
    }

    @Test
    void oneWaySendersWaitForCredit() throws Exception {
        try (Wires.Pair pair = Wires.pair(Waiting.BLOCK, Waiting.BLOCK)) {
            var server = CompletableFuture.runAsync(() -> {
                for (int turn = 0; turn < 500; turn++) {
                    receive(pair.server(), Window.ONEWAY, turn % 3 == 0 ? 100_000 : 16, turn);
                    pair.server().release();
                }
            });
            for (int turn = 0; turn < 500; turn++) {
                send(pair.client(), Window.ONEWAY, turn % 3 == 0 ? 100_000 : 16, turn);
            }
            server.get();
        }
    }

    /** The numbers of messages wrap around. */
    @Test
    void areasAreFreeHoweverManyMessagesAgoTheirLastFrameWasTaken() throws Exception {
        for (int messages : new int[] {0, Integer.MIN_VALUE, -2}) {
            try (Wires.Pair pair = Wires.pair(Waiting.BLOCK, Waiting.BLOCK)) {
                send(pair.client(), Window.ONEWAY, 200_000, 1);
                receive(pair.server(), Window.ONEWAY, 200_000, 1);
                pair.client().next += messages;
                pair.client().takenAll();
                CallContext.NONE.by(Deadline.in(Duration.ofSeconds(5))).during(() -> pair.client().place(300_000));
            }
        }
    }

    @Test
    void waitingForCreditTimesOut() throws Exception {
        try (Wires.Pair pair = Wires.pair(Waiting.BLOCK, Waiting.BLOCK)) {
            for (int turn = 0; turn < Layout.SLOT_COUNT; turn++) {
                send(pair.client(), Window.ONEWAY, 8, turn);
            }
            RpcException late = CallContext.NONE.by(Deadline.in(Duration.ofMillis(200)))
                    .during(() -> assertThrows(RpcException.class, () -> send(pair.client(), Window.ONEWAY, 8, 1)));
            assertEquals(Hresult.RPC_E_TIMEOUT, late.result());
        }
    }

    @ParameterizedTest
    @EnumSource(Waiting.class)
    void theEndOfThePeerIsDetected(Waiting waiting) throws Exception {
        try (Wires.Pair pair = Wires.pair(waiting, Waiting.BLOCK)) {
            CompletableFuture.runAsync(pair.server()::close, CompletableFuture.delayedExecutor(100, java.util.concurrent.TimeUnit.MILLISECONDS));
            RpcException gone = assertThrows(RpcException.class, () -> pair.client().receive(Wires.patience()));
            assertEquals(Hresult.RPC_E_DISCONNECTED, gone.result());
            assertTrue(pair.client().isClosed());
        }
    }

    @ParameterizedTest
    @EnumSource(Waiting.class)
    void windowWaitsEndByDeadlineAndInterruption(Waiting waiting) throws Exception {
        try (Wires.Pair pair = Wires.pair(waiting, Waiting.BLOCK)) {
            Deadline soon = Deadline.in(Duration.ofMillis(100));
            RpcException late = assertThrows(RpcException.class, () -> pair.client().receive(soon));
            assertEquals(Hresult.RPC_E_TIMEOUT, late.result());
            CompletableFuture.runAsync(
                    pair.client()::interrupt, CompletableFuture.delayedExecutor(100, java.util.concurrent.TimeUnit.MILLISECONDS));
            RpcException rung = assertThrows(RpcException.class, () -> pair.client().receive(Wires.patience()));
            assertEquals(Hresult.RPC_E_CALL_CANCELED, rung.result());
        }
    }

    /** A server that never stops to send wake-ups must not keep a call beyond its deadline. */
    @Test
    void theSearchForAnAnnouncementIsShort() throws Exception {
        String name = "wakeful-" + ProcessHandle.current().pid();
        try (Directory.Name bound = Directory.own().bind(name);
                var client = new ConnectionSocket(Directory.own().connect(name, Wires.patience()));
                var server = new ConnectionSocket(bound.listener().accept())) {
            server.send(ByteBuffer.allocate(40_000).put(39_999, (byte) 1));
            assertEquals(-1, client.next());
            client.look();
            client.look();
            assertEquals(1, client.next());
        }
    }

    @Test
    void slotFieldsAreChecked() throws Exception {
        // In each row: the length byte of a slot, and the area's number, offset and length.
        long[][] wrong = {
            {113, 0, 0, 8}, {254, 0, 0, 8}, {255, 1, 0, 8}, {255, 0, 4, 8}, {255, 0, -8, 8}, {255, 0, 0, -1},
            {255, 0, FrameLimit.BYTES, 8}, {255, 0, FrameLimit.BYTES - 8, 16}, {255, -1, 0, 8},
        };
        for (long[] words : wrong) {
            try (Wires.Pair pair = Wires.pair(Waiting.BLOCK, Waiting.BLOCK)) {
                MemorySegment own = pair.client().memory();
                long slot = Layout.slot(1);
                own.set(Flat.INT, slot + 16, (int) words[1]);
                own.set(Flat.INT, slot + 20, (int) words[2]);
                own.set(Flat.INT, slot + 24, (int) words[3]);
                Layout.LONG_WORD.setRelease(own, slot, 1L | 1L << 48 | words[0] << 56);
                assertThrows(BadMessageException.class, () -> pair.server().receive(Wires.patience()), () -> words[0] + " " + words[1]);
            }
        }
    }

    @Test
    void creditForUnsentMessagesIsRefused() throws Exception {
        try (Wires.Pair pair = Wires.pair(Waiting.BLOCK, Waiting.BLOCK)) {
            for (int turn = 0; turn < Layout.SLOT_COUNT; turn++) {
                send(pair.client(), Window.ONEWAY, 8, turn);
            }
            Layout.WORD.setRelease(pair.server().memory(), Layout.CONSUMED, Layout.SLOT_COUNT + 1);
            assertThrows(BadMessageException.class, () -> send(pair.client(), Window.ONEWAY, 8, 1));
        }
    }
}
