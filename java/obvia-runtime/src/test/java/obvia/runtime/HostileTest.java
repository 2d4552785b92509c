package obvia.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import obvia.BadMessageException;
import obvia.Hresult;
import obvia.Obvia;
import obvia.RpcException;
import obvia.Waiting;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests peers that write nonsense or truncate their memory: the result is the documented exception
 * in bounded time, without an effect on other connections.
 */
@Timeout(120)
class HostileTest {
    private static final AtomicInteger NEXT = new AtomicInteger();

    /** A server that performs the greeting correctly, with files under its control. */
    private record Evil(Line line, Segments.Made own, Segments.Made others) implements AutoCloseable {
        @Override
        public void close() {
            line.close();
            Directory.close(own);
            Directory.close(others);
        }
    }

    private static ByteBuffer buffer(int length) {
        return ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Connects to a hostile server, and runs both sides. */
    private static <R> R against(Waiting waiting, Function<Window, R> client, java.util.function.Consumer<Evil> server) throws Exception {
        String name = "evil-" + ProcessHandle.current().pid() + "-" + NEXT.incrementAndGet();
        try (Directory.Name bound = Directory.own().bind(name)) {
            var called = CompletableFuture.supplyAsync(() -> {
                try (Window window = Window.connect(Directory.own(), name, waiting, false, Wires.patience())) {
                    return client.apply(window);
                }
            });
            long length = Layout.AREA + Segments.AREA_MAX;
            try (Evil evil = new Evil(new Line(bound.listener().accept()), Segments.Made.of(length), Segments.Made.of(length))) {
                Segments.Greeting theirs = Segments.Greeting.read(evil.line.receive(24, Wires.patience()));
                theirs.put(buffer(24));
                int pid = (int) ProcessHandle.current().pid();
                evil.own.file().write(buffer(8).putLong(4711).flip(), Layout.MARK);
                evil.others.file().write(buffer(8).putLong(4711).flip(), Layout.MARK);
                var names = new Segments.Names(pid, evil.own.number(), evil.others.number(), 4711);
                evil.line.send(names.put(theirs.put(buffer(48))).flip());
                assertEquals(1, evil.line.receive(1, Wires.patience()).get());
                server.accept(evil);
                return called.get();
            }
        }
    }

    private static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @ParameterizedTest
    @EnumSource(Waiting.class)
    void aSegmentThatIsCutShortEndsInABadMessage(Waiting waiting) throws Exception {
        RpcException why = against(
                waiting,
                window -> Window.failed(assertThrows(Throwable.class, () -> {
                    window.place(8);
                    window.publish(Window.REQUEST, 3, 1, 8);
                    window.receive(Wires.patience());
                })),
                evil -> {
                    sleep(200);
                    try {
                        evil.own.file().truncate(0);
                        evil.others.file().truncate(0);
                    } catch (java.io.IOException e) {
                        throw new java.io.UncheckedIOException(e);
                    }
                    // A sleeping client polls when it is woken up.
                    evil.line.call();
                });
        assertTrue(why instanceof BadMessageException, why.toString());
    }

    @Test
    void aServerThatNeverAnswersIsNotWaitedForForEver() throws Exception {
        int result = against(
                Waiting.BLOCK,
                window -> assertThrows(RpcException.class, () -> window.receive(Deadline.in(java.time.Duration.ofMillis(300)))).result(),
                evil -> {
                    for (int call = 0; call < 1000; call++) {
                        evil.line.call();
                    }
                });
        assertEquals(Hresult.RPC_E_TIMEOUT, result);
    }

    /** Writes a fault with a frame as the answer to the client's first call. */
    private static void fault(Evil evil, int status, byte[] frame) {
        ByteBuffer slot = buffer(Layout.SLOT_SIZE).putLong(1L | 3L << 32 | (long) Window.FAULT << 48 | (long) frame.length << 56);
        slot.putLong(Integer.toUnsignedLong(status) | 1L << 32).put(frame).rewind();
        try {
            evil.own.file().write(slot.slice(8, Layout.SLOT_SIZE - 8), Layout.slot(1) + 8);
            evil.own.file().write(slot.slice(0, 8), Layout.slot(1));
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
        evil.line.call();
    }

    private static RpcException failure(int status, byte[] frame) throws Exception {
        return against(
                Waiting.BLOCK,
                window -> {
                    WindowChannel channel = new WindowChannel(null, window);
                    channel.owner = Thread.currentThread();
                    channel.request(8);
                    RpcException why = assertThrows(RpcException.class, () -> channel.call(1, 3, 8));
                    assertFalse(channel.isClosed(), "the connection goes on");
                    return why;
                },
                evil -> fault(evil, status, frame));
    }

    @Test
    void wordsThatAreNoneAreAFaultWithoutWords() throws Exception {
        byte[] good = WordsTest.FRAME;
        assertEquals(WordsTest.SAMPLE.description(), failure(Hresult.E_FAIL, good).description());
        byte[] tooLong = good.clone();
        tooLong[7] = 0x7f;
        byte[] pastTheEnd = good.clone();
        pastTheEnd[12] = 13;
        for (byte[] frame : new byte[][] {{}, {1, 2, 3}, Arrays.copyOf(good, 16), Arrays.copyOf(good, good.length + 8), tooLong, pastTheEnd}) {
            RpcException why = failure(Hresult.E_FAIL, frame);
            assertEquals(Hresult.E_FAIL, why.result());
            assertEquals("the server answered with a fault: status 0x80004005", why.getMessage());
        }
        RpcException refused = failure(Fault.ACCESS_DENIED, good);
        assertEquals(Hresult.E_ACCESSDENIED, refused.result(), "what is no HRESULT of a method has no words");
        assertEquals("the server answered with a fault: the caller has no permission, or its authentication failed", refused.getMessage());
    }

    /**
     * A client writes random words to slots: the server closes that connection or answers, and
     * serves others.
     */
    @Test
    void aServerIsNotHarmedByWhatASlotSays() throws Exception {
        Random random = new Random(17);
        try (Peer peer = Peer.server()) {
            ITest witness = Obvia.bind(ITest.class, peer.name);
            for (int turn = 0; turn < 150; turn++) {
                try (Window window = Window.connect(Directory.own(), peer.name, Waiting.BLOCK, false, Wires.patience())) {
                    // Half of the clients have introduced themselves, so that the runtime's own
                    // calls and the object get their data.
                    if (turn % 2 == 0) {
                        WindowChannel channel = new WindowChannel(null, window);
                        channel.owner = Thread.currentThread();
                        Bind.introduce(channel, 1 + random.nextInt(1000));
                    }
                    int begin = window.nextSequence();
                    for (int message = begin; message < begin + 4; message++) {
                        long slot = Layout.slot(message);
                        for (int at = 8; at < Layout.SLOT_SIZE; at += 8) {
                            window.memory().set(Flat.LONG, slot + at, random.nextInt(3) == 0 ? random.nextLong() : random.nextInt(4));
                        }
                        long kind = 1 + random.nextInt(7);
                        long length = random.nextInt(4) == 0 ? random.nextInt(256) : random.nextInt(15) * 8L;
                        Layout.LONG_WORD.setRelease(window.memory(), slot, message | (long) random.nextInt(20) << 32 | kind << 48 | length << 56);
                    }
                    window.place(0);
                    // The server is woken up in any case.
                    sleep(random.nextInt(3));
                }
                assertEquals(turn + 1, witness.add(turn, 1));
            }
            ProcessesTest.await("what those had that are gone is dropped", () -> witness.held() == 1);
        }
    }

    /** Clients send random bytes after a greeting, and instead of one. */
    @Test
    void aServerIsNotHarmedByGreetingsThatAreNone() throws Exception {
        Random random = new Random(23);
        try (Peer peer = Peer.server()) {
            ITest witness = Obvia.bind(ITest.class, peer.name);
            for (int turn = 0; turn < 100; turn++) {
                try (var socket = Directory.own().connect(peer.name, Wires.patience())) {
                    byte[] bytes = new byte[random.nextInt(60)];
                    random.nextBytes(bytes);
                    if (turn % 2 == 0 && bytes.length >= 24) {
                        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN)
                                .putInt(0x4956424f).putInt(1).putInt(16).putInt(random.nextInt(9)).putLong(4096L << random.nextInt(20));
                    }
                    socket.write(ByteBuffer.wrap(bytes));
                }
                assertEquals(turn + 1, witness.add(turn, 1));
            }
        }
    }
}
