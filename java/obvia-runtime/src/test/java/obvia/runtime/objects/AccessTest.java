package obvia.runtime.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import obvia.Caller;
import obvia.Endpoint;
import obvia.Export;
import obvia.Guid;
import obvia.Hresult;
import obvia.Obvia;
import obvia.RpcException;
import obvia.SecurityLevel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests the access rules of a server in Java for calls through shared memory, for activation, and
 * for lookups by name.
 */
@Timeout(120)
class AccessTest {
    private static final int CLOSE = 1;
    private static final int OPEN = 2;
    private static final int REPLACE = 3;
    private static final int CLOSE_ALL_BUT_THIS = 4;

    /**
     * Returns the CLSID of a class of the server with this name. The CLSID must be unique on this
     * machine, because the registration of a class takes a name in the directory.
     */
    private static Guid closed(String server) {
        return Guid.of(UUID.nameUUIDFromBytes(("closed " + server).getBytes()).toString());
    }

    private static Guid guarded(String server) {
        return Guid.of(UUID.nameUUIDFromBytes(("guarded " + server).getBytes()).toString());
    }

    /** An object that changes the access rules of its process on request. */
    static final class Guard implements ITest {
        private final ITest made = new Peer.Subject();
        private Export hidden;

        /** Exports a guard under a name. */
        static void main(String name) {
            Guard guard = new Guard();
            Obvia.export(guard, ITest.class, name);
            ITest hidden = new Peer.Subject();
            Obvia.setAccess(hidden, _ -> {
                throw new IllegalStateException("a rule that throws permits nothing");
            });
            guard.hidden = Obvia.export(hidden, ITest.class, name + "-hidden");
            Obvia.setClassAccess(closed(name), _ -> false);
            Obvia.registerClass(closed(name), ITest.class, Peer.Subject::new);
            Obvia.registerClass(guarded(name), ITest.class, Peer.Subject::new);
        }

        @Override
        public void fail(int what) {
            switch (what) {
                case CLOSE -> Obvia.setAccess(made, caller -> caller == null || caller.host() != null || caller.level() != SecurityLevel.NONE);
                case OPEN -> Obvia.clearAccess(made);
                case REPLACE -> hidden.replace(new Peer.Subject());
                default -> {
                    Obvia.setAccess(this, _ -> true);
                    Obvia.setDefaultAccess(_ -> false);
                }
            }
        }

        @Override
        public ITest make(boolean isNew) {
            return made;
        }

        @Override
        public int add(int a, int b) {
            return made.add(a, b);
        }

        @Override
        public long sum(int[] values) {
            return 0;
        }

        @Override
        public int visit(ITest other) {
            return other.add(1, 1);
        }

        @Override
        public int held() {
            return ((ProcessRuntime) obvia.ObviaRuntime.instance()).exports().count();
        }

        @Override
        public void sleep(int millis) {}

        @Override
        public long total(java.lang.foreign.MemorySegment values) {
            return 0;
        }

        @Override
        public void stain(java.lang.foreign.MemorySegment bytes) {}
    }

    private static void refused(Runnable call) {
        assertEquals(Hresult.E_ACCESSDENIED, assertThrows(RpcException.class, call::run).result());
    }

    @Test
    void callersAreCheckedByTheCurrentAccessRules() throws Exception {
        try (Peer peer = Peer.guard()) {
            ITest guard = Obvia.bind(ITest.class, peer.name);
            ITest made = guard.make(true);
            assertEquals(5, made.add(2, 3));
            guard.fail(CLOSE);
            refused(() -> made.add(2, 3));
            refused(() -> made.visit(new Peer.Subject()));
            assertEquals(5, guard.add(2, 3), "objects of the process itself call it");
            assertEquals(2, guard.visit(made), "a client passes back an object to which it has references");
            guard.fail(OPEN);
            assertEquals(5, made.add(2, 3), "a rule that is taken back holds no longer");
            guard.fail(CLOSE_ALL_BUT_THIS);
            refused(() -> made.add(2, 3));
            assertEquals(5, guard.add(2, 3), "the object's own rule holds instead");
            refused(() -> Obvia.createInstance(guarded(peer.name), ITest.class));
            assertTrue(peer.errors().contains("refused method 3 of "), peer.errors());
        }
    }

    /**
     * A rule can call another process, and that process can look up names in the rule's process.
     */
    @Test
    void aSlowRuleDelaysNoOtherName() throws Exception {
        var isAsked = new CountDownLatch(1);
        var mayAnswer = new CountDownLatch(1);
        ITest slow = new Peer.Subject();
        Obvia.setAccess(slow, _ -> {
            isAsked.countDown();
            return await(mayAnswer);
        });
        String name = "slow-rule-" + ProcessHandle.current().pid();
        try (Export one = Obvia.export(slow, ITest.class, name);
                Export other = Obvia.export(new Peer.Subject(), ITest.class, name + "-other");
                Endpoint loopback = Obvia.loopback()) {
            var bound = CompletableFuture.supplyAsync(() -> loopback.bind(ITest.class, one.name()).add(2, 3));
            assertTrue(await(isAsked));
            other.replace(new Peer.Subject());
            mayAnswer.countDown();
            assertEquals(5, bound.get(60, TimeUnit.SECONDS));
        } finally {
            mayAnswer.countDown();
            Obvia.clearAccess(slow);
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
    void clientsNameOnlyObjectsToWhichTheyHaveReferencesOrWhichTheyMayCall() {
        ProcessRuntime runtime = (ProcessRuntime) obvia.ObviaRuntime.instance();
        ITest object = new Peer.Subject();
        long holder = 7;
        Exports.Entry entry = runtime.exports().add(object, obvia.runtime.InterfaceInfo.of(ITest.class), holder, 1, false);
        Caller stranger = new Caller(1, null, null, null, SecurityLevel.NONE);
        try {
            runtime.checkNamed(entry.target(), 8, stranger);
            Obvia.setAccess(object, _ -> false);
            runtime.checkNamed(entry.target(), holder, stranger);
            refused(() -> runtime.checkNamed(entry.target(), 8, stranger));
        } finally {
            Obvia.clearAccess(object);
            runtime.exports().release(holder, entry.target(), -1);
        }
    }

    @Test
    void accessRulesApplyToNamesAndClasses() throws Exception {
        try (Peer peer = Peer.guard()) {
            refused(() -> Obvia.bind(ITest.class, peer.name + "-hidden"));
            refused(() -> Obvia.createInstance(closed(peer.name), ITest.class));
            assertEquals(5, Obvia.createInstance(guarded(peer.name), ITest.class).add(2, 3));
            Obvia.bind(ITest.class, peer.name).fail(REPLACE);
            refused(() -> Obvia.bind(ITest.class, peer.name + "-hidden"));
            for (String what : List.of("the object " + peer.name + "-hidden", "objects of the class {" + closed(peer.name) + "}")) {
                assertTrue(peer.errors().contains("refused " + what + " to process "), peer.errors());
            }
        }
    }
}
