package obvia.runtime.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import obvia.AccessDeniedException;
import obvia.CallTimeoutException;
import obvia.DisconnectedException;
import obvia.Endpoint;
import obvia.Export;
import obvia.Guid;
import obvia.Hresult;
import obvia.NotFoundException;
import obvia.Obvia;
import obvia.RpcException;
import obvia.runtime.Proxy;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests proxies of this process's own objects, and small parts of the API. */
@Timeout(120)
class LoopbackTest {
    private static final AtomicInteger NEXT = new AtomicInteger();

    private static String name() {
        return "loopback-" + ProcessHandle.current().pid() + "-" + NEXT.incrementAndGet();
    }

    /** A calculator that runs the test's code when {@code about} is called. */
    private static final class Asking extends Calcs.Old {
        private final java.util.function.LongSupplier work;

        Asking(java.util.function.LongSupplier work) {
            this.work = work;
        }

        @Override
        public long about(int what) {
            return work.getAsLong();
        }
    }

    /** Calls an object through a loopback proxy. The method runs {@code work}. */
    private static long about(java.util.function.LongSupplier work) {
        try (Export export = Obvia.export(new Asking(work), ICalc.class, name());
                Endpoint loopback = Obvia.loopback()) {
            return loopback.bind(ICalc.class, export.name()).about(0);
        }
    }

    @Test
    void anObjectOfThisProcessIsCalledThroughAProxy() throws Exception {
        Calcs.Old calc = new Calcs.Old();
        try (Export export = Obvia.export(calc, ICalc.class, name());
                Endpoint loopback = Obvia.loopback()) {
            assertSame(calc, Obvia.bind(ICalc.class, export.name()), "but where nobody asks for a proxy");
            ICalc there = loopback.bind(ICalc.class, export.name());
            assertInstanceOf(Proxy.class, there);
            assertEquals(7, there.add(3, 4));
            assertEquals(there, there.self());
            assertNotSame(calc, there.self());
            var caller = new AtomicReference<Thread>();
            assertEquals(0, there.visit(new Asking(() -> {
                caller.set(Thread.currentThread());
                return 0;
            }), 0), "an argument is called back");
            assertNotSame(Thread.currentThread(), caller.get(), "by a proxy as well");
            assertEquals(1, there.visit(there, Calcs.VERSION), "a proxy comes home");
            Obvia.release(there);
        }
    }

    @Test
    void exceptionsOfMethodsKeepTheirMessage() throws Exception {
        RpcException why = assertThrows(RpcException.class, () -> about(() -> {
            throw new IllegalStateException("the drawer is stuck");
        }));
        assertEquals(Hresult.RPC_E_SERVERFAULT, why.result());
        assertEquals("the method threw java.lang.IllegalStateException: the drawer is stuck", why.getMessage());
        RpcException expected = assertThrows(RpcException.class, () -> about(() -> {
            throw new RpcException(Hresult.E_FAIL, "the drawer is empty");
        }));
        assertEquals("the drawer is empty", expected.getMessage());
        assertNull(expected.source());
        assertNull(expected.helpFile());
    }

    /**
     * The method uses memory that a third process has truncated. The method's caller has not caused
     * the failure.
     */
    @Test
    void faultsInOtherMemoryDoNotEndTheCallersConnection() throws Exception {
        RpcException why = assertThrows(RpcException.class, () -> about(() -> {
            throw new InternalError("a fault occurred in an unsafe memory access operation");
        }));
        assertEquals(Hresult.RPC_E_SERVERFAULT, why.result());
    }

    @Test
    void aFailureHasASourceAndHelp() throws Exception {
        RpcException why = assertThrows(AccessDeniedException.class, () -> about(() -> {
            throw RpcException.of(Hresult.E_ACCESSDENIED, "the drawer is locked").withSource("desk").withHelp("desk.chm", 12);
        }));
        assertEquals("the drawer is locked", why.description());
        assertEquals("desk", why.source());
        assertEquals("desk.chm", why.helpFile());
        assertEquals(12, why.helpContext());
        RpcException silent = assertThrows(RpcException.class, () -> about(() -> {
            throw new RpcException(Hresult.E_FAIL).withSource("desk");
        }));
        assertNull(silent.description());
        assertEquals("the call failed with 0x80004005", silent.getMessage());
        assertEquals("desk", silent.source());
        RpcException none = assertThrows(RpcException.class, () -> about(() -> {
            throw new RpcException(Hresult.E_FAIL);
        }));
        assertNull(none.source(), "words of a call before are not this one's");
    }

    @Test
    void hresultsAreThrownAsTheirExceptionClass() throws Exception {
        assertThrows(AccessDeniedException.class, () -> about(() -> {
            throw new RpcException(Hresult.E_ACCESSDENIED);
        }));
        assertThrows(CallTimeoutException.class, () -> Obvia.within(Duration.ofMillis(50), () -> about(() -> {
            Peer.sleep(1_000);
            return 0;
        })));
        assertThrows(NotFoundException.class, () -> Obvia.bind(ICalc.class, name()));
        try (Endpoint loopback = Obvia.loopback()) {
            assertThrows(NotFoundException.class, () -> loopback.bind(ICalc.class, name()));
        }
    }

    @Test
    void callerInformationIsAvailableOnlyDuringCalls() throws Exception {
        assertThrows(AccessDeniedException.class, Obvia::caller);
        assertFalse(Obvia.isCalled());
        assertEquals(1, about(() -> Obvia.isCalled() && Obvia.caller().isLocal() && !Obvia.caller().isAnonymous() ? 1 : 0));
        // On another thread, no caller is known.
        assertThrows(AccessDeniedException.class, () -> about(() -> {
            var why = new AtomicReference<RpcException>();
            try {
                Thread.ofPlatform().start(() -> why.set(assertThrows(RpcException.class, Obvia::caller))).join();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            throw why.get();
        }));
    }

    @Test
    void closedEndpointsRefuseCalls() throws Exception {
        try (Export export = Obvia.export(new Calcs.Old(), ICalc.class, name())) {
            Endpoint here = Obvia.connect();
            Endpoint loopback = Obvia.loopback();
            ICalc there = loopback.bind(ICalc.class, export.name());
            here.close();
            loopback.close();
            assertThrows(DisconnectedException.class, () -> here.bind(ICalc.class, export.name()));
            assertThrows(DisconnectedException.class, () -> loopback.bind(ICalc.class, export.name()));
            assertThrows(DisconnectedException.class, () -> here.createInstance(Guid.IUNKNOWN, ICalc.class));
            assertThrows(DisconnectedException.class, () -> here.classObject(Guid.IUNKNOWN, ICalc.class));
            assertEquals(7, there.add(3, 4), "what it led to stays");
        }
    }

    @Test
    void exportedNamesCanBeRebound() throws Exception {
        Export export = Obvia.export(new Calcs.Old(), ICalc.class, name());
        try (export; Endpoint loopback = Obvia.loopback()) {
            ICalc former = loopback.bind(ICalc.class, export.name());
            export.rebind(new Calcs.New(), ICalc2.class);
            ICalc2 newer = loopback.bind(ICalc2.class, export.name());
            assertEquals(12, newer.multiply(3, 4));
            assertEquals(1, former.about(Calcs.VERSION), "who has the former object keeps it");
            assertFalse(Obvia.isSame(former, newer));
        }
        assertThrows(DisconnectedException.class, () -> export.rebind(new Calcs.Old(), ICalc.class));
    }

    @Test
    void nullIsRefusedAsAnExportedObject() {
        String name = name();
        assertThrows(NullPointerException.class, () -> Obvia.export(null, ICalc.class, name));
        try (Export export = Obvia.export(new Calcs.Old(), ICalc.class, name)) {
            assertThrows(NullPointerException.class, () -> export.replace(null));
            assertThrows(NullPointerException.class, () -> export.rebind(null, ICalc.class));
        }
    }

    /** A class whose objects are all equal. */
    private record Alike() implements obvia.Remote {}

    @Test
    void isSameComparesIdentityAndNotEquality() {
        Alike one = new Alike();
        assertTrue(Obvia.isSame(one, one));
        assertFalse(Obvia.isSame(one, new Alike()));
        assertFalse(Obvia.isSame(one, null));
        try (Export export = Obvia.export(new Calcs.Old(), ICalc.class, name());
                Endpoint loopback = Obvia.loopback()) {
            ICalc there = loopback.bind(ICalc.class, export.name());
            assertTrue(Obvia.isSame(there, there.self()));
        }
    }

    @Test
    void veryLongTimeoutsAreAccepted() {
        for (Duration time : new Duration[] {Duration.ofSeconds(Long.MAX_VALUE), Duration.ofNanos(Long.MAX_VALUE)}) {
            assertEquals(7, Obvia.within(time, () -> about(() -> 7)));
        }
        assertThrows(CallTimeoutException.class, () -> Obvia.within(Duration.ofSeconds(Long.MIN_VALUE), () -> about(() -> {
            Peer.sleep(1_000);
            return 0;
        })));
    }

    @Test
    void workThrowsOnlyItsDeclaredExceptions() {
        // The test is that this code compiles: the first piece of work throws no checked exception,
        // and the second piece of work throws the exception that it declares.
        assertEquals(7, Obvia.within(Duration.ofSeconds(30), () -> 7));
        var isDone = new AtomicReference<Boolean>();
        Obvia.within(Duration.ofSeconds(30), () -> isDone.set(true));
        assertTrue(isDone.get());
        assertThrows(java.io.IOException.class, LoopbackTest::failing);
    }

    private static int failing() throws java.io.IOException {
        return Obvia.within(Duration.ofSeconds(30), () -> {
            if (NEXT.get() >= 0) {
                throw new java.io.IOException("as it were");
            }
            return 0;
        });
    }
}
