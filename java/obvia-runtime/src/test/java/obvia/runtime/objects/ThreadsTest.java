package obvia.runtime.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import obvia.CallTimeoutException;
import obvia.Obvia;
import obvia.RpcException;
import obvia.runtime.call.CallContext;
import obvia.runtime.call.Deadline;
import obvia.runtime.shm.Wires;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

/** Tests the threads of callers and callees. */
@Timeout(120)
class ThreadsTest {
    @Test
    void tenThousandVirtualThreadsCallFourServers() throws Exception {
        try (Peer one = Peer.calc("virtual");
                Peer two = Peer.calc("virtual");
                Peer three = Peer.calc("old");
                Peer four = Peer.calc("old");
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            // Connections of earlier tests to servers that have ended remain.
            int others = Obvia.connections().calling();
            List<ICalc> there = new ArrayList<>();
            for (Peer peer : List.of(one, two, three, four)) {
                there.add(Obvia.bind(ICalc.class, peer.name));
            }
            List<Future<Integer>> sums = new ArrayList<>();
            for (int task = 0; task < 10_000; task++) {
                int own = task;
                // Each task waits for other tasks. On a slow machine, this takes long.
                sums.add(threads.submit(() -> Obvia.within(
                        Duration.ofSeconds(90), () -> there.get(own % 4).add(own, 1) + there.get((own + 1) % 4).add(own, 2))));
            }
            for (int task = 0; task < 10_000; task++) {
                assertEquals(2 * task + 3, sums.get(task).get(60, TimeUnit.SECONDS));
            }
            assertTrue(Obvia.connections().calling() <= others + 4 * 32 + 8, "they share connections");
        }
    }

    @Test
    void objectsAreCalledOnTheirKindOfThread() throws Exception {
        try (Peer peer = Peer.calc("both")) {
            ICalc platform = Obvia.bind(ICalc.class, peer.name);
            ICalc virtual = Obvia.bind(ICalc.class, peer.name + "-virtual");
            // In the server, the single connection of this thread moves from one kind of thread to
            // the other kind and back.
            for (int turn = 0; turn < 50; turn++) {
                assertEquals(0, platform.about(Calcs.IS_VIRTUAL));
                assertEquals(1, virtual.about(Calcs.IS_VIRTUAL));
                assertEquals(1, virtual.self().about(Calcs.IS_VIRTUAL), "what it hands out is called in the same way");
            }
            assertEquals(7, virtual.add(3, 4));
        }
    }

    @Test
    void blockedMethodsDoNotBlockOtherCalls() throws Exception {
        try (Peer peer = Peer.calc("virtual");
                var threads = Executors.newThreadPerTaskExecutor(Thread.ofPlatform().factory())) {
            ICalc there = Obvia.bind(ICalc.class, peer.name);
            assertEquals(0, there.about(Calcs.NAP));
            List<Future<Long>> naps = new ArrayList<>();
            var begun = new CountDownLatch(60);
            for (int caller = 0; caller < 60; caller++) {
                naps.add(threads.submit(() -> {
                    long sum = there.about(Calcs.NAP);
                    begun.countDown();
                    for (int turn = 0; turn < 10; turn++) {
                        sum += there.about(Calcs.NAP);
                    }
                    return sum;
                }));
            }
            assertTrue(begun.await(60, TimeUnit.SECONDS));
            // Each home connection can have a thread, too.
            long platform = there.about(Calcs.PLATFORM_THREADS);
            assertTrue(platform <= 4, platform + " platform threads");
            while (naps.stream().anyMatch(nap -> !nap.isDone())) {
                assertEquals(7, there.add(3, 4));
                Thread.sleep(20);
            }
            for (Future<Long> nap : naps) {
                assertEquals(0, nap.get());
            }
        }
    }

    @Test
    void nestedCallbacksCompleteOnVirtualThreads() throws Exception {
        try (Peer one = Peer.calc("virtual");
                Peer two = Peer.calc("virtual");
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            ICalc first = Obvia.bind(ICalc.class, one.name);
            ICalc second = Obvia.bind(ICalc.class, two.name);
            List<Future<Long>> visits = new ArrayList<>();
            for (int task = 0; task < 400; task++) {
                ICalc from = task % 2 == 0 ? first : second;
                ICalc to = task % 2 == 0 ? second : first;
                visits.add(threads.submit(() -> from.visit(to, Calcs.VERSION)));
            }
            for (Future<Long> visit : visits) {
                assertEquals(1, visit.get(60, TimeUnit.SECONDS));
            }
        }
    }

    @Test
    void lostChannelsOfVirtualThreadsAreReplaced() throws Exception {
        try (Peer peer = Peer.calc("old");
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var there = (ICalcInfo.CalcProxy) Obvia.bind(ICalc.class, peer.name);
            // The number of calls exceeds the number of channels. Some threads end after their
            // call, and one thread continues.
            for (int round = 0; round < 3; round++) {
                List<Future<Integer>> calls = new ArrayList<>();
                for (int task = 0; task < 30; task++) {
                    calls.add(threads.submit(() -> {
                        assertThrows(StackOverflowError.class, there::loseChannel);
                        return 1;
                    }));
                }
                for (Future<Integer> call : calls) {
                    assertEquals(1, call.get(60, TimeUnit.SECONDS));
                }
            }
            assertEquals(7, threads.submit(() -> {
                for (int turn = 0; turn < 40; turn++) {
                    assertThrows(StackOverflowError.class, there::loseChannel);
                }
                return there.add(3, 4);
            }).get(60, TimeUnit.SECONDS));
        }
    }

    @Test
    void endedThreadsReturnTheirConnection() throws Exception {
        try (Peer peer = Peer.calc("old")) {
            ICalc there = Obvia.bind(ICalc.class, peer.name);
            int before = Obvia.connections().calling();
            List<Thread> threads = new ArrayList<>();
            for (int caller = 0; caller < 10; caller++) {
                threads.add(Thread.ofPlatform().start(() -> there.add(1, 2)));
            }
            for (Thread thread : threads) {
                thread.join();
            }
            Wires.await("connections of threads that have ended are closed", () -> Obvia.connections().calling() <= before);
            Wires.await("and the server has none of them", () -> there.about(Calcs.HOT) <= 4);
        }
    }

    @Test
    void referencesOfFailedCallsAreTakenBack() throws Exception {
        try (Peer peer = Peer.calc("old")) {
            var there = (ICalcInfo.CalcProxy) Obvia.bind(ICalc.class, peer.name);
            Exports own = ((ProcessRuntime) obvia.ObviaRuntime.instance()).exports();
            for (Thread.Builder builder : List.of(Thread.ofPlatform(), Thread.ofVirtual())) {
                var unknown = new Calcs.Old();
                assertFails(builder, () -> there.visit(99, unknown, 0));
                assertFalse(own.has(unknown), "the server has no such method");
                assertFails(builder, () -> Obvia.withTrace(ContextTest.TRACE, () -> there.visit(99, unknown, 0)));
                assertFalse(own.has(unknown), "nor where something is said before");
                var unsent = new Calcs.Old();
                assertFails(builder, () -> there.visitTooLong(unsent));
                assertFalse(own.has(unsent), "it was never sent");
                var next = new Calcs.Old();
                assertFails(builder, () -> {
                    assertThrows(StackOverflowError.class, there::loseChannel);
                    there.visit(99, next, 0);
                });
                assertFalse(own.has(next), "the channel of the call before was lost");
            }
            assertEquals(0, there.visit(new Calcs.Old(), Calcs.IS_VIRTUAL), "it goes on");
            assertEquals(there, there.self(0));
            assertThrows(RpcException.class, () -> there.self(1));
            assertEquals(1, there.about(Calcs.HELD), "what would have been a result");
            Peer.stop(peer.pid());
            var sent = new Calcs.Old();
            assertThrows(RpcException.class, () -> Obvia.within(Duration.ofMillis(200), () -> there.visit(sent, Calcs.VERSION)));
            assertTrue(own.has(sent), "who may have got it keeps it");
            peer.kill();
            Wires.await("what a process had that is gone is dropped", () -> !own.has(sent));
        }
    }

    @Test
    void referencesAreTakenBackIfTheCallContextCannotBeSent() throws Exception {
        Exports own = ((ProcessRuntime) obvia.ObviaRuntime.instance()).exports();
        for (Thread.Builder builder : List.of(Thread.ofPlatform(), Thread.ofVirtual())) {
            try (Peer peer = Peer.calc("old")) {
                var there = (ICalcInfo.CalcProxy) Obvia.bind(ICalc.class, peer.name);
                var unsent = new Calcs.Old();
                assertFails(builder, () -> {
                    assertEquals(7, there.add(3, 4));
                    Peer.stop(peer.pid());
                    there.tell(Wires.SLOTS);
                    Obvia.within(Duration.ofMillis(100), () -> there.visit(unsent, Calcs.VERSION));
                });
                assertFalse(own.has(unsent), "it was never sent");
            }
        }
    }

    /** Stops a peer, and fills its window except for the slots of a context and a call. */
    private static ICalcInfo.CalcProxy withTwoSlotsLeft(Peer peer) {
        var there = (ICalcInfo.CalcProxy) Obvia.bind(ICalc.class, peer.name);
        assertEquals(7, there.add(3, 4));
        Peer.stop(peer.pid());
        there.tell(Wires.SLOTS - 2);
        return there;
    }

    /**
     * The call is sent before the list of its references. If the window has no room for the list,
     * the caller does not wait for long.
     */
    @Test
    void oneWayCallsWaitBrieflyForRoomForTheirReferences() throws Exception {
        try (Peer peer = Peer.calc("old")) {
            ICalcInfo.CalcProxy there = withTwoSlotsLeft(peer);
            Deadline end = Wires.patience();
            CallContext.NONE.by(end).during(() -> {
                there.tell(new Calcs.Old());
                return null;
            });
            assertFalse(end.isOver());
            Peer.go(peer.pid());
            assertEquals(7, there.add(3, 4));
        }
    }

    @Test
    void lateResponsesAreNotTakenForLaterCalls() throws Exception {
        try (Peer peer = Peer.calc("old")) {
            // The window has no slot for the cancellation.
            ICalcInfo.CalcProxy there = withTwoSlotsLeft(peer);
            assertThrows(CallTimeoutException.class, () -> Obvia.within(Duration.ofMillis(100), () -> there.add(1, 1)));
            Peer.go(peer.pid());
            for (int turn = 0; turn < 3; turn++) {
                assertEquals(7, there.add(3, 4));
            }
        }
    }

    @Test
    void forkedTasksInheritTheCallContext() throws Exception {
        try (Peer forking = Peer.forking()) {
            forking.awaitWord("late " + Optional.of(ContextTest.TRACE));
        }
    }

    @Test
    void threadsOfOtherClassLoadersFindTheRuntime() throws Exception {
        Peer.stranger().close();
    }

    /** Makes a call that fails, in a thread of its own. */
    private static void assertFails(Thread.Builder builder, Executable call) throws Exception {
        var why = new CompletableFuture<RpcException>();
        builder.start(() -> {
            try {
                why.complete(assertThrows(RpcException.class, call));
            } catch (AssertionError e) {
                why.completeExceptionally(e);
            }
        }).join();
        why.get(60, TimeUnit.SECONDS);
    }
}
