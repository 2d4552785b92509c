package obvia.runtime.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import obvia.Hresult;
import obvia.Obvia;
import obvia.RpcException;
import obvia.runtime.shm.Wires;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class ProcessesTest {
    private static int failure(Runnable call) {
        return assertThrows(RpcException.class, call::run).result();
    }

    @Test
    void callsGoToAnotherVirtualMachine() throws Exception {
        try (Peer peer = Peer.server()) {
            ITest there = Obvia.bind(ITest.class, peer.name);
            assertEquals(7, there.add(3, 4));
            assertEquals(6, there.sum(new int[] {1, 2, 3}));
            int[] many = new int[3_000_000];
            many[many.length - 1] = -5;
            assertEquals(-5, there.sum(many));
            assertEquals(0x80004001, failure(() -> there.fail(Hresult.E_NOTIMPL)));
            assertEquals(Hresult.RPC_E_SERVERFAULT, failure(() -> there.fail(0)));
            assertEquals(7, there.add(3, 4), "it goes on");
            assertTrue(peer.errors().contains("of the method's own"), peer.errors());
        }
    }

    @Test
    void serversStartWithoutOptionsAndWarnings() throws Exception {
        try (Peer peer = Peer.serverAsIs()) {
            assertEquals(7, Obvia.bind(ITest.class, peer.name).add(3, 4));
            assertEquals("", peer.errors());
        }
    }

    @Test
    void objectsArePassedByReferenceInBothDirections() throws Exception {
        try (Peer one = Peer.server();
                Peer two = Peer.server()) {
            ITest first = Obvia.bind(ITest.class, one.name);
            ITest second = Obvia.bind(ITest.class, two.name);
            assertEquals(24, first.visit(new Peer.Subject()), "an object of this process");
            assertEquals(24, first.visit(first), "one of the server's own");
            assertEquals(24, first.visit(second), "one of a third process");
            assertEquals(-1, first.visit(null));
            ITest made = first.make(true);
            assertEquals(5, made.add(2, 3));
            assertNotEquals(first, made);
            assertEquals(first, first.make(false), "the same object");
            assertEquals(first.hashCode(), first.make(false).hashCode());
            assertSame(first, Obvia.as(first, ITest.class));
        }
    }

    @Test
    void ownObjectsAreReturnedAsThemselves() throws Exception {
        try (Peer peer = Peer.server()) {
            ITest there = Obvia.bind(ITest.class, peer.name);
            Exports exports = ((ProcessRuntime) obvia.ObviaRuntime.instance()).exports();
            Peer.Subject own = new Peer.Subject();
            for (int turn = 0; turn < 20; turn++) {
                assertEquals(24, there.visit(own));
            }
            Obvia.release(there);
            // The references of the server are released when the server has no proxy any more, or
            // when the server ends.
            peer.kill();
            Wires.await("the references of a peer that was killed are dropped", () -> !exports.has(own));
        }
    }

    @Test
    void referencesAreReleased() throws Exception {
        try (Peer peer = Peer.server()) {
            ITest there = Obvia.bind(ITest.class, peer.name);
            assertEquals(1, there.held());
            List<ITest> made = new ArrayList<>();
            for (int turn = 0; turn < 1500; turn++) {
                made.add(there.make(true));
            }
            assertEquals(1501, there.held());
            Obvia.release(made.removeLast());
            Wires.await("one that is released is given back", () -> there.held() == 1500);
            made.clear();
            Wires.await("those that nobody has any more are given back", () -> {
                System.gc();
                return there.held() == 1;
            });
        }
    }

    @Test
    void killedClientsHoldNoReferences() throws Exception {
        try (Peer peer = Peer.server();
                Peer holder = Peer.holder(peer.name)) {
            ITest there = Obvia.bind(ITest.class, peer.name);
            assertEquals(2, there.held());
            holder.kill();
            Wires.await("its reference is dropped", () -> there.held() == 1);
        }
    }

    @Test
    void killedServersAreDetectedAndCanBeRestarted() throws Exception {
        Peer peer = Peer.server();
        ITest there = Obvia.bind(ITest.class, peer.name);
        var call = CompletableFuture.supplyAsync(() -> failure(() -> there.sleep(100_000)));
        peer.awaitWord("asleep");
        peer.kill();
        assertEquals(Hresult.RPC_E_DISCONNECTED, call.get(60, TimeUnit.SECONDS), "long before the method would have ended");
        assertEquals(Hresult.RPC_E_DISCONNECTED, failure(() -> there.add(1, 2)));
        assertEquals(Hresult.RPC_S_SERVER_UNAVAILABLE, failure(() -> Obvia.bind(ITest.class, peer.name)));
        peer.close();
        try (Peer again = Peer.server()) {
            assertEquals(3, Obvia.bind(ITest.class, again.name).add(1, 2));
        }
    }

    @Test
    void callsAfterATimeoutSucceed() throws Exception {
        try (Peer peer = Peer.server()) {
            ITest there = Obvia.bind(ITest.class, peer.name);
            RpcException late = assertThrows(RpcException.class, () -> Obvia.within(Duration.ofMillis(200), () -> {
                there.sleep(100_000);
                return null;
            }));
            assertEquals(Hresult.RPC_E_TIMEOUT, late.result());
            assertEquals(3, there.add(1, 2));
        }
    }

    @Test
    void interruptionsEndCalls() throws Exception {
        try (Peer peer = Peer.server()) {
            ITest there = Obvia.bind(ITest.class, peer.name);
            for (Thread.Builder builder : List.of(Thread.ofPlatform(), Thread.ofVirtual())) {
                var result = new CompletableFuture<Integer>();
                Thread caller = builder.start(() -> {
                    int code = failure(() -> there.sleep(100_000));
                    result.complete(Thread.currentThread().isInterrupted() ? code : 0);
                });
                peer.awaitWord("asleep");
                caller.interrupt();
                assertEquals(Hresult.RPC_E_CALL_CANCELED, result.get(60, TimeUnit.SECONDS));
            }
            assertEquals(3, there.add(1, 2));
        }
    }

    @Test
    void callsToAStoppedServerEndAtTheirDeadline() throws Exception {
        try (Peer peer = Peer.calc("old")) {
            ICalc there = Obvia.bind(ICalc.class, peer.name);
            assertEquals(3, there.add(1, 2));
            Peer.stop(peer.pid());
            // A call on an existing connection, a call on a new connection, and a call of the
            // runtime itself.
            for (Callable<?> work : List.<Callable<?>>of(
                    () -> there.add(1, 2), () -> Obvia.as(there, ITest.class), () -> Obvia.bind(ICalc.class, peer.name).add(1, 2))) {
                for (Thread.Builder builder : List.of(Thread.ofPlatform(), Thread.ofVirtual())) {
                    assertLate(builder, work);
                }
            }
            assertEquals(Hresult.RPC_E_TIMEOUT, failure(() -> late(() -> there.add(1, 2))), "this thread's own connection");
            Peer.go(peer.pid());
            assertEquals(3, there.add(1, 2));
        }
    }

    private static Object late(Callable<?> work) {
        try {
            return Obvia.within(Duration.ofMillis(300), work::call);
        } catch (RpcException e) {
            throw e;
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private static void assertLate(Thread.Builder builder, Callable<?> work) throws Exception {
        var result = new CompletableFuture<Integer>();
        builder.start(() -> {
            try {
                result.complete(failure(() -> late(work)));
            } catch (AssertionError e) {
                result.completeExceptionally(e);
            }
        });
        assertEquals(Hresult.RPC_E_TIMEOUT, result.get(60, TimeUnit.SECONDS));
    }

    @Test
    void callsToAStoppedClientEndAtTheirDeadline() throws Exception {
        String name = "visited-" + ProcessHandle.current().pid();
        var result = new CompletableFuture<Integer>();
        ICalc visited = new Calcs.Old() {
            @Override
            public long visit(ICalc other, int pid) {
                Peer.stop(pid);
                int code;
                try {
                    code = failure(() -> late(() -> other.add(1, 2)));
                } finally {
                    Peer.go(pid);
                }
                // The test waits for the outcome, and then kills the process.
                result.complete(code);
                return 0;
            }
        };
        try (var export = Obvia.export(visited, ICalc.class, name);
                Peer peer = Peer.visitor(export.name())) {
            assertEquals(Hresult.RPC_E_TIMEOUT, result.get(60, TimeUnit.SECONDS), peer.name);
        }
    }

    @Test
    void manyVirtualThreadsCallAtOnce() throws Exception {
        try (Peer peer = Peer.server();
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            ITest there = Obvia.bind(ITest.class, peer.name);
            List<Future<Integer>> sums = new ArrayList<>();
            for (int task = 0; task < 500; task++) {
                int own = task;
                sums.add(threads.submit(() -> {
                    int sum = 0;
                    for (int turn = 0; turn < 10; turn++) {
                        sum += there.add(own, turn);
                    }
                    return sum;
                }));
            }
            for (int task = 0; task < 500; task++) {
                assertEquals(10 * task + 45, sums.get(task).get());
            }
        }
    }

    @Test
    void processesThatAreEndingPassObjects() throws Exception {
        try (Peer server = Peer.server();
                Peer ending = Peer.ending(server.name)) {
            ending.awaitWord("24");
        }
    }

    @Test
    void namesBeingBoundByAnotherProcessAreInUse() throws Exception {
        String name = "taken-" + ProcessHandle.current().pid();
        try (Peer peer = Peer.taking(name)) {
            assertEquals(Hresult.RPC_S_DUPLICATE_ENDPOINT, failure(() -> Obvia.export(new Peer.Subject(), ITest.class, name)), peer.name);
        }
        Obvia.export(new Peer.Subject(), ITest.class, name).close();
        Obvia.export(new Peer.Subject(), ITest.class, name).close();
    }

    @Test
    void bindingAnOwnNameReturnsTheObjectItself() throws Exception {
        Peer.Subject own = new Peer.Subject();
        String name = "own-" + ProcessHandle.current().pid();
        try (var export = Obvia.export(own, ITest.class, name)) {
            assertSame(own, Obvia.bind(ITest.class, name));
            assertEquals(name, export.name());
            assertEquals(Hresult.RPC_S_DUPLICATE_ENDPOINT, failure(() -> Obvia.export(own, ITest.class, name)));
        }
        assertEquals(Hresult.RPC_S_SERVER_UNAVAILABLE, failure(() -> Obvia.bind(ITest.class, name)));
    }
}
