package obvia.runtime.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import obvia.Export;
import obvia.RpcException;
import obvia.Threading;
import obvia.Waiting;
import obvia.runtime.Flat;
import obvia.runtime.InterfaceInfo;
import obvia.runtime.call.CallContext;
import obvia.runtime.call.Deadline;
import obvia.runtime.shm.Acceptor;
import obvia.runtime.shm.Directory;
import obvia.runtime.shm.Window;
import obvia.runtime.shm.Wires;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the return of references in one-way calls that a server refuses. */
@Timeout(120)
class ReferencesToReturnTest {
    /** A target that leads to no object. */
    private static final long NONE = 0x7fff_ffff_0000_7fffL;

    private static final InterfaceInfo<ITest> TEST = InterfaceInfo.of(ITest.class);

    private final ProcessRuntime server = new ProcessRuntime();
    private final ProcessRuntime client = new ProcessRuntime();

    private Export export() {
        return server.export(new Peer.Subject(), ITest.class, "references-" + Long.toHexString(server.oxid()), Threading.PLATFORM);
    }

    /** Returns the target of a new object of the client, with references counted for the server. */
    private long give() {
        return client.marshalOwn(new Peer.Subject(), TEST, server.oxid(), false).target();
    }

    /** Makes a one-way call that is refused, and lists a reference for that call. */
    private static void list(WindowChannel channel, long target) {
        channel.request(0);
        channel.oneway(NONE, 3, 0);
        byte[] list = RuntimeCalls.listed(List.of(new RuntimeCalls.CountedReference(target, RuntimeCalls.REFS_PER_QUERY)));
        channel.request(list.length);
        MemorySegment.copy(MemorySegment.ofArray(list), 0, channel.memory, channel.at, list.length);
        channel.oneway(0, RuntimeCalls.LISTED, list.length);
    }

    private void awaitReturn(long target) throws Exception {
        Wires.await("the references are given back", () -> client.exports().find(target) == null);
    }

    @Test
    void listedReferencesAreReleased() throws Exception {
        try (Export export = export()) {
            WindowChannel channel = client.links().linkToName(export.name()).ownChannel();
            long early = give();
            list(channel, early);
            // The answer to a call on the connection shows that the list was received.
            Bind.alter(channel, TEST);
            assertNotNull(server.clients().referencesToReturn(client.oxid()).first(), "the server has no connection to the client");
            server.links().linkToName(ObjRef.endpoint(client.oxid()));
            awaitReturn(early);
            long late = give();
            list(channel, late);
            awaitReturn(late);
        }
    }

    @Test
    void owedReferencesAreReleasedOnlyToTheirProcess() throws Exception {
        try (Export export = export();
                Window window = Window.connect(ObjRef.endpoint(server.oxid()), Waiting.ADAPTIVE, false, Wires.patience())) {
            long held = give();
            server.links().linkToName(ObjRef.endpoint(client.oxid()));
            WindowChannel channel = client.links().linkToName(export.name()).ownChannel();
            var impostor = new WindowChannel(null, window);
            impostor.owner = Thread.currentThread();
            assertEquals(server.oxid(), Bind.introduce(impostor, client.oxid()));
            list(impostor, held);
            // The answer to a call on the connection shows that the list was received.
            Bind.alter(impostor, TEST);
            for (int round = 0; round < 2; round++) {
                long given = give();
                list(channel, given);
                awaitReturn(given);
            }
            assertNotNull(client.exports().find(held));
        }
    }

    @Test
    void owedReferencesAreLimitedPerClient() {
        var one = new ReferencesToReturn.Source(-1, 1);
        var other = new ReferencesToReturn.Source(-1, 2);
        var references = new ReferencesToReturn();
        assertNull(references.first());
        fill(references, one);
        assertEquals(one, references.first());
        List<RuntimeCalls.CountedReference> taken = references.take(one);
        assertEquals(ReferencesToReturn.MAX, taken.size());
        assertEquals(ReferencesToReturn.MAX - 1, taken.getLast().target(), "the first ones");
        assertNull(references.first());
        // Two connections share the limit.
        fill(references, one);
        fill(references, other);
        assertEquals(List.of(ReferencesToReturn.MAX / 2, ReferencesToReturn.MAX / 2), List.of(references.take(one).size(), references.take(other).size()));
    }

    private static void fill(ReferencesToReturn references, ReferencesToReturn.Source from) {
        for (int target = 0; target < 2 * ReferencesToReturn.MAX; target++) {
            references.add(from, new RuntimeCalls.CountedReference(target, 1));
        }
    }

    /** A client that answers questions about its connections late. */
    private static final class Slow implements AutoCloseable {
        private final long oxid;
        private final Directory.Name name;
        private final Queue<Long> delays;
        private final AtomicInteger questions = new AtomicInteger();
        private final Set<Long> released = ConcurrentHashMap.newKeySet();
        /** The client receives no further message until this latch opens. */
        private volatile CountDownLatch mayReceive = new CountDownLatch(0);

        /**
         * Starts the client.
         *
         * @param delays the delays of the first answers in milliseconds; -1 for no answer
         */
        Slow(long oxid, Long... delays) {
            this.oxid = oxid;
            this.delays = new ConcurrentLinkedQueue<>(List.of(delays));
            name = Directory.own().bind(ObjRef.endpoint(oxid));
            Acceptor.start(name, "slow", true, socket -> Thread.ofPlatform().daemon().start(() -> serve(socket)));
        }

        private void serve(SocketChannel socket) {
            try (Window window = Window.accept(socket, Waiting.BLOCK, Wires.patience())) {
                while (true) {
                    window.receive(Wires.patience());
                    window.takenAll();
                    if (window.kind() == Window.CANCEL || window.kind() == Window.ONEWAY) {
                        window.release();
                    } else {
                        answer(window, window.sequence());
                    }
                    await(mayReceive);
                }
            } catch (RpcException e) {
                // The connection has ended.
            }
        }

        private void answer(Window window, int callId) {
            boolean isBind = window.kind() == Window.PDU;
            byte[] answer = {};
            if (isBind) {
                answer = Bind.answer(window.bytes(), oxid).unit();
            } else if (window.opnum() == RuntimeCalls.OWNS) {
                questions.incrementAndGet();
                Long delay = delays.poll();
                if (delay != null && delay < 0) {
                    return;
                }
                Peer.sleep(delay == null ? 0 : delay);
                answer = new byte[] {1, 0, 0, 0, 0, 0, 0, 0};
            } else {
                for (int at = 0; at < window.length; at += 16) {
                    released.add(window.frame.get(Flat.LONG, window.at + at));
                }
            }
            long at = window.place(answer.length);
            MemorySegment.copy(MemorySegment.ofArray(answer), 0, window.memory(), at, answer.length);
            window.publish(isBind ? Window.PDU : Window.RESPONSE, 0, isBind ? 0 : (long) callId << 32, answer.length);
        }

        @Override
        public void close() {
            name.close();
        }
    }

    /** Adds references that were listed on connections of a client, one for each connection. */
    private void owe(Slow slow, int connections) {
        assertTrue(server.clients().enter(slow.oxid, -1));
        for (int i = 1; i <= connections; i++) {
            server.clients().referencesToReturn(slow.oxid).add(new ReferencesToReturn.Source(-1, i), new RuntimeCalls.CountedReference(i, 1));
        }
    }

    private static void awaitReleases(Slow slow, Link link, int count) throws Exception {
        Wires.await("the references are given back", () -> {
            link.returnAllReferences();
            return slow.released.size() == count;
        });
    }

    /** One thread, the janitor, serves all links: a slow client also delays the other clients. */
    @Test
    void slowClientsDelayTheJanitorOnlyBriefly() throws Exception {
        try (Slow slow = new Slow(client.oxid(), 600L, 600L, 600L)) {
            owe(slow, 3);
            Link link = Link.reach(server, ObjRef.endpoint(slow.oxid));
            link.returnAllReferences();
            assertTrue(slow.questions.get() < 3, "it is asked for a second");
            awaitReleases(slow, link, 3);
            link.close();
        }
    }

    @Test
    void releasesToAnUnresponsiveClientAreRepeated() throws Exception {
        try (Slow slow = new Slow(client.oxid(), -1L)) {
            owe(slow, 1);
            Link link = Link.reach(server, ObjRef.endpoint(slow.oxid));
            link.returnAllReferences();
            assertTrue(slow.released.isEmpty());
            awaitReleases(slow, link, 1);
            link.close();
        }
    }

    @Test
    void unsentReleasesAreSentLater() throws Exception {
        try (Slow slow = new Slow(client.oxid())) {
            Link link = Link.reach(server, ObjRef.endpoint(slow.oxid));
            var isEntered = new CountDownLatch(1);
            var mayLeave = new CountDownLatch(1);
            Thread user = Thread.ofPlatform().start(() -> link.atHome(home -> {
                isEntered.countDown();
                return await(mayLeave);
            }));
            assertTrue(await(isEntered));
            link.giveBack(1, 1);
            assertTrue(link.returnAllReferences(), "the process is not silent, as it was not asked");
            assertTrue(slow.released.isEmpty());
            mayLeave.countDown();
            user.join();
            awaitReleases(slow, link, 1);
            link.close();
        }
    }

    @Test
    void releasesWithoutRoomAreSentLater() throws Exception {
        try (Slow slow = new Slow(client.oxid())) {
            slow.mayReceive = new CountDownLatch(1);
            Link link = Link.reach(server, ObjRef.endpoint(slow.oxid));
            assertThrows(RpcException.class, () -> CallContext.NONE.by(Deadline.in(Duration.ofMillis(100))).during(() -> link.atHome(home -> {
                while (true) {
                    home.request(0);
                    home.oneway(0, RuntimeCalls.LISTED, 0);
                }
            })));
            link.giveBack(1, 1);
            link.returnAllReferences();
            slow.mayReceive.countDown();
            awaitReleases(slow, link, 1);
            link.close();
        }
    }

    private static boolean await(CountDownLatch event) {
        try {
            return event.await(60, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void marksOfOpenConnectionsAreNotReplaced() throws Exception {
        var marks = new ConnectionMarks(2);
        try (Wires.Pair one = Wires.pair(Waiting.BLOCK, Waiting.BLOCK);
                Wires.Pair two = Wires.pair(Waiting.BLOCK, Waiting.BLOCK);
                Wires.Pair three = Wires.pair(Waiting.BLOCK, Waiting.BLOCK)) {
            marks.add(one.client());
            marks.add(two.client());
            two.client().close();
            assertTrue(marks.has(two.client().mark()), "one of the last");
            marks.add(three.client());
            assertTrue(marks.has(one.client().mark()));
            assertFalse(marks.has(two.client().mark()));
            assertTrue(marks.has(three.client().mark()));
        }
    }
}
