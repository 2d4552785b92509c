package obvia.runtime.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import obvia.ClassRegistration;
import obvia.Guid;
import obvia.Obvia;
import obvia.runtime.shm.HostileClient;
import obvia.runtime.shm.Wires;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests idle connections, which first lose their threads and later their memory. The next call
 * restores both.
 */
@Timeout(120)
class IdleTest {
    private final long cold = IdleConnections.cold;
    private final long close = IdleConnections.close;

    @AfterEach
    void restore() {
        IdleConnections.cold = cold;
        IdleConnections.close = close;
    }

    private static void limit(long cold, long close) {
        IdleConnections.cold = cold;
        IdleConnections.close = close;
        // The janitor still sleeps for the period of the previous limits.
        ((ProcessRuntime) obvia.ObviaRuntime.instance()).links().wakeJanitor();
    }

    @Test
    void threadsOfIdleConnectionsEndAndRestart() throws Exception {
        for (String which : List.of("old", "virtual")) {
            try (Peer peer = Peer.calc(which, "-Dobvia.idle.warm=100")) {
                ICalc there = Obvia.bind(ICalc.class, peer.name);
                var isDone = new AtomicBoolean();
                List<CompletableFuture<Void>> idlers = new ArrayList<>();
                for (int caller = 0; caller < 8; caller++) {
                    idlers.add(CompletableFuture.runAsync(() -> {
                        assertEquals(3, there.add(1, 2));
                        while (!isDone.get()) {
                            sleep(5);
                        }
                        assertEquals(7, there.add(3, 4), "it is back");
                    }, call -> Thread.ofPlatform().daemon().start(call)));
                }
                // The connection of the asking thread is hot. The eight other connections and the
                // home connection rest.
                Wires.await("threads end", () -> there.about(Calcs.HOT) == 1 && there.about(Calcs.WARM) == 9);
                sleep(300);
                assertEquals(which.equals("virtual") ? 1 : 0, there.about(Calcs.IS_VIRTUAL), "its own has ended meanwhile, and is another one");
                isDone.set(true);
                for (CompletableFuture<Void> idler : idlers) {
                    idler.get(60, TimeUnit.SECONDS);
                }
            }
        }
    }

    @Test
    void theEndOfAnIdleClientIsDetected() throws Exception {
        try (Peer peer = Peer.server("-Dobvia.idle.warm=50");
                Peer holder = Peer.holder(peer.name)) {
            ITest there = Obvia.bind(ITest.class, peer.name);
            assertEquals(2, there.held());
            // The time suffices for all connections of the holder to become warm.
            sleep(500);
            holder.kill();
            Wires.await("what it held is dropped", () -> there.held() == 1);
            assertEquals("", peer.errors());
        }
    }

    /**
     * A fault on the poller's thread would lose the connection, so the fault must occur on the
     * connection's own thread.
     */
    @Test
    void idleConnectionsWithTruncatedMemoryAreClosed() throws Exception {
        try (Peer peer = Peer.calc("old", "-Dobvia.idle.warm=50");
                HostileClient evil = new HostileClient(peer.name)) {
            ICalc there = Obvia.bind(ICalc.class, peer.name);
            // The home connection rests as well.
            Wires.await("the connection rests", () -> there.about(Calcs.WARM) == 2);
            evil.truncate();
            evil.ring();
            Wires.await("the server closes the connection", evil::hasEnded);
            assertEquals(3, there.add(1, 2));
        }
    }

    private static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Runs a check while another thread is idle after a call. */
    private static void whileOneWaits(ITest there, int words, Runnable look) throws Exception {
        var isDone = new AtomicBoolean();
        var thread = new CompletableFuture<Thread>();
        CompletableFuture<Void> idler = CompletableFuture.runAsync(() -> {
            assertEquals(words, there.sum(ones(words)));
            while (!isDone.get()) {
                sleep(5);
            }
            assertEquals(words, there.sum(ones(words)), "it is back");
        }, call -> thread.complete(Thread.ofPlatform().daemon().start(call)));
        look.run();
        isDone.set(true);
        idler.get(60, TimeUnit.SECONDS);
        // The channel ends with its thread, not because it is idle.
        thread.get().join();
    }

    private static int[] ones(int count) {
        int[] ones = new int[count];
        java.util.Arrays.fill(ones, 1);
        return ones;
    }

    private static void await(String what, java.util.function.BooleanSupplier isSo) {
        try {
            Wires.await(what, isSo);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void idleConnectionsWithMemoryAreClosedFirst() throws Exception {
        long server;
        try (Peer peer = Peer.server()) {
            ITest there = Obvia.bind(ITest.class, peer.name);
            limit(200, 3_600_000);
            long cooled = Obvia.connections().cooled();
            long closed = Obvia.connections().closed();
            whileOneWaits(there, 100_000, () -> await("it holds pages of its area", () -> Obvia.connections().cooled() == cooled + 1));
            assertEquals(closed, Obvia.connections().closed());
            whileOneWaits(there, 10, () -> sleep(1_000));
            assertEquals(cooled + 1, Obvia.connections().cooled(), "one that holds nothing is kept");
            assertEquals(closed, Obvia.connections().closed());
            server = peer.pid();
        }
        assertEquals(0, Wires.leftovers(server));
    }

    @Test
    void idleConnectionsAreClosedOnBothSidesAndReopened() throws Exception {
        try (Peer peer = Peer.calc("old", "-Dobvia.idle.warm=50")) {
            ICalc there = Obvia.bind(ICalc.class, peer.name);
            assertEquals(7, there.add(3, 4));
            ICalc made = there.self();
            limit(200, 200);
            long closed = Obvia.connections().closed();
            var connections = new ArrayList<Integer>();
            CompletableFuture<Integer> virtual = new CompletableFuture<>();
            Thread.ofVirtual().start(() -> virtual.complete(there.add(1, 1)));
            assertEquals(2, virtual.get(60, TimeUnit.SECONDS));
            await("a platform thread's and a virtual thread's go", () -> Obvia.connections().closed() >= closed + 2);
            // A call opens one connection again; the home connection holds the references.
            await("the server has none of them", () -> {
                connections.add((int) (there.about(Calcs.HOT) + there.about(Calcs.WARM)));
                return connections.getLast() == 2;
            });
            assertEquals(7, made.add(3, 4));
            assertEquals(there, made);
            assertEquals(1, there.about(Calcs.HELD));
        }
    }

    /**
     * If the janitor closed the connection, the client would take that for the end of the server,
     * and would repeat the creation.
     */
    @Test
    void theConnectionOfALongCreationIsNotIdle() throws Exception {
        var server = new ProcessRuntime();
        var client = new ProcessRuntime();
        Guid id = new Guid(0x6f62766961L, ProcessHandle.current().pid());
        var created = new AtomicInteger();
        Supplier<ICalc> make = () -> {
            created.incrementAndGet();
            // The janitor looks for idle connections about fifty times.
            sleep(500);
            return new Calcs.Old();
        };
        try (ClassRegistration registration = server.registerClass(id, ICalc.class, make, null)) {
            assertEquals(id, registration.classId());
            limit(1, 1);
            client.links().wakeJanitor();
            var made = CompletableFuture.supplyAsync(() -> client.connect("").createInstance(id, ICalc.class), call -> Thread.ofPlatform().daemon().start(call));
            assertEquals(7, made.get(60, TimeUnit.SECONDS).add(3, 4));
            assertEquals(1, created.get());
        }
    }

    /** Makes calls at the moment at which connections are closed: no call must be affected. */
    @Test
    void callsSucceedWhileTheirIdleConnectionIsClosed() throws Exception {
        try (Peer peer = Peer.calc("old")) {
            ICalc there = Obvia.bind(ICalc.class, peer.name);
            limit(1, 1);
            long closed = Obvia.connections().closed();
            var isDone = new AtomicBoolean();
            List<CompletableFuture<Void>> callers = new ArrayList<>();
            for (int caller = 0; caller < 3; caller++) {
                int own = caller;
                callers.add(CompletableFuture.runAsync(() -> {
                    for (int turn = 0; !isDone.get(); turn++) {
                        assertEquals(turn + own, there.add(turn, own));
                        if (turn % 50 == 0) {
                            sleep(turn / 50 % 30);
                        }
                    }
                }, call -> Thread.ofPlatform().daemon().start(call)));
            }
            try {
                await("many end", () -> Obvia.connections().closed() >= closed + 20 || callers.stream().anyMatch(CompletableFuture::isDone));
            } finally {
                isDone.set(true);
            }
            for (CompletableFuture<Void> caller : callers) {
                caller.get(60, TimeUnit.SECONDS);
            }
        }
    }
}
