package obvia.web;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** Writes a {@link Trace} of requests in the order of their arrival. */
final class Recorder implements AutoCloseable {
    /** The headers that the client of a replay sends by itself. */
    private static final Set<String> OF_CLIENT = Set.of("host", "user-agent");

    private Trace.Writer trace;
    private long before;
    private boolean isFirst = true;

    Recorder(Path path) throws IOException {
        trace = new Trace.Writer(path);
    }

    /** Records a request, without its query. */
    synchronized void record(String method, String path, List<Header> headers, int body) {
        if (trace == null) {
            return;
        }
        long now = System.nanoTime();
        List<Integer> strings = new ArrayList<>();
        for (Header header : headers) {
            if (!OF_CLIENT.contains(header.name().toLowerCase(Locale.ROOT))) {
                strings.add(header.name().length());
                strings.add(header.value().length());
            }
        }
        long pause = isFirst ? 0 : (now - before) / 1000;
        try {
            trace.write(new Trace.Request(pause, method, path, List.copyOf(strings), body));
        } catch (IOException e) {
            Log.say("recording ends: %s", e);
            close();
        }
        // Fractions of a microsecond carry over to the next pause.
        before = isFirst ? now : before + pause * 1000;
        isFirst = false;
    }

    @Override
    public synchronized void close() {
        if (trace == null) {
            return;
        }
        try {
            trace.close();
        } catch (IOException e) {
            Log.say("the end of the trace is not written: %s", e);
        }
        trace = null;
    }
}
