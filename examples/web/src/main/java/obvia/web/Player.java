package obvia.web;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;

/** Sends requests to a server at the times of a trace, and counts the answers. */
final class Player {
    /** The `User-Agent` header of requests. {@link Recorder} omits it. */
    static final String USER_AGENT = "web-replay";

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final URI server;
    private final double speed;
    private final Semaphore atOnce;
    private final Map<Integer, Integer> statuses = new TreeMap<>();
    private final long[] nanos;
    private int answers;
    private int failures;
    private String failure;

    /**
     * The result of a replay.
     *
     * @param statuses the number of answers by status
     * @param failures the number of requests without answer
     * @param failure the reason of one of the failures
     * @param late the largest delay of a request, caused by the limit of concurrent requests
     * @param nanos the response times in ascending order
     */
    record Result(Map<Integer, Integer> statuses, int failures, String failure, Duration took, Duration late, long[] nanos) {
        /** Returns the response time that the given share of the answers did not exceed. */
        Duration quantile(double share) {
            return nanos.length == 0 ? Duration.ZERO : Duration.ofNanos(nanos[(int) Math.min(nanos.length - 1, share * nanos.length)]);
        }

        @Override
        public String toString() {
            int answers = nanos.length;
            String lost = failures == 0 ? "" : "; %d without an answer, one because %s".formatted(failures, failure);
            return "%d answers in %.1f s, by status %s%s; half of them within %.2f ms, 99 %% within %.2f ms; sent up to %d ms late"
                    .formatted(answers, took.toNanos() / 1e9, statuses, lost, quantile(0.5).toNanos() / 1e6, quantile(0.99).toNanos() / 1e6, late.toMillis());
        }
    }

    private Player(URI server, double speed, int atOnce, int requests) {
        this.server = server;
        this.speed = speed;
        this.atOnce = new Semaphore(atOnce);
        nanos = new long[requests];
    }

    /**
     * Sends all requests, {@code speed} times as fast as in the trace, and waits for the answers.
     */
    static Result play(URI server, List<Trace.Request> requests, double speed, int atOnce) throws InterruptedException {
        return new Player(server, speed, atOnce, requests.size()).play(requests);
    }

    private Result play(List<Trace.Request> requests) throws InterruptedException {
        long began = System.nanoTime();
        long late = 0;
        double due = 0;
        try (HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(PATIENCE).build();
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (Trace.Request request : requests) {
                due += request.pause() * 1000 / speed;
                long pause = (long) due - (System.nanoTime() - began);
                if (pause > 0) {
                    Thread.sleep(Duration.ofNanos(pause));
                }
                atOnce.acquire();
                late = Math.max(late, System.nanoTime() - began - (long) due);
                threads.submit(() -> send(client, request));
            }
        }
        long took = System.nanoTime() - began;
        synchronized (this) {
            long[] sorted = Arrays.copyOf(nanos, answers);
            Arrays.sort(sorted);
            return new Result(Map.copyOf(statuses), failures, failure, Duration.ofNanos(took), Duration.ofNanos(late), sorted);
        }
    }

    private void send(HttpClient client, Trace.Request request) {
        long began = System.nanoTime();
        try {
            int status = client.send(http(request), BodyHandlers.discarding()).statusCode();
            answered(status, System.nanoTime() - began);
        } catch (IOException | InterruptedException | IllegalArgumentException e) {
            failed(e);
        } finally {
            atOnce.release();
        }
    }

    private synchronized void answered(int status, long took) {
        statuses.merge(status, 1, Integer::sum);
        nanos[answers++] = took;
    }

    private synchronized void failed(Exception why) {
        failures++;
        failure = why.toString();
    }

    /** Returns an HTTP request with the sizes of a request in the trace. */
    HttpRequest http(Trace.Request request) {
        var body = HttpRequest.BodyPublishers.ofByteArray(new byte[request.body()]);
        var http = HttpRequest.newBuilder(server.resolve(request.path()))
                .timeout(PATIENCE)
                .header("User-Agent", USER_AGENT)
                .method(request.method(), request.body() == 0 ? HttpRequest.BodyPublishers.noBody() : body);
        for (int at = 0; at < request.strings().size(); at += 2) {
            // The names are unique, and differ from those of standard headers.
            String name = Character.forDigit(at / 2 % 36, 36) + "x".repeat(request.strings().get(at) - 1);
            http.header(name, "v".repeat(request.strings().get(at + 1)));
        }
        return http.build();
    }
}
