package obvia.runtime.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import obvia.Endpoint;
import obvia.Hresult;
import obvia.Obvia;
import obvia.RpcException;
import obvia.runtime.objects.ITest;
import obvia.runtime.objects.Peer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests a lack of shared memory. */
@Timeout(120)
public class PageAllocationTest {
    /** A file with a limited capacity in bytes. */
    private static final class Little implements PageAllocation.ZeroedFile {
        private final List<Long> written = new ArrayList<>();
        private long left;

        Little(long left) {
            this.left = left;
        }

        @Override
        public void put(long at, byte[] zeros, int length) throws IOException {
            if (length > left) {
                throw new IOException("No space left on device");
            }
            left -= length;
            written.add(at);
        }

        @Override
        public void close() {}
    }

    @Test
    void pagesAreReservedBeforeTheyAreWritten() {
        Little file = new Little(100_000);
        PageAllocation pages = new PageAllocation(file, 1 << 20, 4096);
        pages.allocate(4096);
        assertEquals(List.of(), file.written);
        pages.allocate(5000);
        pages.allocate(16_384);
        assertEquals(List.of(4096L), file.written, "some at once");
        pages.allocate(16_385);
        assertEquals(List.of(4096L, 16_384L), file.written);
        RpcException full = assertThrows(RpcException.class, () -> pages.allocate(1 << 20));
        assertEquals(Hresult.E_OUTOFMEMORY, full.result());
        assertTrue(full.getMessage().contains("/dev/shm") && full.getMessage().contains("--shm-size"), full.getMessage());
        file.left = 1 << 20;
        pages.allocate(1 << 20);
        assertEquals((1L << 20) - 16_384, file.written.getLast(), "and no more than there is of the file");
    }

    @Test
    void callsWithoutSharedMemoryReportTheLack() throws Exception {
        assumeTrue(Peer.hasMemoryOfItsOwn(), "without a file system of its own a test would fill everybody's");
        Peer.full().close();
    }

    /** The program of a process with little shared memory. */
    public static final class Full {
        private Full() {}

        /**
         * Fills the memory. Makes calls before the memory is full, while it is full, and
         * afterwards.
         */
        public static void main(String name) throws IOException {
            Obvia.export(new Peer.Subject(), ITest.class, name);
            try (Endpoint others = Obvia.loopback()) {
                ITest there = others.bind(ITest.class, name);
                check(there.add(1, 2) == 3, "a call that takes no room");
                Path filling = Path.of("/dev/shm/filling");
                try (var file = Files.newOutputStream(filling)) {
                    for (byte[] bytes = new byte[4096]; ; ) {
                        file.write(bytes);
                    }
                } catch (IOException e) {
                    // The file system is full.
                }
                for (int turn = 0; turn < 3; turn++) {
                    checkFull(() -> there.sum(new int[100_000]));
                    check(there.add(1, 2) == 3, "what takes no room goes on");
                }
                checkFull(() -> Obvia.share(100_000, obvia.SharedMemory.Access.READ));
                Files.delete(filling);
                check(there.sum(new int[100_000]) == 0, "where there is room again");
                // The array exceeds the size of the file system.
                checkFull(() -> there.sum(new int[2_000_000]));
                check(there.add(1, 2) == 3, "and it goes on");
            }
        }

        private static void checkFull(Runnable call) {
            try {
                call.run();
            } catch (RpcException e) {
                check(e.result() == Hresult.E_OUTOFMEMORY && e.getMessage().contains("/dev/shm"), e.getMessage());
                return;
            }
            check(false, "a call that there is no room for");
        }

        private static void check(boolean isSo, String what) {
            if (!isSo) {
                throw new IllegalStateException(what);
            }
        }
    }
}
