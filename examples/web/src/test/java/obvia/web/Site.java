package obvia.web;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/** A server with its handlers, and a client. */
final class Site implements AutoCloseable {
    static final Duration PATIENCE = Duration.ofSeconds(60);

    /**
     * The options of the virtual machines that tests start, separated by spaces. Short test runs
     * set some options.
     */
    static final List<String> OPTIONS =
            Stream.of(System.getProperty("obvia.test.options", "").split(" ")).filter(option -> !option.isEmpty()).toList();

    /**
     * The default limits, except for the time limit of handlers: a busy machine needs a longer one.
     */
    static final Server.Limits LIMITS = new Server.Limits(
            Server.Limits.USUAL.headers(), Server.Limits.USUAL.headerBytes(), Server.Limits.USUAL.bodyBytes(), Server.Limits.USUAL.atOnce(), PATIENCE);

    final Routes routes = new Routes();
    final Control control = new Control(routes, new HandlerProcess.Launcher(OPTIONS, PATIENCE));
    final Server server;
    final URI uri;
    private final Recorder recorder;
    private final HttpClient browser = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    /** Creates a site. Routes are given as on the command line. `record` may be `null`. */
    Site(Server.Limits limits, Path record, String... prefixes) throws IOException {
        for (String prefix : prefixes) {
            String[] halves = prefix.split("=", 2);
            control.route(halves[0], halves[1]);
        }
        recorder = record == null ? null : new Recorder(record);
        server = new Server(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), routes, limits, recorder);
        uri = uri(server);
    }

    /** Returns the address of a server. */
    static URI uri(Server server) {
        return URI.create("http://127.0.0.1:" + server.address().getPort());
    }

    /** Waits for a condition. */
    static void await(String what, BooleanSupplier isSo) throws InterruptedException {
        long until = System.nanoTime() + PATIENCE.toNanos();
        while (!isSo.getAsBoolean()) {
            assertTrue(System.nanoTime() < until, what);
            Thread.sleep(10);
        }
    }

    static Site of(String... prefixes) throws IOException {
        return new Site(LIMITS, null, prefixes);
    }

    HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(uri.resolve(path)).timeout(PATIENCE);
    }

    HttpResponse<String> send(HttpRequest.Builder request) throws IOException, InterruptedException {
        return browser.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return send(request(path));
    }

    int status(String path) throws IOException, InterruptedException {
        return get(path).statusCode();
    }

    @Override
    public void close() {
        browser.shutdownNow();
        server.close();
        routes.close();
        if (recorder != null) {
            recorder.close();
        }
    }
}
