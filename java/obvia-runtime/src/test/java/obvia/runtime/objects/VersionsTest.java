package obvia.runtime.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import obvia.Hresult;
import obvia.Obvia;
import obvia.Remote;
import obvia.RpcException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests old and new programs, and objects that are replaced while clients use them. */
@Timeout(120)
class VersionsTest {
    @Test
    void anOldClientCallsANewServer() throws Exception {
        try (Peer peer = Peer.calc("new")) {
            ICalc there = Obvia.bind(ICalc.class, peer.name);
            assertEquals(7, there.add(3, 4));
            assertEquals(2, there.about(Calcs.VERSION));
            assertEquals(there, there.self());
        }
    }

    @Test
    void newClientsOfOldServersLearnTheMissingInterface() throws Exception {
        try (Peer peer = Peer.calc("old")) {
            RpcException why = assertThrows(RpcException.class, () -> Obvia.bind(ICalc2.class, peer.name));
            assertEquals(Hresult.E_NOINTERFACE, why.result());
            assertTrue(why.getMessage().contains("ICalc2 {2d1b86f3-4b5c-4e6d-8f70-8192a3b4c5d6}"), why.getMessage());
            assertTrue(why.getMessage().contains("ICalc {1c0a75e2-3a4b-4d5c-9e6f-708192a3b4c5}"), why.getMessage());
            Remote object = Obvia.bind(Remote.class, peer.name);
            why = assertThrows(RpcException.class, () -> Obvia.as(object, ICalc2.class));
            assertEquals(Hresult.E_NOINTERFACE, why.result());
            assertTrue(why.getMessage().contains("ICalc {1c0a75e2-3a4b-4d5c-9e6f-708192a3b4c5}"), why.getMessage());
            assertEquals(7, Obvia.as(object, ICalc.class).add(3, 4));
            assertEquals(7, Obvia.bind(ICalc.class, peer.name).add(3, 4));
        }
    }

    @Test
    void newObjectsCanBePassedToOldPrograms() throws Exception {
        try (Peer old = Peer.calc("old");
                Peer newer = Peer.calc("new")) {
            ICalc there = Obvia.bind(ICalc.class, old.name);
            assertEquals(2, there.visit(new Calcs.New(), Calcs.VERSION), "an object of this process");
            ICalc2 third = Obvia.bind(ICalc2.class, newer.name);
            assertEquals(12, third.multiply(3, 4));
            assertEquals(2, there.visit(third, Calcs.VERSION), "one of a third process");
        }
    }

    @Test
    void proxiesReachTheReplacementOfTheirObject() throws Exception {
        try (Peer peer = Peer.calc("old")) {
            ICalc there = Obvia.bind(ICalc.class, peer.name);
            assertThrows(RpcException.class, () -> Obvia.as(there, ICalc2.class));
            assertEquals(1, there.about(Calcs.REPLACE), "a call in progress ends on the old object");
            assertEquals(2, there.about(Calcs.VERSION), "later ones go to the new one");
            assertEquals(there, Obvia.bind(ICalc.class, peer.name), "it is the same object");
            assertEquals(there, there.self());
            ICalc2 refreshed = Obvia.as(there, ICalc2.class);
            assertEquals(12, refreshed.multiply(3, 4));
            assertEquals(there, refreshed);
            assertEquals(12, Obvia.bind(ICalc2.class, peer.name).multiply(3, 4));
            Obvia.release(refreshed);
            assertEquals(2, there.about(Calcs.VERSION));
        }
    }

    @Test
    void callsSucceedWhileTheirObjectIsReplaced() throws Exception {
        try (Peer peer = Peer.calc("old")) {
            ICalc there = Obvia.bind(ICalc.class, peer.name);
            var calls = new AtomicInteger();
            List<CompletableFuture<Void>> callers = new ArrayList<>();
            for (int caller = 0; caller < 3; caller++) {
                callers.add(CompletableFuture.runAsync(() -> {
                    long version = 1;
                    while (version == 1) {
                        version = there.about(Calcs.VERSION);
                        calls.incrementAndGet();
                    }
                    for (int turn = 0; turn < 100; turn++) {
                        assertEquals(2, there.about(Calcs.VERSION), "there is no way back");
                    }
                }, call -> Thread.ofPlatform().daemon().start(call)));
            }
            while (calls.get() < 300) {
                Thread.sleep(1);
            }
            assertEquals(1, there.about(Calcs.REPLACE));
            for (CompletableFuture<Void> caller : callers) {
                caller.get(60, TimeUnit.SECONDS);
            }
        }
    }

    @Test
    void replacementsWithoutTheInterfaceAreRefused() {
        String name = "swapped-" + ProcessHandle.current().pid();
        var export = Obvia.export(new Calcs.New(), ICalc2.class, name);
        try {
            assertEquals(Hresult.E_NOINTERFACE, assertThrows(RpcException.class, () -> export.replace(new Peer.Subject())).result());
            assertEquals(Hresult.E_NOINTERFACE, assertThrows(RpcException.class, () -> export.replace(new Calcs.Old(), ICalc.class)).result());
            Calcs.New next = new Calcs.New();
            export.replace(next);
            assertSame(next, Obvia.bind(ICalc2.class, name));
        } finally {
            export.close();
        }
        assertEquals(Hresult.RPC_E_DISCONNECTED, assertThrows(RpcException.class, () -> export.replace(new Calcs.New())).result());
    }
}
