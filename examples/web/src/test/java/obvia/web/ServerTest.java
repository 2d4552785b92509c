package obvia.web;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(180)
class ServerTest {
    @TempDir
    Path folder;

    private static Server.Limits limits(int bodyBytes, int atOnce, Duration deadline) {
        return new Server.Limits(20, 2_000, bodyBytes, atOnce, deadline);
    }

    @Test
    void requestsAndResponsesArriveWhole() throws Exception {
        try (Site site = Site.of("/echo=echo", "/=pages:the title")) {
            var request = site.request("/echo/a%20b?c=d&e");
            for (int header = 0; header < 20; header++) {
                request.header("X-Header-" + header, "value-" + "v".repeat(header * 10));
            }
            String body = "\u00e4\u0000\r\n" + "b".repeat(100_000);
            var answer = site.send(request.header("TE", "trailers").PUT(BodyPublishers.ofString(body)));
            assertEquals(200, answer.statusCode());
            assertTrue(answer.body().startsWith("PUT /echo/a%20b?c=d&e\n"), answer.body());
            assertTrue(answer.body().endsWith("\n\n" + body), "the body is the request's");
            String head = answer.body().substring(0, answer.body().indexOf("\n\n") + 1);
            for (int header = 0; header < 20; header++) {
                assertTrue(head.contains("\nX-header-" + header + ": value-" + "v".repeat(header * 10) + "\n"), head);
            }
            assertTrue(head.contains("\nHost: 127.0.0.1:"), head);
            assertFalse(head.toLowerCase().contains("\nte:") || head.contains("Content-length"), "headers of the connection stay behind: " + head);
            assertEquals("text/plain; charset=utf-8", answer.headers().firstValue("Content-Type").orElse(""));

            var page = site.get("/some/page");
            assertTrue(page.body().contains("<title>the title</title>"), page.body());
            assertEquals(page.body(), site.get("/some/page").body(), "the same page");
            var head2 = site.send(site.request("/some/page").HEAD());
            assertEquals("", head2.body());
            assertEquals(page.body().length(), head2.headers().firstValueAsLong("Content-Length").orElse(-1));
        }
    }

    @Test
    void oversizedRequestsAreRefusedAndLaterRequestsAreServed() throws Exception {
        try (Site site = new Site(limits(1_000, 100, Site.PATIENCE), null, "/a=echo")) {
            assertEquals(404, site.status("/b"));
            assertEquals(200, site.status("/a"));
            assertEquals(200, site.send(site.request("/a").POST(BodyPublishers.ofByteArray(new byte[1_000]))).statusCode());
            assertEquals(413, site.send(site.request("/a").POST(BodyPublishers.ofByteArray(new byte[1_001]))).statusCode());
            var unknownLength = BodyPublishers.ofByteArrays(List.of(new byte[900], new byte[900]));
            assertEquals(413, site.send(site.request("/a").POST(unknownLength)).statusCode());
            assertEquals(431, site.send(site.request("/a").header("X", "x".repeat(2_000))).statusCode());
            var many = site.request("/a");
            for (int header = 0; header < 21; header++) {
                many.header("X", "" + header);
            }
            assertEquals(431, site.send(many).statusCode());
            assertTrue(raw(site, "GET /a HTTP/1.1\r\nHost: x\r\nX: a\u0000b\r\n\r\n").startsWith("HTTP/1.1 400 "), "a zero in a header");
            assertTrue(raw(site, "G@T /a HTTP/1.1\r\nHost: x\r\n\r\n").startsWith("HTTP/1.1 400 "), "a method that is none");
            assertEquals(200, site.status("/a"));
        }
    }

    private static String raw(Site site, String request) throws Exception {
        try (Socket socket = new Socket("127.0.0.1", site.uri.getPort());
                OutputStream output = socket.getOutputStream()) {
            socket.setSoTimeout((int) Site.PATIENCE.toMillis());
            output.write(request.getBytes(StandardCharsets.ISO_8859_1));
            byte[] answer = new byte[100];
            return new String(answer, 0, Math.max(socket.getInputStream().read(answer), 0), StandardCharsets.ISO_8859_1);
        }
    }

    @Test
    void handlerFailuresAffectOnlyTheirRequest() throws Exception {
        var here = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        try (Site site = new Site(limits(1_000, 100, Site.PATIENCE), null, "/=obvia.web.Faulty");
                Server impatient = new Server(here, site.routes, limits(1_000, 100, Duration.ofMillis(500)), null)) {
            var late = CompletableFuture.supplyAsync(() -> code(site, Site.uri(impatient).resolve("/x/sleep/100000").toString()));
            assertEquals(500, site.status("/x/throw"));
            assertEquals(502, site.status("/x/split"));
            assertEquals(502, site.status("/x/nothing"));
            assertEquals("fine", site.get("/x").body());
            assertEquals(504, late.get(60, TimeUnit.SECONDS));
            assertEquals("fine", site.get("/x").body());
        }
    }

    private static int code(Site site, String path) {
        try {
            return site.status(path);
        } catch (Exception e) {
            return -1;
        }
    }

    @Test
    void aKilledHandlerIsRestartedWhileOthersContinue() throws Exception {
        String said = "in " + folder;
        try (Site site = Site.of("/a=obvia.web.Faulty:" + said, "/b=obvia.web.Faulty:other")) {
            assertEquals(said, site.get("/a").body());
            var inFlight = CompletableFuture.supplyAsync(() -> code(site, "/a/hold/held"));
            Site.await("the handler has the request", () -> Files.exists(folder.resolve("held")));
            Path closed = Files.createFile(folder.resolve("closed"));
            assertEquals(502, site.status("/a/die"));
            assertEquals(502, inFlight.get(60, TimeUnit.SECONDS));
            var gone = site.get("/a");
            assertEquals(503, gone.statusCode());
            assertEquals("1", gone.headers().firstValue("Retry-After").orElse(""));
            assertEquals("other", site.get("/b").body());
            Files.delete(closed);
            long until = System.nanoTime() + Site.PATIENCE.toNanos();
            int status;
            do {
                Thread.sleep(20);
                assertEquals("other", site.get("/b").body());
                status = site.status("/a");
                assertTrue(status == 503 || status == 200, "status " + status);
            } while (status != 200 && System.nanoTime() < until);
            assertEquals(200, status);
        }
    }

    @Test
    void requestsOverTheConcurrencyLimitAreToldToRetry() throws Exception {
        try (Site site = new Site(limits(1_000, 2, Site.PATIENCE), null, "/=obvia.web.Faulty:in " + folder)) {
            var one = CompletableFuture.supplyAsync(() -> code(site, "/x/hold/one"), Thread::startVirtualThread);
            var two = CompletableFuture.supplyAsync(() -> code(site, "/x/hold/two"), Thread::startVirtualThread);
            Site.await("the handler has two requests", () -> Files.exists(folder.resolve("one")) && Files.exists(folder.resolve("two")));
            assertEquals(503, site.status("/"));
            Files.createFile(folder.resolve("open"));
            assertEquals(200, one.get(60, TimeUnit.SECONDS));
            assertEquals(200, two.get(60, TimeUnit.SECONDS));
            // The server ends a request a moment after the client has the answer.
            Site.await("there is room again", () -> code(site, "/") == 200);
        }
    }

    @Test
    void recordedTracesCanBeReplayed() throws Exception {
        Path one = folder.resolve("one.trace");
        Path two = folder.resolve("two.trace");
        List<Trace.Request> load = Load.make(new Load.Site(200, 2_000, 50, 0.9, 7));
        try (Site site = new Site(Site.LIMITS, one, "/=recent:20")) {
            var result = Player.play(site.uri, load, 1, 1);
            assertEquals("{200=200}", result.statuses().toString(), result.toString());
            assertEquals(200, site.status("/secret?password=x"));
        }
        List<Trace.Request> recorded = Trace.read(one);
        assertEquals(withoutTimes(load), withoutTimes(recorded.subList(0, 200)));
        assertEquals("/secret", recorded.getLast().path(), "no query is kept");
        try (Site site = new Site(Site.LIMITS, two, "/=echo")) {
            assertEquals(0, Player.play(site.uri, recorded, 5, 1).failures());
        }
        assertEquals(withoutTimes(recorded), withoutTimes(Trace.read(two)));
    }

    private static List<Trace.Request> withoutTimes(List<Trace.Request> requests) {
        return requests.stream()
                .map(request -> new Trace.Request(0, request.method(), request.path(), request.strings().stream().sorted().toList(), request.body()))
                .toList();
    }
}
