package obvia.runtime;

import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import obvia.Waiting;

/** Two ends of a connection in one process. */
final class Wires {
    private static final AtomicInteger NEXT = new AtomicInteger();

    static final Duration PATIENCE = Duration.ofSeconds(60);

    private Wires() {}

    static Deadline patience() {
        return Deadline.in(PATIENCE);
    }

    record Pair(Window client, Window server) implements AutoCloseable {
        @Override
        public void close() {
            client.close();
            server.close();
        }
    }

    /** Returns two windows with the given modes of waiting. */
    static Pair pair(Waiting client, Waiting server) throws Exception {
        String name = "test-" + ProcessHandle.current().pid() + "-" + NEXT.incrementAndGet();
        try (Directory.Name bound = Directory.own().bind(name)) {
            var connecting = CompletableFuture.supplyAsync(
                    () -> Window.connect(Directory.own(), name, client, false, patience()));
            SocketChannel socket = bound.listener().accept();
            Window accepted = Window.accept(socket, server, patience());
            return new Pair(connecting.get(), accepted);
        }
    }

    /**
     * Returns the number of files of this process and of others, by their IDs, that were left
     * behind in the folder of segments.
     */
    static long leftovers(long... others) throws Exception {
        var makers = LongStream.concat(LongStream.of(ProcessHandle.current().pid()), LongStream.of(others)).mapToObj(pid -> ".obvia-" + pid + "-").toList();
        try (var files = Files.list(Path.of("/dev/shm"))) {
            return files.filter(file -> makers.stream().anyMatch(file.getFileName().toString()::startsWith)).count();
        }
    }
}
