package obvia.web;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TraceTest {
    @TempDir
    Path folder;

    private List<Trace.Request> written(List<Trace.Request> requests) throws Exception {
        Path file = folder.resolve("some.trace");
        try (Trace.Writer writer = new Trace.Writer(file)) {
            for (Trace.Request request : requests) {
                writer.write(request);
            }
        }
        return Trace.read(file);
    }

    @Test
    void writtenTracesAreReadBack() throws Exception {
        var one = new Trace.Request(0, "GET", "/", List.of(), 0);
        var two = new Trace.Request(123_456, "POST", "/a/b%20c", List.of(4, 20, 6, 0), 1_000_000);
        assertEquals(List.of(one, two, one, two), written(List.of(one, two, one, two)));
        String text = Files.readString(folder.resolve("some.trace"));
        assertEquals("web-trace 1\nh\nr 0 GET / 0 0\nh 4 20 6 0\nr 123456 POST /a/b%20c 1 1000000\nr 0 GET / 0 0\nr 123456 POST /a/b%20c 1 1000000\n", text);
    }

    @Test
    void tracesWithMoreHeaderListsThanRememberedRoundTrip() throws Exception {
        List<Trace.Request> requests = new ArrayList<>();
        for (int turn = 0; turn < 12_000; turn++) {
            requests.add(new Trace.Request(turn, "GET", "/", List.of(1 + turn % 5_000, turn % 7), 0));
        }
        assertEquals(requests, written(requests));
    }

    @Test
    void traceErrorsNameTheirLine() {
        String head = "web-trace 1\nh 4 5\n";
        var wrong = List.of(
                "", "web-trace 2", head + "x", head + "r 1 GET / 0", head + "r 1 GET / 0 0 0", head + "r -1 GET / 0 0", head + "r 99999999999 GET / 0 0",
                head + "r 1 G@T / 0 0", head + "r 1 GET x 0 0", head + "r 1 GET /a?b 0 0", head + "r 1 GET /\u0001 0 0", head + "r 1 GET /%zz 0 0", head + "r 1 GET / 1 0",
                head + "r 1 GET / 0 16777217", head + "h 4", head + "h 0 1", head + "h 4 65537", head + "h 4 +5", "web-trace 1\nr 1 GET / 0 0");
        for (String text : wrong) {
            var failure = assertThrows(Trace.FormatException.class, () -> Trace.parse(text), text);
            int lines = Math.max((int) text.lines().count(), 1);
            assertTrue(failure.getMessage().startsWith("line " + lines + ": "), failure.getMessage());
        }
    }

    @Test
    void damagedTracesAreParsedOrRefusedWithoutOtherFailures() throws Exception {
        String good = "web-trace 1\n# made up\nh 4 20 6 0\nr 123 POST /a/b 0 17\n\nh\nr 5 GET / 1 0\n";
        assertEquals(2, Trace.parse(good).size());
        Random random = new Random(4);
        int refused = 0;
        for (int turn = 0; turn < 20_000; turn++) {
            StringBuilder text = new StringBuilder(good);
            for (int change = 1 + random.nextInt(3); change > 0; change--) {
                int at = random.nextInt(text.length());
                switch (random.nextInt(3)) {
                    case 0 -> text.setCharAt(at, (char) random.nextInt(256));
                    case 1 -> text.setLength(Math.max(at, 1));
                    default -> text.insert(at, "0 hr\n/9".charAt(random.nextInt(7)));
                }
            }
            try {
                Trace.parse(text.toString());
            } catch (Trace.FormatException e) {
                refused++;
            }
        }
        assertTrue(refused > 1_000 && refused < 20_000, refused + " were refused");
    }

    @Test
    void generatedRequestsHaveThePublishedDistribution() {
        List<Trace.Request> requests = generated(1);
        for (Trace.Request request : requests) {
            int bytes = Load.bytes(request);
            assertTrue(Load.LEAST <= bytes && bytes <= Load.MOST, request + " has " + bytes + " bytes");
            assertEquals(16, request.strings().size(), "with two headers of the client's own there are 20 strings");
        }
        var counts = requests.stream().collect(Collectors.groupingBy(Trace.Request::path, Collectors.counting())).values().stream()
                .sorted((one, other) -> Long.compare(other, one))
                .toList();
        long popular = counts.stream().limit(counts.size() / 10).mapToLong(Long::longValue).sum();
        assertTrue(popular > requests.size() / 2, "a tenth of the pages has more than half of the requests");
    }

    @Test
    void aSeedDeterminesTheGeneratedRequests() {
        assertEquals(generated(1), generated(1));
        assertNotEquals(generated(1), generated(2));
    }

    private static List<Trace.Request> generated(long seed) {
        return Load.make(new Load.Site(5_000, 250, 2_000, 0.9, seed));
    }
}
