package obvia.runtime.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import obvia.BadMessageException;
import obvia.DisconnectedException;
import obvia.Hresult;
import obvia.Obvia;
import obvia.RpcException;
import obvia.Waiting;
import obvia.runtime.Flat;
import obvia.runtime.call.Deadline;
import obvia.runtime.call.ErrorInfoTest;
import obvia.runtime.call.Fault;
import obvia.runtime.call.PeerFailure;
import obvia.runtime.shm.Acceptor;
import obvia.runtime.shm.Directory;
import obvia.runtime.shm.HostileServer;
import obvia.runtime.shm.Window;
import obvia.runtime.shm.Wires;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests peers that write nonsense or truncate their memory. Each test expects the documented
 * exception in bounded time, and no effect on other connections.
 */
@Timeout(120)
class HostileTest {
    private static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void awaitTruncation(Window window) {
        try {
            Wires.await("the server truncates its memory", () -> !window.isWhole());
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @ParameterizedTest
    @EnumSource(Waiting.class)
    void truncatedSegmentsCauseABadMessage(Waiting waiting) throws Exception {
        RpcException why = HostileServer.against(
                waiting,
                window -> PeerFailure.of(assertThrows(Throwable.class, () -> {
                    window.place(8);
                    window.publish(Window.REQUEST, 3, 1, 8);
                    window.receive(Wires.patience());
                })),
                evil -> {
                    sleep(200);
                    evil.truncate();
                    // A sleeping client polls when it is woken up.
                    evil.ring();
                });
        assertTrue(why instanceof BadMessageException, why.toString());
    }

    /** The memory of the reply is gone when the results are read. */
    @Test
    void resultsInTruncatedMemoryCauseABadMessage() throws Exception {
        HostileServer.against(
                Waiting.BLOCK,
                window -> {
                    WindowChannel channel = new Link(new ProcessRuntime(), 1, window).home().channel();
                    channel.request(8);
                    channel.callDirectly(1, 3, 8);
                    var fault = assertThrows(InternalError.class, () -> channel.replyMemory.get(Flat.LONG, channel.replyAt));
                    assertInstanceOf(BadMessageException.class, channel.failed(fault));
                    assertTrue(channel.isClosed(), "the connection is not used again");
                    return null;
                },
                HostileServer::answerInTruncatedMemory);
    }

    @Test
    void exceptionsOfTheProgramDoNotEndAConnection() throws Exception {
        HostileServer.against(
                Waiting.BLOCK,
                window -> {
                    WindowChannel channel = new Link(new ProcessRuntime(), 1, window).home().channel();
                    var own = new IllegalStateException();
                    assertSame(own, assertThrows(IllegalStateException.class, () -> channel.failed(own)));
                    assertFalse(channel.isClosed(), "the connection goes on");
                    window.close();
                    assertInstanceOf(DisconnectedException.class, channel.failed(own));
                    return null;
                },
                evil -> {});
    }

    /**
     * The references to be released count as unsent, so the link's next connection sends them
     * again.
     */
    @Test
    void releasesInTruncatedMemoryCauseABadMessage() throws Exception {
        HostileServer.against(
                Waiting.BLOCK,
                window -> {
                    Link link = new Link(new ProcessRuntime(), 1, window);
                    var batch = List.of(new RuntimeCalls.CountedReference(1, 1));
                    var unsent = new ArrayList<RuntimeCalls.CountedReference>();
                    awaitTruncation(window);
                    assertThrows(BadMessageException.class, () -> link.atHome(home -> {
                        RuntimeClient.release(home, batch, unsent::add);
                        return null;
                    }));
                    assertEquals(batch, unsent);
                    return null;
                },
                HostileServer::truncate);
    }

    @Test
    void waitingForASilentServerTimesOut() throws Exception {
        int result = HostileServer.against(
                Waiting.BLOCK,
                window -> assertThrows(RpcException.class, () -> window.receive(Deadline.in(java.time.Duration.ofMillis(300)))).result(),
                evil -> {
                    for (int call = 0; call < 1000; call++) {
                        evil.ring();
                    }
                });
        assertEquals(Hresult.RPC_E_TIMEOUT, result);
    }

    private static RpcException failure(int status, byte[] frame) throws Exception {
        return HostileServer.against(
                Waiting.BLOCK,
                window -> {
                    WindowChannel channel = new WindowChannel(null, window);
                    channel.owner = Thread.currentThread();
                    channel.request(8);
                    RpcException why = assertThrows(RpcException.class, () -> channel.callDirectly(1, 3, 8));
                    assertFalse(channel.isClosed(), "the connection goes on");
                    return why;
                },
                evil -> evil.fault(status, frame));
    }

    @Test
    void malformedErrorInformationIsIgnored() throws Exception {
        byte[] good = ErrorInfoTest.FRAME;
        assertEquals(ErrorInfoTest.SAMPLE.description(), failure(Hresult.E_FAIL, good).description());
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

    /** A server that claims to be the process with another OXID, and counts its clients. */
    private record Liar(Directory.Name name, AtomicInteger clients) implements AutoCloseable {
        static Liar of(String name, long claimed) {
            Liar liar = new Liar(Directory.own().bind(name), new AtomicInteger());
            Acceptor.start(liar.name, "liar", true, socket -> Thread.ofPlatform().daemon().start(() -> liar.serve(socket, claimed)));
            return liar;
        }

        private void serve(SocketChannel socket, long claimed) {
            clients.incrementAndGet();
            try (Window window = Window.accept(socket, Waiting.BLOCK, Wires.patience())) {
                window.receive(Wires.patience());
                window.takenAll();
                byte[] answer = Bind.answer(window.bytes(), claimed).unit();
                long at = window.place(answer.length);
                MemorySegment.copy(MemorySegment.ofArray(answer), 0, window.memory(), at, answer.length);
                window.publish(Window.PDU, 0, 0, answer.length);
                window.receive(Wires.patience());
            } catch (RpcException e) {
                // The connection has ended.
            }
        }

        @Override
        public void close() {
            name.close();
        }
    }

    @Test
    void claimsOfIdentitiesAreFollowedOnce() {
        long one = Clients.drawNumber();
        long two = Clients.drawNumber();
        String name = "liar-" + ProcessHandle.current().pid();
        try (Liar first = Liar.of(name, one);
                Liar second = Liar.of(ObjRef.endpoint(one), two);
                Liar third = Liar.of(ObjRef.endpoint(two), one)) {
            int result = assertThrows(RpcException.class, () -> Obvia.bind(ITest.class, name)).result();
            assertEquals(Hresult.RPC_E_INVALID_DATA, result);
            assertEquals(List.of(1, 1, 0), List.of(first.clients.get(), second.clients.get(), third.clients.get()));
            ObjRef reference = new ObjRef(ITestInfo.INFO.iid(), 1, one, 1, 1, List.of(ObjRef.endpoint(one)));
            var links = new ProcessRuntime().links();
            result = assertThrows(RpcException.class, () -> links.linkToObject(reference)).result();
            assertEquals(Hresult.RPC_E_INVALID_DATA, result);
            assertEquals(0, third.clients.get());
        }
    }

    /**
     * A client writes random words to slots. The server closes that connection or answers, and
     * serves other clients.
     */
    @Test
    void randomSlotsDoNotHarmAServer() throws Exception {
        Random random = new Random(17);
        try (Peer peer = Peer.server()) {
            ITest witness = Obvia.bind(ITest.class, peer.name);
            for (int turn = 0; turn < 150; turn++) {
                try (Window window = Window.connect(peer.name, Waiting.BLOCK, false, Wires.patience())) {
                    // Half of the clients have introduced themselves, so that their data reaches
                    // the runtime's own calls and the object.
                    if (turn % 2 == 0) {
                        WindowChannel channel = new WindowChannel(null, window);
                        channel.owner = Thread.currentThread();
                        Bind.introduce(channel, 1 + random.nextInt(1000));
                    }
                    HostileServer.writeNonsense(window, random);
                    window.place(0);
                    // If no message wakes the server up, the end of the connection does.
                    sleep(random.nextInt(3));
                }
                assertEquals(turn + 1, witness.add(turn, 1));
            }
            Wires.await("what those had that are gone is dropped", () -> witness.held() == 1);
        }
    }

    /** Clients send random bytes after a greeting, or in place of a greeting. */
    @Test
    void randomGreetingsDoNotHarmAServer() throws Exception {
        Random random = new Random(23);
        try (Peer peer = Peer.server()) {
            ITest witness = Obvia.bind(ITest.class, peer.name);
            for (int turn = 0; turn < 100; turn++) {
                byte[] bytes = new byte[random.nextInt(60)];
                random.nextBytes(bytes);
                if (turn % 2 == 0 && bytes.length >= 24) {
                    ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN)
                            .putInt(0x4956424f).putInt(1).putInt(16).putInt(random.nextInt(9)).putLong(4096L << random.nextInt(20));
                }
                HostileServer.send(peer.name, bytes);
                assertEquals(turn + 1, witness.add(turn, 1));
            }
        }
    }
}
