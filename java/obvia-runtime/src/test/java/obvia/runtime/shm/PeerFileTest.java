package obvia.runtime.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import obvia.BadMessageException;
import obvia.Hresult;
import obvia.RpcException;
import obvia.runtime.call.Deadline;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests the opening of peers' files. */
@Timeout(120)
class PeerFileTest {
    private static final Path SELF = Path.of("/proc/self");

    @TempDir
    private Path folder;

    @Test
    void sharedMemoryFilesAreAccepted() throws Exception {
        try (UnlinkedFile made = UnlinkedFile.in(Path.of("/dev/shm"), 4096)) {
            PeerFile.open(made.path(), true, 4096).close();
            // Even while this process has locks, other files can be opened after any number of
            // refused files.
            made.file().lock(1L << 40, 1, false);
            try (UnlinkedFile other = UnlinkedFile.in(Path.of("/dev/shm"), 4096);
                    UnlinkedFile empty = UnlinkedFile.in(Path.of("/dev/shm"), 1)) {
                empty.file().truncate(0);
                for (int attempt = 0; attempt < 100; attempt++) {
                    assertThrows(BadMessageException.class, () -> PeerFile.open(other.path(), true, 4097));
                    assertThrows(BadMessageException.class, () -> PeerFile.open(empty.path(), true, 1));
                    assertThrows(BadMessageException.class, () -> PeerFile.open(made.path(), true, 4096));
                }
                PeerFile.open(other.path(), true, 4096).close();
            }
        }
    }

    /**
     * Files of a folder other than {@code /dev/shm} are accepted if segments are in that folder,
     * even on a disk.
     */
    @Test
    void filesInTheSegmentFolderAreAccepted() throws Exception {
        try (UnlinkedFile made = UnlinkedFile.in(folder, 4096)) {
            PeerFile.open(made.path(), true, 4096, folder).close();
            if (!Mounts.own().holding(folder.toRealPath()).type().equals("tmpfs")) {
                assertThrows(BadMessageException.class, () -> PeerFile.open(made.path(), true, 4096, UnlinkedFile.MEMORY));
            }
        }
    }

    private static boolean isLocked(Path file) throws IOException {
        return !Locks.read().own((Long) Files.getAttribute(file, "unix:ino")).isEmpty();
    }

    /** Closing a descriptor of a file drops all locks of this process on the file. */
    @Test
    void lockedPeerFilesAreRefused() throws Exception {
        for (Path of : new Path[] {Path.of("/dev/shm"), folder}) {
            try (UnlinkedFile made = UnlinkedFile.in(of, 4096)) {
                made.file().lock();
                assertThrows(BadMessageException.class, () -> PeerFile.open(made.path(), true, 4096, of));
                assertTrue(isLocked(made.path()));
            }
        }
    }

    @Test
    void peerFilesLockedAfterOpeningStayOpen() throws Exception {
        try (UnlinkedFile made = UnlinkedFile.in(Path.of("/dev/shm"), 4096)) {
            PeerFile file = PeerFile.open(made.path(), true, 4096);
            var lock = made.file().lock();
            file.close();
            assertTrue(isLocked(made.path()));
            assertEquals(4096, file.length());
            lock.release();
            try (UnlinkedFile other = UnlinkedFile.in(Path.of("/dev/shm"), 4096)) {
                PeerFile.open(other.path(), true, 4096).close();
            }
            assertThrows(IOException.class, file::length, "closed once it is unlocked");
        }
    }

    @Test
    void peerFilesLockedDuringCloseStayOpen() throws Exception {
        try (UnlinkedFile made = UnlinkedFile.in(Path.of("/dev/shm"), 4096);
                PeerFile file = PeerFile.open(made.path(), true, 4096)) {
            Thread closing = Thread.ofPlatform().daemon().unstarted(file::close);
            synchronized (Lock.LOCKING) {
                closing.start();
                Wires.await("the close waits", () -> closing.getState() == Thread.State.BLOCKED || !closing.isAlive());
                made.file().lock();
            }
            closing.join();
            assertTrue(isLocked(made.path()));
            assertEquals(4096, file.length());
        }
    }

    /** The kernel escapes line feeds in names, but no carriage returns. */
    @Test
    void fileNamesCannotForgeMappings() throws Exception {
        Path odd = Path.of("/dev/shm", ".obvia-test-" + ProcessHandle.current().pid() + "\r0-ffffffffffffffff r--p 0 00:01 0 ");
        try (Arena arena = Arena.ofConfined();
                FileChannel file = FileChannel.open(odd, StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            try (Arena others = Arena.ofConfined()) {
                // The kernel fills gaps from the top. When the 64 mappings above this mapping have
                // ended, later mappings take their place. The later mappings then follow this
                // mapping in the list.
                for (int i = 0; i < 64; i++) {
                    file.map(MapMode.READ_WRITE, 0, 4096, others);
                }
                file.map(MapMode.READ_WRITE, 0, 4096, arena);
            }
            try (UnlinkedFile made = UnlinkedFile.in(folder, 4096)) {
                if (!Mounts.own().holding(folder.toRealPath()).type().equals("tmpfs")) {
                    assertThrows(BadMessageException.class, () -> PeerFile.open(made.path(), true, 4096, UnlinkedFile.MEMORY));
                }
            }
            try (UnlinkedFile made = UnlinkedFile.in(Path.of("/dev/shm"), 4096)) {
                PeerFile.open(made.path(), true, 4096).close();
            }
        } finally {
            Files.delete(odd);
        }
    }

    @Test
    void mappingsAreFoundByAddress() {
        String list = """
                1000-2000 r--p 0 00:05 7 /a\r0-ffffffffffffffff r--p 0 00:01 0 /b
                2000-4000 rw-s 00001000 fe:10 18446744073709551615 /x\ry
                no mapping
                ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0
                """;
        var found = new ArrayList<PeerFile.Mapping>();
        for (long address : new long[] {0xfff, 0x1000, 0x1fff, 0x2000, 0x4000, 0xffffffffff600000L}) {
            found.add(PeerFile.Mapping.at(address, Stream.of(list.split("\n"))));
        }
        var first = new PeerFile.Mapping(new Device(0, 5), 7);
        assertEquals(Arrays.asList(null, first, first, new PeerFile.Mapping(new Device(0xfe, 0x10), -1), null, new PeerFile.Mapping(new Device(0, 0), 0)), found);
    }

    @Test
    void peerFilesOtherThanMemoryAreRefused() throws Exception {
        for (String file : new String[] {"/proc/self/maps", "/dev/null", "/proc/self"}) {
            assertThrows(BadMessageException.class, () -> PeerFile.open(Path.of(file), false, 1), file);
        }
    }

    /**
     * A device number below the number of the namespaces' file system shows that the device is
     * memory. Other numbers are looked up in the lists of mounts.
     */
    @Test
    void memoryDevicesAreRecognisedByNumber() throws Exception {
        Device early = Device.of((Long) Files.getAttribute(Path.of("/proc/self/ns/mnt"), "unix:dev"));
        assertTrue(PeerFile.isMemory(new Device(0, early.minor() - 1), SELF));
        assertFalse(PeerFile.isMemory(early, SELF));
        assertFalse(PeerFile.isMemory(new Device(7, 0), SELF));
        assertFalse(PeerFile.isMemory(new Device(0, (1 << 20) - 1), SELF));
        assertFalse(PeerFile.isMemory(Mounts.own().holding(SELF).device(), SELF), "listed as none");
        assertTrue(PeerFile.isMemory(Mounts.own().holding(Path.of("/dev/shm")).device(), SELF));
    }

    /** A call with little time left does not wait for the whole time limit of work with files. */
    @Test
    void peerFileWorkEndsAtItsDeadline() {
        RpcException late = null;
        // On a busy machine the work may be done before its caller looks.
        while (late == null) {
            var end = new CountDownLatch(1);
            try {
                PeerFile.withinTime(SELF, Deadline.in(Duration.ofMillis(1)), () -> end.await(TimedWork.USUAL.toSeconds() / 2, TimeUnit.SECONDS));
            } catch (RpcException e) {
                late = e;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            end.countDown();
        }
        assertEquals(Hresult.RPC_E_TIMEOUT, late.result());
    }

    private static <T> T withinTime(String process, Duration time, Callable<T> work) throws IOException {
        return PeerFile.withinTime(Path.of("/proc", process), Deadline.in(time), work);
    }

    @Test
    void hangingFileSystemsUseALimitedNumberOfThreads() throws Exception {
        var begun = new AtomicInteger();
        var end = new CountDownLatch(1);
        try {
            for (int attempt = 0; attempt < 4 * PeerFile.THREADS_MAX; attempt++) {
                RpcException late = assertThrows(RpcException.class, () -> withinTime("1", Duration.ofMillis(1), () -> {
                    begun.incrementAndGet();
                    return end.await(60, TimeUnit.SECONDS);
                }));
                assertEquals(Hresult.RPC_E_TIMEOUT, late.result());
            }
            // Files of other processes are opened during that time.
            assertTrue(withinTime("2", Wires.PATIENCE, () -> true));
        } finally {
            end.countDown();
        }
        assertTrue(withinTime("1", Wires.PATIENCE, () -> true));
        assertTrue(begun.get() <= PeerFile.THREADS_MAX, begun + " threads");
    }

    /** In {@code /proc}, the kernel finds threads by their IDs, like processes. */
    @Test
    void threadFilesAreAttributedToTheirProcess() throws Exception {
        Path own = Path.of("/proc", Long.toString(Locks.self()));
        try (Stream<Path> threads = Files.list(SELF.resolve("task"))) {
            assertTrue(threads.filter(thread -> PeerFile.processOf(Path.of("/proc").resolve(thread.getFileName()).resolve("fd/1")).equals(own)).count() > 1);
        }
        assertEquals(Path.of("/proc/0"), PeerFile.processOf(Path.of("/proc/0/fd/1")), "no process");
    }

    @Test
    void turnsAreLimitedPerKeyAndInTotal() throws Exception {
        var limit = new WorkLimit<String>(2, 3);
        Deadline now = Deadline.in(Duration.ZERO);
        assertTrue(limit.begin("a", now) && limit.begin("a", now));
        assertFalse(limit.begin("a", now), "two for each");
        assertTrue(limit.begin("b", now));
        assertFalse(limit.begin("c", now), "three for all");
        var waiting = CompletableFuture.supplyAsync(() -> {
            try {
                return limit.begin("c", Wires.patience());
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        limit.end("a");
        assertTrue(waiting.get());
        assertFalse(limit.begin("a", now));
        limit.end("c");
        assertTrue(limit.begin("a", now));
    }
}
