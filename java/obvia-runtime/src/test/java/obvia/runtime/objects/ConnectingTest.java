package obvia.runtime.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

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
import obvia.runtime.shm.Acceptor;
import obvia.runtime.shm.Directory;
import obvia.runtime.shm.Wires;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests connecting to servers that do not accept connections. */
@Timeout(120)
class ConnectingTest {
    private static final AtomicInteger NEXT = new AtomicInteger();

    /** A name whose server does not accept connections. The server's queue is full. */
    private static final class Busy implements AutoCloseable {
        final String name = "busy-" + ProcessHandle.current().pid() + "-" + NEXT.incrementAndGet();
        private final Path socket = Wires.directory().resolve(name + ".sock");
        private final ServerSocketChannel listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        private final List<SocketChannel> queue = new ArrayList<>();

        Busy() throws Exception {
            UnixDomainSocketAddress address = UnixDomainSocketAddress.of(socket);
            listener.bind(address, 1);
            while (isTaken(address)) {
                // Each turn adds a connection, until the queue is full.
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
    void connectingToAServerThatDoesNotAcceptTimesOut() throws Exception {
        try (Busy busy = new Busy()) {
            for (Thread.Builder threads : List.of(Thread.ofPlatform().daemon(), Thread.ofVirtual())) {
                var late = begin(threads, () -> assertThrows(
                        CallTimeoutException.class, () -> Obvia.within(Duration.ofMillis(50), () -> Obvia.bind(ICalc.class, busy.name))));
                assertEquals(Hresult.RPC_E_TIMEOUT, late.get(30, TimeUnit.SECONDS).result());
            }
        }
    }

    @Test
    void anInterruptionEndsTheWaitForAcceptance() throws Exception {
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

    /** The server's queue has room, so that the client waits for the server's greeting. */
    @Test
    void anInterruptionEndsTheWaitForAGreeting() throws Exception {
        String name = "silent-" + ProcessHandle.current().pid();
        try (Directory.Name silent = Directory.own().bind(name)) {
            var begun = new CompletableFuture<Thread>();
            var cancelled = begin(Thread.ofPlatform().daemon(), () -> {
                begun.complete(Thread.currentThread());
                return assertThrows(CallCanceledException.class, () -> Obvia.bind(ICalc.class, name));
            });
            var accepted = new CompletableFuture<SocketChannel>();
            Acceptor.start(silent, "silent", true, accepted::complete);
            accepted.get(20, TimeUnit.SECONDS);
            begun.get().interrupt();
            assertEquals(Hresult.RPC_E_CALL_CANCELED, cancelled.get(20, TimeUnit.SECONDS).result());
        }
    }

    @Test
    void theNameOfAServerWithAFullQueueIsInUse() throws Exception {
        try (Busy busy = new Busy()) {
            var taken = begin(Thread.ofPlatform().daemon(), () -> assertThrows(
                    RpcException.class, () -> Obvia.export(new Calcs.Old(), ICalc.class, busy.name)));
            assertEquals(Hresult.RPC_S_DUPLICATE_ENDPOINT, taken.get(30, TimeUnit.SECONDS).result());
        }
    }
}
