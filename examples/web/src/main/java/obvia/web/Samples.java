package obvia.web;

import java.io.BufferedWriter;
import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import obvia.Occupancy;

/**
 * Periodically records the memory of received requests in this process, and the work of the garbage
 * collector.
 */
final class Samples implements AutoCloseable {
    private static final Duration EVERY = Duration.ofMillis(10);
    static final String FIRST = "ms,held,retained,received,collections,collection_ms";

    private final BufferedWriter file;
    private final Thread thread;
    private final long began = System.nanoTime();
    private final List<GarbageCollectorMXBean> collectors = ManagementFactory.getGarbageCollectorMXBeans();

    Samples(Path path) throws IOException {
        file = Files.newBufferedWriter(path, StandardCharsets.US_ASCII);
        file.write(FIRST + "\n");
        thread = Thread.ofPlatform().daemon().name("web-samples").start(this::sample);
    }

    private void sample() {
        try {
            while (true) {
                write();
                Thread.sleep(EVERY);
            }
        } catch (InterruptedException e) {
            // An interrupt ends the sampling.
        } catch (IOException e) {
            Log.say("sampling ends: %s", e);
        }
    }

    private void write() throws IOException {
        long collections = 0;
        long millis = 0;
        for (GarbageCollectorMXBean collector : collectors) {
            collections += collector.getCollectionCount();
            millis += collector.getCollectionTime();
        }
        long now = (System.nanoTime() - began) / 1_000_000;
        file.write("%d,%d,%d,%d,%d,%d%n".formatted(now, Occupancy.held(), Occupancy.retained(), Occupancy.received(), collections, millis));
    }

    @Override
    public void close() throws IOException {
        thread.interrupt();
        try {
            thread.join();
            write();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        file.close();
    }
}
