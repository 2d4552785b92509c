package obvia.runtime.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicBoolean;
import obvia.Hresult;
import obvia.RpcException;
import obvia.runtime.InterfaceInfo;
import obvia.runtime.shm.Wires;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests clients that leave after they were given references. */
@Timeout(120)
class ClientsTest {
    private static final InterfaceInfo<ITest> TEST = InterfaceInfo.of(ITest.class);
    private static final long OXID = 5;
    private static final long OWN = ProcessHandle.current().pid();

    private final Exports exports = new Exports();
    /** Whether this process has a link to each client. */
    private final AtomicBoolean isReached = new AtomicBoolean();

    private final Clients clients = new Clients(exports, _ -> isReached.get());

    /** Counts references for a process, as if a call of this process sent them. */
    private Object give(long to) {
        Object object = new Peer.Subject();
        clients.give(to, () -> exports.add(object, TEST, to, 5, false));
        return object;
    }

    /** Adds a connection of a client, gives references to the client, and ends the connection. */
    private Object giveAndLeave(long client, long pid) {
        assertTrue(clients.enter(client, pid));
        Object given = give(client);
        clients.leave(client);
        return given;
    }

    private static Process start(String... command) throws IOException {
        return new ProcessBuilder(command).start();
    }

    @Test
    void referencesGivenToALivingProcessSurviveTheEndOfItsLastConnection() {
        Object given = giveAndLeave(OXID, OWN);
        assertTrue(exports.has(given));
        // The process calls back over a new connection, and its references still exist.
        assertTrue(clients.enter(OXID, OWN));
        clients.dropUnclaimed(System.nanoTime() + Receivers.LIMIT);
        assertTrue(exports.has(given), "a connected client keeps them");
        give(OXID);
        clients.leave(OXID);
        assertTrue(exports.has(given));
        clients.dropUnclaimed(System.nanoTime() + Receivers.LIMIT - 60_000_000_000L);
        assertTrue(exports.has(given));
        clients.dropUnclaimed(System.nanoTime() + Receivers.LIMIT);
        assertFalse(exports.has(given));
    }

    @Test
    void referencesGivenToAProcessBeforeItConnectsSurviveAsWell() {
        Object given = give(OXID);
        assertTrue(clients.enter(OXID, OWN));
        clients.leave(OXID);
        assertTrue(exports.has(given));
        clients.dropUnclaimed(System.nanoTime() + Receivers.LIMIT);
        assertFalse(exports.has(given));
    }

    @Test
    void clientsThatWereNotGivenReferencesLatelyAreGone() {
        assertTrue(clients.enter(OXID, OWN));
        Object queried = new Peer.Subject();
        exports.add(queried, TEST, OXID, 5, false);
        clients.leave(OXID);
        assertFalse(exports.has(queried), "it was in a response");
        assertTrue(clients.enter(OXID, OWN));
        exports.add(queried, TEST, OXID, 5, false);
        assertThrows(RpcException.class, () -> clients.give(OXID, () -> exports.get(0)));
        clients.leave(OXID);
        assertFalse(exports.has(queried), "nothing was counted in the call");
        assertTrue(clients.enter(OXID, OWN));
        Object given = give(OXID);
        clients.leave(OXID, System.nanoTime() + Receivers.LIMIT);
        assertFalse(exports.has(given), "it was given long ago");
    }

    @Test
    void processesThatHaveEndedLoseTheirReferences() throws Exception {
        Process process = start("cat");
        try {
            Object given = giveAndLeave(OXID, process.pid());
            clients.dropUnclaimed();
            assertTrue(exports.has(given));
            assertTrue(clients.enter(6, process.pid()));
            Object late = give(6);
            process.destroy();
            process.waitFor();
            clients.leave(6);
            assertFalse(exports.has(late), "the end of the process comes before that of its connection");
            clients.dropUnclaimed();
            assertFalse(exports.has(given));
        } finally {
            process.destroy();
        }
    }

    @Test
    void aClientWithoutAKnownProcessLivesAsLongAsTheLinkToIt() {
        assertFalse(exports.has(giveAndLeave(OXID, -1)));
        isReached.set(true);
        Object given = giveAndLeave(OXID, -1);
        clients.dropUnclaimed();
        assertTrue(exports.has(given));
        isReached.set(false);
        clients.dropUnclaimed();
        assertFalse(exports.has(given));
        isReached.set(true);
        Object again = giveAndLeave(OXID, -1);
        assertTrue(exports.has(again));
        clients.dropEnded(OXID);
        assertFalse(exports.has(again), "the link has ended");
        Object connected = give(OXID);
        assertTrue(clients.enter(OXID, -1));
        clients.dropEnded(OXID);
        assertTrue(exports.has(connected));
    }

    @Test
    void anotherProcessCannotTakeThePlaceOfALostClient() throws Exception {
        Process other = start("cat");
        try {
            Object given = giveAndLeave(OXID, OWN);
            assertFalse(clients.enter(OXID, other.pid()));
            assertTrue(exports.has(given));
            clients.dropUnclaimed(System.nanoTime() + Receivers.LIMIT);
            assertFalse(exports.has(given), "nor keep its references");
            assertTrue(clients.enter(OXID, other.pid()));
        } finally {
            other.destroy();
        }
    }

    @Test
    void referencesPassedOnToALivingProcessSurviveAsWell() {
        assertTrue(clients.enter(OXID, OWN));
        Object own = new Peer.Subject();
        long target = exports.add(own, TEST, 9, 1, false).target();
        clients.passOn(target, 7, OXID, 5);
        clients.leave(OXID);
        exports.release(9, target, 1);
        assertTrue(exports.has(own));
        // References that this process sends renew the time. References that other processes pass
        // on do not.
        long before = System.nanoTime();
        give(OXID);
        clients.dropUnclaimed(before + Receivers.LIMIT - 1);
        assertTrue(exports.has(own));
        long after = System.nanoTime();
        clients.passOn(target, 7, OXID, 5);
        clients.dropUnclaimed(after + Receivers.LIMIT);
        assertFalse(exports.has(own));
    }

    @Test
    void aProcessThatPassesReferencesToALostClientIsCharged() {
        Object given = giveAndLeave(OXID, OWN);
        Object own = new Peer.Subject();
        long target = exports.add(own, TEST, 9, 1, false).target();
        for (int receiver = 1; receiver <= Receivers.MAX_PER_GIVER; receiver++) {
            clients.passOn(target, 7, 1000 + receiver, 1);
        }
        RpcException refused = assertThrows(RpcException.class, () -> clients.passOn(target, 7, OXID, 5));
        assertEquals(Hresult.E_OUTOFMEMORY, refused.result());
        assertTrue(clients.enter(OXID, OWN));
        clients.passOn(target, 7, OXID, 5);
        assertTrue(exports.has(given));
    }

    @Test
    void referencesBeyondALimitTakeNoPlaceOfAReceiver() {
        var few = new Exports(new Exports.Limits(1, 10, 2));
        var all = new Clients(few, _ -> false);
        long full = 1000;
        long target = few.add(new Peer.Subject(), TEST, 9, 1, false).target();
        // Two clients have references, the maximum.
        few.addTo(target, full, 1);
        for (int receiver = 1; receiver <= Receivers.MAX_PER_GIVER; receiver++) {
            long to = full + receiver;
            assertEquals(Hresult.E_OUTOFMEMORY, assertThrows(RpcException.class, () -> all.passOn(target, 7, to, 1)).result());
        }
        few.drop(full);
        all.passOn(target, 7, OXID, 1);
        assertTrue(few.isHolder(OXID, target));
    }

    @Test
    void refusedReceiversHaveNoReferences() {
        long target = exports.add(new Peer.Subject(), TEST, 9, 1, false).target();
        for (int receiver = 1; receiver <= Receivers.MAX_PER_GIVER; receiver++) {
            clients.passOn(target, 7, 1000 + receiver, 1);
        }
        assertThrows(RpcException.class, () -> clients.passOn(target, 7, OXID, 5));
        assertFalse(exports.isHolder(OXID));
    }

    @Test
    void theTimeOfALostClientBeginsWhenItIsGivenReferences() {
        long minute = 60_000_000_000L;
        assertTrue(clients.enter(OXID, OWN));
        Object given = give(OXID);
        long now = System.nanoTime();
        Object passed = new Peer.Subject();
        clients.passOn(exports.add(passed, TEST, 6, 1, false).target(), 7, 6, 1);
        long afterwards = System.nanoTime();
        clients.leave(OXID, now + 5 * minute);
        clients.dropUnclaimed(now + 5 * minute);
        assertTrue(exports.has(given));
        // The time of the lost client ends first, although the receiver of the passed references
        // was added before the client left.
        clients.dropUnclaimed(now + Receivers.LIMIT);
        assertFalse(exports.has(given));
        // For references that were passed to a process before it connected, the time also counts
        // from the moment of passing.
        assertTrue(clients.enter(6, OWN));
        clients.leave(6, now + 5 * minute);
        assertTrue(exports.has(passed));
        clients.dropUnclaimed(afterwards + Receivers.LIMIT);
        assertFalse(exports.has(passed));
    }

    @Test
    void aCallThatGivesReferencesRenewsTheTimeOfAProcessThatHasNotConnected() {
        Object passed = new Peer.Subject();
        clients.passOn(exports.add(passed, TEST, 9, 1, false).target(), 7, OXID, 5);
        long between = System.nanoTime();
        Object given = give(OXID);
        clients.dropUnclaimed(between + Receivers.LIMIT - 1);
        assertTrue(exports.has(given));
        clients.dropUnclaimed(System.nanoTime() + Receivers.LIMIT);
        assertFalse(exports.has(given));
    }

    @Test
    void theEndOfTheLinkToALivingProcessDropsNothing() throws Exception {
        Process process = start("cat");
        try {
            Object given = giveAndLeave(OXID, process.pid());
            clients.dropEnded(OXID);
            assertTrue(exports.has(given));
            process.destroy();
            process.waitFor();
            clients.dropEnded(OXID);
            assertFalse(exports.has(given));
        } finally {
            process.destroy();
        }
    }

    @Test
    void anotherProcessTakesThePlaceOfALostClientThatHasEnded() throws Exception {
        Process process = start("cat");
        try {
            Object given = giveAndLeave(OXID, process.pid());
            process.destroy();
            process.waitFor();
            assertTrue(clients.enter(OXID, OWN));
            assertFalse(exports.has(given));
        } finally {
            process.destroy();
        }
    }

    @Test
    void theLostClientsOfOneProcessAreLimited() {
        Object first = giveAndLeave(1, OWN);
        for (int client = 2; client <= Receivers.MAX_PER_GIVER; client++) {
            giveAndLeave(client, OWN);
        }
        assertEquals(Receivers.MAX_PER_GIVER, exports.count());
        assertFalse(exports.has(giveAndLeave(Receivers.MAX_PER_GIVER + 1, OWN)));
        assertTrue(exports.has(first));
        // A lost client that connects again makes room for another lost client.
        assertTrue(clients.enter(1, OWN));
        assertTrue(exports.has(giveAndLeave(Receivers.MAX_PER_GIVER + 1, OWN)));
    }

    @Test
    void processesForWhichTheirParentHasNotWaitedHaveEnded() throws Exception {
        assertTrue(ProcessState.isAlive(ProcessHandle.current()));
        assertFalse(ProcessState.isAlive(null));
        // The shell replaces itself by `cat`, which does not wait for the child. The answer shows
        // that `cat` runs.
        Process parent = start("sh", "-c", "sleep 100 & exec cat");
        try {
            parent.outputWriter().append("begun\n").flush();
            assertEquals("begun", parent.inputReader().readLine());
            ProcessHandle child = parent.children().findFirst().orElseThrow();
            child.destroyForcibly();
            Wires.await("the child has ended", () -> !ProcessState.isAlive(child));
            assertTrue(parent.children().anyMatch(child::equals), "the parent has waited for it");
        } finally {
            parent.destroy();
        }
    }
}
