package obvia.web;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * Replays a trace once for each way in which a handler can keep requests, and tabulates the memory
 * use of each way.
 */
final class OccupancyRun {
    /** The option for a small heap, so that the collector has to work. */
    private static final String HEAP = "-Xmx32m";

    private final List<Trace.Request> requests;
    private final double speed;
    private final int paths;
    private final Path folder;

    /** The way in which requests are kept, and the corresponding option of the virtual machine. */
    private enum Way {
        RETAINED("retained, and given back by the handler", "-Dobvia.views=scoped"),
        COLLECTED("kept, and given back by the collector", "-Dobvia.views=collected");

        final String words;
        final String option;

        Way(String words, String option) {
            this.words = words;
            this.option = option;
        }

        String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** A line of the output of {@link Samples}. */
    private record Sample(long ms, long held, long retained, long received, long collections, long collectionMillis) {
        static Sample of(String line) {
            String[] words = line.split(",");
            long[] numbers = new long[6];
            for (int at = 0; at < numbers.length; at++) {
                numbers[at] = Long.parseLong(words[at]);
            }
            return new Sample(numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]);
        }
    }

    OccupancyRun(List<Trace.Request> requests, double speed, int paths, Path folder) {
        this.requests = requests;
        this.speed = speed;
        this.paths = paths;
        this.folder = folder;
    }

    /** Runs all ways, writes {@code occupancy.csv}, and returns a table. */
    String run() throws IOException, InterruptedException {
        Files.createDirectories(folder);
        StringBuilder table = new StringBuilder("""
                | requests are | answers | half within | 99 % within | received | held at most | on average | collections | took together |
                |---|---|---|---|---|---|---|---|---|
                """);
        List<String> lines = new ArrayList<>();
        for (Way way : Way.values()) {
            Path file = folder.resolve(way.label() + ".csv");
            Player.Result result = replay(way, file);
            List<Sample> samples = Files.readAllLines(file).stream().skip(1).map(Sample::of).toList();
            samples.forEach(sample -> lines.add("%s,%d,%d,%d".formatted(way.label(), sample.ms, sample.held, sample.collections)));
            table.append(row(way, result, samples));
        }
        Files.write(folder.resolve("occupancy.csv"), lines);
        return table.toString();
    }

    private Player.Result replay(Way way, Path samples) throws IOException, InterruptedException {
        var launcher = new HandlerProcess.Launcher(List.of(HEAP, way.option, "-Dweb.samples=" + samples), Duration.ofSeconds(30));
        var address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        HandlerProcess process;
        Player.Result result;
        try (Routes routes = new Routes()) {
            Route route = new Route("/", "recent:" + paths, launcher);
            routes.add(route);
            process = route.enter();
            try (Server server = new Server(address, routes, Server.Limits.USUAL, null)) {
                result = Player.play(URI.create("http://127.0.0.1:" + server.address().getPort()), requests, speed, 64);
            }
            process.leave();
        }
        if (!process.awaitExit(Duration.ofSeconds(10))) {
            throw new IOException(process + " does not end");
        }
        if (result.failures() > 0 || !result.statuses().keySet().equals(Set.of(200))) {
            throw new IOException("requests went wrong, so nothing is worth being drawn: " + result);
        }
        return result;
    }

    private static String row(Way way, Player.Result result, List<Sample> samples) {
        long most = samples.stream().mapToLong(Sample::held).max().orElse(0);
        double mean = samples.stream().mapToLong(Sample::held).average().orElse(0);
        Sample last = samples.getLast();
        return "| %s | %d | %.2f ms | %.2f ms | %.0f KB | %.0f KB | %.0f KB | %d | %d ms |%n"
                .formatted(
                        way.words,
                        result.nanos().length,
                        result.quantile(0.5).toNanos() / 1e6,
                        result.quantile(0.99).toNanos() / 1e6,
                        last.received / 1e3,
                        most / 1e3,
                        mean / 1e3,
                        last.collections,
                        last.collectionMillis);
    }
}
