package obvia.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import obvia.CallCanceledException;
import obvia.CallTimeoutException;
import obvia.Hresult;
import obvia.Obvia;
import obvia.RpcException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests connecting to servers that do not accept, and accepting when resources are exhausted. */
@Timeout(120)
class ConnectingTest {
    private static final AtomicInteger NEXT = new AtomicInteger();

    /** A name whose process does not accept, with a full queue. */
    private static final class Busy implements AutoCloseable {
        final String name = "busy-" + ProcessHandle.current().pid() + "-" + NEXT.incrementAndGet();
        private final Path socket = Directory.own().path().resolve(name + ".sock");
        private final ServerSocketChannel listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        private final List<SocketChannel> queue = new ArrayList<>();

        Busy() throws Exception {
            UnixDomainSocketAddress address = UnixDomainSocketAddress.of(socket);
            listener.bind(address, 1);
            while (isTaken(address)) {
                // The queue is filled completely.
            }
        }

        private boolean isTaken(UnixDomainSocketAddress address) throws IOException {
            SocketChannel waiting = SocketChannel.open(StandardProtocolFamily.UNIX);
            waiting.configureBlocking(false);
            queue.add(waiting);
            try {
                return waiting.connect(address);
            } catch (SocketException e) {
                return false;
            }
        }

        @Override
        public void close() throws IOException {
            listener.close();
            for (SocketChannel waiting : queue) {
                waiting.close();
            }
            Files.deleteIfExists(socket);
            Files.deleteIfExists(socket.resolveSibling(name + ".lock"));
        }
    }

    /** Runs work on a daemon thread, where it may block forever. */
    private static <T> CompletableFuture<T> begin(Thread.Builder threads, java.util.concurrent.Callable<T> work) {
        var result = new CompletableFuture<T>();
        threads.start(() -> {
            try {
                result.complete(work.call());
            } catch (Throwable e) {
                result.completeExceptionally(e);
            }
        });
        return result;
    }

    @Test
    void aCallIsLateWhereNobodyAccepts() throws Exception {
        try (Busy busy = new Busy()) {
            for (Thread.Builder threads : List.of(Thread.ofPlatform().daemon(), Thread.ofVirtual())) {
                var late = begin(threads, () -> assertThrows(
                        CallTimeoutException.class, () -> Obvia.within(Duration.ofMillis(50), () -> Obvia.bind(ICalc.class, busy.name))));
                assertEquals(Hresult.RPC_E_TIMEOUT, late.get(30, TimeUnit.SECONDS).result());
            }
        }
    }

    @Test
    void anInterruptionEndsTheWaitToBeAccepted() throws Exception {
        try (Busy busy = new Busy()) {
            var begun = new CompletableFuture<Thread>();
            var cancelled = begin(Thread.ofPlatform().daemon(), () -> {
                begun.complete(Thread.currentThread());
                return assertThrows(CallCanceledException.class, () -> Obvia.bind(ICalc.class, busy.name));
            });
            begun.get().interrupt();
            assertEquals(Hresult.RPC_E_CALL_CANCELED, cancelled.get(20, TimeUnit.SECONDS).result());
        }
    }

    @Test
    void aNameWhoseServerHasAFullQueueIsTaken() throws Exception {
        try (Busy busy = new Busy()) {
            var taken = begin(Thread.ofPlatform().daemon(), () -> assertThrows(
                    RpcException.class, () -> Obvia.export(new Calcs.Old(), ICalc.class, busy.name)));
            assertEquals(Hresult.RPC_S_DUPLICATE_ENDPOINT, taken.get(30, TimeUnit.SECONDS).result());
        }
    }

    @Test
    void whatAcceptsConnectionsGoesOnWhateverIsMissing() throws Exception {
        String name = "accepting-" + ProcessHandle.current().pid() + "-" + NEXT.incrementAndGet();
        List<Throwable> failures = List.of(
                new OutOfMemoryError("unable to create native thread: as it were"), new InternalError("as it were"), new IllegalStateException("as it were"));
        var failing = new ArrayList<>(failures);
        var greeted = new CompletableFuture<SocketChannel>();
        Thread accepting;
        try (Directory.Name bound = Directory.own().bind(name)) {
            accepting = Rounds.start("accepting", true, "accepting", new Acceptor(bound.listener(), socket -> {
                if (!failing.isEmpty()) {
                    throw ConnectingTest.<RuntimeException>sneak(failing.removeFirst());
                }
                greeted.complete(socket);
            }));
            for (int turn = 0; turn < failures.size(); turn++) {
                try (SocketChannel refused = SocketChannel.open(UnixDomainSocketAddress.of(bound.socket()))) {
                    assertEquals(-1, refused.read(java.nio.ByteBuffer.allocate(1)), "who cannot be served is told");
                }
            }
            try (SocketChannel client = SocketChannel.open(UnixDomainSocketAddress.of(bound.socket()));
                    SocketChannel served = greeted.get(30, TimeUnit.SECONDS)) {
                assertTrue(client.isConnected() && served.isConnected());
            }
            assertTrue(accepting.isAlive());
        }
        accepting.join(30_000);
        assertFalse(accepting.isAlive(), "it ends with its name");
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> RuntimeException sneak(Throwable why) throws E {
        throw (E) why;
    }

    @Test
    void aThreadOfTheRuntimesGoesOnWhateverATurnThrows() throws Exception {
        var turns = new AtomicInteger();
        Thread thread = Rounds.start("turning", true, "turning", () -> {
            switch (turns.incrementAndGet()) {
                case 1 -> throw new StackOverflowError("as it were");
                case 2 -> throw new OutOfMemoryError("as it were");
                case 3 -> throw new IOException("as it were");
                default -> {
                    return turns.get() < 6;
                }
            }
        });
        thread.join(30_000);
        assertEquals(6, turns.get());
    }
}
