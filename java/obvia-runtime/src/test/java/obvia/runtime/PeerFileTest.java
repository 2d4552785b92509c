package obvia.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import obvia.BadMessageException;
import obvia.Hresult;
import obvia.RpcException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Files of peers. */
@Timeout(120)
class PeerFileTest {
    @Test
    void memoryAndTheDirectoryOfNamesAreAccepted() throws Exception {
        for (Path folder : new Path[] {Path.of("/dev/shm"), ProcessRuntime.directory().path()}) {
            try (Segments.Made made = Segments.Made.in(folder, 4096)) {
                PeerFile.open(made.path(), true, 4096).close();
                assertThrows(BadMessageException.class, () -> PeerFile.open(made.path(), true, 4097));
            }
        }
    }

    @Test
    void otherFilesAreRefused() throws Exception {
        for (String file : new String[] {"/proc/self/maps", "/dev/null", "/proc/self"}) {
            assertThrows(BadMessageException.class, () -> PeerFile.open(Path.of(file), false, 1), file);
        }
    }

    /** Numbers that later file systems may have are looked up. */
    @Test
    void devicesAreKnownByTheirNumbers() throws Exception {
        Path self = Path.of("/proc/self");
        Device early = Device.of((Long) Files.getAttribute(Path.of("/proc/self/ns/mnt"), "unix:dev"));
        assertTrue(PeerFile.isMemory(new Device(0, early.minor() - 1), self));
        assertFalse(PeerFile.isMemory(early, self));
        assertFalse(PeerFile.isMemory(new Device(7, 0), self));
        assertFalse(PeerFile.isMemory(new Device(0, (1 << 20) - 1), self));
        assertFalse(PeerFile.isMemory(Mounts.own().holding(Path.of("/proc/self")).device(), self), "listed as none");
        assertTrue(PeerFile.isMemory(Mounts.own().holding(Path.of("/dev/shm")).device(), self));
    }

    /** A call with little time left does not wait for as long as files may take. */
    @Test
    void theDeadlineEndsTheWait() {
        RpcException late = null;
        // On a busy machine the work may be done before its caller looks.
        while (late == null) {
            var end = new CountDownLatch(1);
            try {
                PeerFile.patiently(Deadline.in(Duration.ofMillis(1)), () -> end.await(Patience.USUAL.toSeconds() / 2, TimeUnit.SECONDS));
            } catch (RpcException e) {
                late = e;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            end.countDown();
        }
        assertEquals(Hresult.RPC_E_TIMEOUT, late.result());
    }

    @Test
    void fileSystemsThatDoNotAnswerHaveSomeThreads() throws Exception {
        var begun = new AtomicInteger();
        var end = new CountDownLatch(1);
        try {
            IOException refused = null;
            while (refused == null) {
                try {
                    PeerFile.patiently(Deadline.in(Duration.ofMillis(1)), () -> {
                        begun.incrementAndGet();
                        end.await();
                        return null;
                    });
                } catch (RpcException e) {
                    assertEquals(Hresult.RPC_E_TIMEOUT, e.result());
                    assertTrue(begun.get() <= PeerFile.LATE_MAX);
                } catch (IOException e) {
                    refused = e;
                }
            }
            assertEquals("too many file systems of peers do not answer", refused.getMessage());
        } finally {
            end.countDown();
        }
        ProcessesTest.await("files are opened again", () -> {
            try {
                return PeerFile.patiently(Wires.patience(), () -> true);
            } catch (IOException e) {
                return false;
            }
        });
    }
}
