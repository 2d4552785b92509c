package obvia.runtime.shm;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.stream.LongStream;
import obvia.Waiting;
import obvia.runtime.call.Deadline;

/** Two ends of a connection in one process. */
public final class Wires {
    private static final AtomicInteger NEXT = new AtomicInteger();

    public static final Duration PATIENCE = Duration.ofSeconds(60);

    /** The number of messages that a window holds. */
    public static final int SLOTS = Layout.SLOT_COUNT;

    private Wires() {}

    /** Returns the path of the directory of names. */
    public static Path directory() {
        return Directory.own().path();
    }

    /** Waits for a condition. */
    public static void await(String what, BooleanSupplier isSo) throws InterruptedException {
        long until = System.nanoTime() + PATIENCE.toNanos();
        while (!isSo.getAsBoolean()) {
            assertTrue(System.nanoTime() < until, what);
            Thread.sleep(10);
        }
    }

    public static Deadline patience() {
        return Deadline.in(PATIENCE);
    }

    public record Pair(Window client, Window server) implements AutoCloseable {
        @Override
        public void close() {
            client.close();
            server.close();
        }
    }

    /** Returns two windows with the given modes of waiting. */
    public static Pair pair(Waiting client, Waiting server) throws Exception {
        String name = "test-" + ProcessHandle.current().pid() + "-" + NEXT.incrementAndGet();
        try (Directory.Name bound = Directory.own().bind(name)) {
            var connecting = CompletableFuture.supplyAsync(
                    () -> Window.connect(name, client, false, patience()));
            SocketChannel socket = bound.listener().accept();
            Window accepted = Window.accept(socket, server, patience());
            return new Pair(connecting.get(), accepted);
        }
    }

    /**
     * Returns the number of files in the folder of segments that this process and the processes
     * with the IDs {@code others} have left behind.
     */
    public static long leftovers(long... others) throws Exception {
        var makers = LongStream.concat(LongStream.of(ProcessHandle.current().pid()), LongStream.of(others)).mapToObj(pid -> ".obvia-" + pid + "-").toList();
        try (var files = Files.list(Path.of("/dev/shm"))) {
            return files.filter(file -> makers.stream().anyMatch(file.getFileName().toString()::startsWith)).count();
        }
    }
}
