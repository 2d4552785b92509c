package obvia.runtime.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests that the threads of the runtime, mainly those that accept clients, continue when resources
 * are exhausted.
 */
@Timeout(120)
class AcceptorTest {
    @Test
    void acceptingContinuesAfterAnyFailure() throws Exception {
        String name = "accepting-" + ProcessHandle.current().pid();
        List<Throwable> failures = List.of(
                new OutOfMemoryError("unable to create native thread: as it were"), new InternalError("as it were"), new IllegalStateException("as it were"));
        var failing = new ArrayList<>(failures);
        var greeted = new CompletableFuture<SocketChannel>();
        Thread accepting;
        try (Directory.Name bound = Directory.own().bind(name)) {
            accepting = RepeatedTask.start("accepting", true, "accepting", new Acceptor(bound.listener(), socket -> {
                if (!failing.isEmpty()) {
                    throw AcceptorTest.<RuntimeException>sneak(failing.removeFirst());
                }
                greeted.complete(socket);
            }));
            for (int turn = 0; turn < failures.size(); turn++) {
                try (SocketChannel refused = SocketChannel.open(bound.listener().getLocalAddress())) {
                    assertEquals(-1, refused.read(java.nio.ByteBuffer.allocate(1)), "who cannot be served is told");
                }
            }
            try (SocketChannel client = SocketChannel.open(bound.listener().getLocalAddress());
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
    void runtimeThreadsContinueAfterAnyThrowable() throws Exception {
        var steps = new AtomicInteger();
        Thread thread = RepeatedTask.start("turning", true, "turning", () -> {
            switch (steps.incrementAndGet()) {
                case 1 -> throw new StackOverflowError("as it were");
                case 2 -> throw new OutOfMemoryError("as it were");
                case 3 -> throw new IOException("as it were");
                default -> {
                    return steps.get() < 6;
                }
            }
        });
        thread.join(30_000);
        assertEquals(6, steps.get());
    }
}
