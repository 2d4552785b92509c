package obvia.web;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import obvia.Bytes;
import obvia.Retained;

/**
 * Keeps the last request for each of the most recently requested paths, in the form in which it was
 * received. Answers with the content of the previous request for the path.
 *
 * <p>Requests are {@linkplain Request#retain retained}, and closed when other requests replace
 * them. With {@code -Dobvia.views=collected} they are not closed, and the garbage collector
 * releases them.
 */
public final class Recent implements IHandler, AutoCloseable {
    private static final boolean IS_COLLECTED = "collected".equals(System.getProperty("obvia.views"));
    private static final int PATHS = 500;

    private final int paths;
    // The least recently requested path is the first.
    private final LinkedHashMap<String, Retained<Request>> kept = new LinkedHashMap<>(16, 0.75f, true);

    /** Creates a handler for the default number of paths, for {@link Handlers}. */
    public Recent() {
        this(String.valueOf(PATHS));
    }

    /** Creates a handler that keeps a request for each of {@code paths} paths. */
    public Recent(String paths) {
        this.paths = Integer.parseInt(paths);
    }

    @Override
    public synchronized Response handle(Request request) {
        Retained<Request> before = kept.put(request.path(), request.retain());
        String said = before == null ? "nobody asked before" : text(before.get());
        if (before != null) {
            letGo(before);
        } else if (kept.size() > paths) {
            letGo(kept.pollFirstEntry().getValue());
        }
        Bytes body = Bytes.of((said + "\n").getBytes(StandardCharsets.UTF_8));
        return Response.of(200, List.of(Header.of("Content-Type", "text/plain; charset=utf-8")), body);
    }

    private static String text(Request request) {
        int bytes = 0;
        for (Header header : request.headers()) {
            bytes += header.name().length() + header.value().length();
        }
        return "%s before, with %d headers of %d bytes and a body of %d".formatted(request.method(), request.headers().size(), bytes, request.body().size());
    }

    private static void letGo(Retained<Request> request) {
        if (!IS_COLLECTED) {
            request.close();
        }
    }

    /** Releases all requests. */
    @Override
    public synchronized void close() {
        kept.values().forEach(Recent::letGo);
        kept.clear();
    }
}
