package obvia.runtime.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.stream.Stream;
import obvia.runtime.objects.Peer;
import org.junit.jupiter.api.Test;

/** Tests the kernel's list of locks. */
public class LocksTest {
    /** The ID of this process in another PID namespace. */
    private static final long OWN = ProcessHandle.current().pid() + 4711;

    private static final Device DEVICE = new Device(0xfe, 0x1c);

    private static Locks list(String... lines) {
        return Locks.of(OWN, Stream.of(lines));
    }

    @Test
    void locksOfOtherProcessesAndDevicesAreIgnored() {
        Locks others = list(
                "1: POSIX  ADVISORY  WRITE " + (OWN + 1) + " 00:1b:17 0 EOF",
                "2: FLOCK  ADVISORY  WRITE " + OWN + " fe:1c:17 0 EOF",
                "3: OFDLCK ADVISORY  WRITE -1 fe:1c:17 0 EOF");
        assertEquals(Set.of(), others.own(17));
        assertFalse(others.haveFlock(17));
        Locks own = list("1: FLOCK  ADVISORY  WRITE 1 00:1b:17 0 EOF", "2: POSIX  ADVISORY  WRITE " + OWN + " fe:1c:17 0 EOF");
        assertEquals(Set.of(DEVICE), own.own(17));
        assertEquals(Set.of(), own.own(1));
        assertFalse(own.haveFlock(17), "another device");
    }

    @Test
    void flockLocksAreFoundByTheDeviceOfTheOwnLock() {
        String own = "1: POSIX  ADVISORY  WRITE " + OWN + " fe:00:17 0 EOF";
        assertTrue(list(own, "2: FLOCK  ADVISORY  READ 1 fe:00:17 0 EOF").haveFlock(17));
        assertFalse(list(own, "2: FLOCK  ADVISORY  READ 1 fe:00:171 0 EOF").haveFlock(17));
        assertFalse(list(own, "2: -> FLOCK  ADVISORY  READ 1 fe:00:17 0 EOF").haveFlock(17), "a process that waits for the lock");
        assertFalse(list("", "nonsense", own + "\n").haveFlock(17));
    }

    /** In a PID namespace of its own, a process has another ID than in the outer {@code /proc}. */
    @Test
    void theOwnProcessIdEqualsThatOfTheLockList() throws Exception {
        assertEquals(ProcessHandle.current().pid(), Locks.self());
        try (Peer peer = Peer.inside()) {
            peer.awaitWord("1 " + true);
        } catch (IOException e) {
            assumeTrue(Peer.hasMemoryOfItsOwn(), "namespaces");
            throw e;
        }
    }

    /** Whether the list of locks shows a lock of this process as its own. */
    public static boolean hasLock() throws IOException {
        Path path = Files.createTempFile("obvia-" + ProcessHandle.current().pid() + "-lock-", "");
        try (var file = java.nio.channels.FileChannel.open(path, StandardOpenOption.WRITE)) {
            file.lock();
            return !Locks.read().own(Lock.Stat.of(path).number()).isEmpty();
        } finally {
            Files.delete(path);
        }
    }
}
