package obvia.runtime.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import obvia.Hresult;
import obvia.Obvia;
import obvia.RpcException;
import obvia.SharedMemory;
import obvia.SharedMemory.Access;
import obvia.runtime.call.Deadline;
import obvia.runtime.shm.Regions;
import obvia.runtime.shm.Wires;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests arrays by reference between two virtual machines. */
@Timeout(120)
class RegionsTest {
    /** A length in bytes, a multiple of the page size, that no other mapping has. */
    private static final long LENGTH = 0x337000;

    /** Returns the number of a process's mappings of files with the length {@link #LENGTH}. */
    private static long mappings(long pid) throws Exception {
        return Files.readAllLines(Path.of("/proc", Long.toString(pid), "maps")).stream()
                .filter(line -> line.contains("/.obvia-"))
                .map(line -> line.split("[ -]"))
                .filter(words -> Long.parseUnsignedLong(words[1], 16) - Long.parseUnsignedLong(words[0], 16) == LENGTH)
                .count();
    }

    private static void await(Callable<Boolean> isSo) throws Exception {
        Deadline deadline = Wires.patience();
        while (!isSo.call()) {
            deadline.check();
            Thread.sleep(10);
        }
    }

    private static void refused(Runnable call) {
        assertEquals(Hresult.E_INVALIDARG, assertThrows(RpcException.class, call::run).result());
    }

    @Test
    void segmentsInSharedMemoryAreNotCopied() throws Exception {
        long server;
        try (Peer peer = Peer.server()) {
            ITest there = Obvia.bind(ITest.class, peer.name);
            SharedMemory shared = Obvia.share(LENGTH, Access.WRITE);
            MemorySegment memory = shared.memory();
            memory.set(ValueLayout.JAVA_INT, 4096, 40);
            memory.set(ValueLayout.JAVA_INT, LENGTH - 4, 2);
            assertEquals(42, there.total(memory));
            assertEquals(40, there.total(memory.asSlice(4096, 4)));
            assertEquals(0, there.total(memory.asSlice(LENGTH)));
            there.stain(memory.asSlice(100, 50));
            assertEquals((byte) 0xee, memory.get(ValueLayout.JAVA_BYTE, 149));
            assertEquals(0, memory.get(ValueLayout.JAVA_BYTE, 150));
            assertEquals(1, mappings(peer.pid()));
            shared.close();
            shared.close();
            refused(() -> there.total(memory));
            // The next call tells the server that the memory was closed.
            try (SharedMemory other = Obvia.share(100, Access.READ)) {
                assertEquals(0, there.total(other.memory()));
            }
            assertEquals(0, mappings(peer.pid()));
            server = peer.pid();
        }
        assertEquals(0, Wires.leftovers(server));
    }

    @Test
    void segmentsOutsideSharedMemoryAreCopiedOrRefused() throws Exception {
        try (Peer peer = Peer.server();
                Arena arena = Arena.ofConfined();
                SharedMemory read = Obvia.share(4096, Access.READ)) {
            ITest there = Obvia.bind(ITest.class, peer.name);
            assertEquals(6, there.total(MemorySegment.ofArray(new int[] {1, 2, 3})));
            assertEquals(0, there.total(arena.allocate(100_000)));
            assertEquals(0, there.total(MemorySegment.ofArray(new int[0])));
            refused(() -> there.stain(arena.allocate(100)));
            refused(() -> there.stain(MemorySegment.ofArray(new byte[100])));
            // Methods may only read this memory.
            assertEquals(0, there.total(read.memory()));
            refused(() -> there.stain(read.memory()));
            // The length of the first array is no multiple of an int's size. The second array is
            // read-only.
            refused(() -> there.total(read.memory().asSlice(0, 7)));
            refused(() -> there.stain(read.memory().asReadOnly()));
        }
    }

    @Test
    void regionsOverTheServersLimitAreMappedAgain() throws Exception {
        List<SharedMemory> all = new ArrayList<>();
        try (Peer peer = Peer.server()) {
            ITest there = Obvia.bind(ITest.class, peer.name);
            for (int i = 0; i < Regions.MOST + 10; i++) {
                all.add(Obvia.share(LENGTH, Access.WRITE));
                all.get(i).memory().set(ValueLayout.JAVA_INT, 0, i);
            }
            for (int turn = 0; turn < 2; turn++) {
                for (int i = 0; i < all.size(); i++) {
                    assertEquals(i, there.total(all.get(i).memory().asSlice(0, 1024)));
                }
            }
            assertEquals(Regions.MOST, mappings(peer.pid()));
        } finally {
            all.forEach(SharedMemory::close);
        }
    }

    @Test
    void virtualThreadsCanPassSharedMemory() throws Exception {
        try (Peer peer = Peer.server();
                var threads = Executors.newVirtualThreadPerTaskExecutor();
                SharedMemory shared = Obvia.share(LENGTH, Access.WRITE)) {
            ITest there = Obvia.bind(ITest.class, peer.name);
            shared.memory().fill((byte) 1);
            List<Future<?>> calls = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                long at = i * 8;
                calls.add(threads.submit(() -> {
                    assertEquals(0x01010101L, there.total(shared.memory().asSlice(at, 4)));
                    there.stain(shared.memory().asSlice(at + 4, 4));
                }));
            }
            for (Future<?> call : calls) {
                call.get();
            }
            for (int i = 0; i < 100; i++) {
                assertEquals(0xeeeeeeee_01010101L, shared.memory().get(ValueLayout.JAVA_LONG, i * 8));
            }
        }
    }

    @Test
    void killedClientsLeaveNoMappings() throws Exception {
        long killed;
        try (Peer peer = Peer.server()) {
            ITest there = Obvia.bind(ITest.class, peer.name);
            try (Peer client = Peer.sharer(peer.name, LENGTH)) {
                assertEquals(1, mappings(peer.pid()));
                assertTrue(mappings(client.pid()) >= 1);
                killed = client.pid();
            }
            await(() -> mappings(peer.pid()) == 0);
            assertEquals(3, there.add(1, 2));
        }
        assertEquals(0, Wires.leftovers(killed));
    }
}
