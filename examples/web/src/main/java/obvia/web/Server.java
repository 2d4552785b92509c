package obvia.web;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import obvia.Bytes;
import obvia.Hresult;
import obvia.Obvia;
import obvia.RpcException;

/** The HTTP side: checks requests, calls the handlers, and sends the answers. */
final class Server implements AutoCloseable {
    /** The maximum number of connections that wait to be accepted. */
    private static final int BACKLOG = 1024;
    /**
     * The time for which the ending server waits for clients, beyond the time limit of handlers.
     */
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    /**
     * The limits of requests.
     *
     * @param atOnce the maximum number of concurrent requests; further requests are refused
     * @param deadline the time limit of a handler
     */
    record Limits(int headers, int headerBytes, int bodyBytes, int atOnce, Duration deadline) {
        /** The default limits. */
        static final Limits USUAL = new Limits(64, 16 << 10, 1 << 20, 256, Duration.ofSeconds(10));
    }

    private final HttpServer http;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final Routes routes;
    private final Limits limits;
    private final Recorder recorder;
    private final Semaphore atOnce;

    /** Signals that the server itself answers a request, with the status of an error. */
    private static final class Refusal extends Exception {
        private static final long serialVersionUID = 1;

        final int status;

        Refusal(int status, String why) {
            super(why);
            this.status = status;
        }
    }

    /** Creates a server, which serves at once. The recorder may be {@code null}. */
    Server(InetSocketAddress address, Routes routes, Limits limits, Recorder recorder) throws IOException {
        bound(System.getProperties());
        http = HttpServer.create(address, BACKLOG);
        this.routes = routes;
        this.limits = limits;
        this.recorder = recorder;
        atOnce = new Semaphore(limits.atOnce);
        http.setExecutor(threads);
        http.createContext("/", this::serve);
        http.start();
    }

    /** Limits the waiting times of the JDK's server, which reads these properties only once. */
    private static void bound(Properties properties) {
        properties.putIfAbsent("sun.net.httpserver.maxReqTime", "30");
        properties.putIfAbsent("sun.net.httpserver.maxRspTime", "60");
        properties.putIfAbsent("jdk.httpserver.maxConnections", "2048");
        // The head and the body of an answer are separate writes.
        properties.putIfAbsent("sun.net.httpserver.nodelay", "true");
    }

    /** Returns the address. */
    InetSocketAddress address() {
        return http.getAddress();
    }

    private void serve(HttpExchange exchange) throws IOException {
        boolean isIn = atOnce.tryAcquire();
        // The end of the block closes the body. Without that, the connection could not be reused.
        try (exchange;
                InputStream body = exchange.getRequestBody()) {
            if (isIn) {
                answer(exchange, body);
            } else {
                refuse(exchange, 503, "there are " + limits.atOnce + " requests already");
            }
        } catch (RuntimeException e) {
            // The JDK's server would not report this exception.
            Log.say("the server failed to handle a request: %s", e);
        } finally {
            // The answer has now been sent completely.
            if (isIn) {
                atOnce.release();
            }
        }
    }

    private void answer(HttpExchange exchange, InputStream body) throws IOException {
        try {
            answer(exchange, forward(read(exchange, body)));
        } catch (Refusal refusal) {
            refuse(exchange, refusal.status, refusal.getMessage());
        }
    }

    private Request read(HttpExchange exchange, InputStream body) throws IOException, Refusal {
        String method = exchange.getRequestMethod();
        String path = exchange.getRequestURI().getRawPath();
        if (!Http.isToken(method) || path == null || !path.startsWith("/")) {
            throw new Refusal(400, "the first line is none of HTTP's");
        }
        List<Header> headers = headers(exchange.getRequestHeaders());
        byte[] bytes = body.readNBytes(limits.bodyBytes + 1);
        if (bytes.length > limits.bodyBytes) {
            throw new Refusal(413, "bodies have up to " + limits.bodyBytes + " bytes here");
        }
        if (recorder != null) {
            recorder.record(method, path, headers, bytes.length);
        }
        String query = exchange.getRequestURI().getRawQuery();
        return Request.of(method, query == null ? path : path + "?" + query, headers, Bytes.of(bytes));
    }

    private List<Header> headers(Headers received) throws Refusal {
        Set<String> left = Http.ofConnection(received.getOrDefault("Connection", List.of()));
        List<Header> headers = new ArrayList<>();
        int bytes = 0;
        for (var header : received.entrySet()) {
            for (String value : header.getValue()) {
                bytes += header.getKey().length() + value.length();
                if (headers.size() == limits.headers || bytes > limits.headerBytes) {
                    throw new Refusal(431, "there are up to " + limits.headers + " headers of " + limits.headerBytes + " bytes together here");
                }
                if (!Http.isToken(header.getKey()) || !Http.isValue(value)) {
                    throw new Refusal(400, "a header is none");
                }
                if (!left.contains(header.getKey().toLowerCase(Locale.ROOT))) {
                    headers.add(Header.of(header.getKey(), value));
                }
            }
        }
        return headers;
    }

    /** Calls the handler of the path's prefix. */
    private Response forward(Request request) throws Refusal {
        Route route = routes.find(request.path());
        if (route == null) {
            throw new Refusal(404, "no handler has this path");
        }
        HandlerProcess process = route.enter();
        if (process == null) {
            throw new Refusal(503, "the handler of this path is not running, and is being started again");
        }
        try {
            return checked(Obvia.within(limits.deadline, () -> process.handler().handle(request)));
        } catch (RpcException e) {
            throw refusal(route, process, e);
        } catch (Refusal refusal) {
            throw refusal;
        } catch (Exception e) {
            throw new IllegalStateException("a call failed with what no call fails with", e);
        } finally {
            process.leave();
        }
    }

    private static Refusal refusal(Route route, HandlerProcess process, RpcException failure) {
        Log.say("%s: %s", process, Log.quote(String.valueOf(failure.getMessage())));
        return switch (failure.result()) {
            case Hresult.RPC_E_TIMEOUT -> new Refusal(504, "the handler of this path took too long");
            case Hresult.RPC_E_DISCONNECTED -> {
                // Further requests need not discover the loss of the process again.
                route.lost(process);
                yield new Refusal(502, "the handler of this path ended before it answered");
            }
            case Hresult.RPC_S_SERVER_UNAVAILABLE -> {
                route.lost(process);
                yield new Refusal(503, "the handler of this path is not running, and is being started again");
            }
            case Hresult.RPC_E_SERVERFAULT -> new Refusal(500, "the handler of this path failed");
            default -> new Refusal(502, "the handler of this path gave no answer");
        };
    }

    private static Response checked(Response response) throws Refusal {
        if (response == null) {
            throw new Refusal(502, "the handler of this path gave no answer");
        }
        for (Header header : response.headers()) {
            if (!Http.isToken(header.name()) || !Http.isValue(header.value())) {
                throw new Refusal(502, "the handler of this path answered with an invalid header");
            }
        }
        return response;
    }

    private static void answer(HttpExchange exchange, Response response) throws IOException {
        List<String> connection = new ArrayList<>();
        for (Header header : response.headers()) {
            if (header.name().equalsIgnoreCase("connection")) {
                connection.add(header.value());
            }
        }
        Set<String> left = Http.ofConnection(connection);
        for (Header header : response.headers()) {
            if (!left.contains(header.name().toLowerCase(Locale.ROOT))) {
                exchange.getResponseHeaders().add(header.name(), header.value());
            }
        }
        send(exchange, response.status(), response.body().toArray());
    }

    private static void refuse(HttpExchange exchange, int status, String why) throws IOException {
        exchange.getResponseHeaders().set("Content-Type", "text/plain; charset=utf-8");
        if (status == 503) {
            exchange.getResponseHeaders().set("Retry-After", "1");
        }
        send(exchange, status, (status + " " + Http.words(status) + ": " + why + "\n").getBytes(StandardCharsets.UTF_8));
    }

    private static void send(HttpExchange exchange, int status, byte[] body) throws IOException {
        boolean isHead = exchange.getRequestMethod().equals("HEAD");
        if (isHead) {
            exchange.getResponseHeaders().set("Content-Length", String.valueOf(body.length));
        }
        boolean hasBody = !isHead && body.length > 0 && status != 204 && status != 304;
        // For the JDK, the length 0 means that the length is unknown.
        exchange.sendResponseHeaders(status, hasBody ? body.length : -1);
        if (hasBody) {
            exchange.getResponseBody().write(body);
        }
    }

    /** Answers the requests in progress, and ends. */
    @Override
    public void close() {
        try {
            // The JDK's own wait would not notice that the last request has ended.
            if (!atOnce.tryAcquire(limits.atOnce, limits.deadline.toMillis() + PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
                Log.say("%d requests stay unanswered", limits.atOnce - atOnce.availablePermits());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        http.stop(0);
        threads.shutdownNow();
    }
}
