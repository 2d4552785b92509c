package obvia.runtime;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The kernel's list of locks. */
class LocksTest {
    private static final long OWN = ProcessHandle.current().pid();

    private static Locks list(String... lines) {
        return Locks.of(Stream.of(lines));
    }

    @Test
    void locksOfOtherProcessesAndDevicesDoNotCount() {
        Locks others = list(
                "1: POSIX  ADVISORY  WRITE " + (OWN + 1) + " 00:1b:17 0 EOF",
                "2: FLOCK  ADVISORY  WRITE " + OWN + " 00:1c:17 0 EOF",
                "3: OFDLCK ADVISORY  WRITE -1 00:1c:17 0 EOF");
        assertFalse(others.haveOwn(17));
        assertFalse(others.haveFlock(17));
        Locks own = list("1: FLOCK  ADVISORY  WRITE 1 00:1b:17 0 EOF", "2: POSIX  ADVISORY  WRITE " + OWN + " 00:1c:17 0 EOF");
        assertTrue(own.haveOwn(17));
        assertFalse(own.haveOwn(1));
        assertFalse(own.haveFlock(17), "another device");
    }

    @Test
    void aLockByTheOtherCallIsFoundByTheDeviceOfTheOwnLock() {
        String own = "1: POSIX  ADVISORY  WRITE " + OWN + " fe:00:17 0 EOF";
        assertTrue(list(own, "2: FLOCK  ADVISORY  READ 1 fe:00:17 0 EOF").haveFlock(17));
        assertFalse(list(own, "2: FLOCK  ADVISORY  READ 1 fe:00:171 0 EOF").haveFlock(17));
        assertFalse(list(own, "2: -> FLOCK  ADVISORY  READ 1 fe:00:17 0 EOF").haveFlock(17), "a process that waits for the lock");
        assertFalse(list("", "nonsense", own + "\n").haveFlock(17));
    }
}
