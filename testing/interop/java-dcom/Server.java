import java.io.BufferedReader;
import java.io.IOException;
import java.util.List;

/** The server process, which the program starts and ends. */
final class Server implements AutoCloseable {
    /** The time limit for references to be released. */
    private static final long LATEST_SECONDS = 60;

    private final Process process;
    private final BufferedReader lines;

    Server(List<String> command) throws IOException {
        process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        lines = process.inputReader();
        // The server prints each binding with its endpoint.
        for (var binding : command.stream().filter(word -> word.startsWith("ncacn_")).toList()) {
            if (lines.readLine() == null) {
                throw new IOException("the server has ended, and does not listen on " + binding);
            }
        }
    }

    /** Returns the number of objects. */
    int live() throws IOException {
        var input = process.outputWriter();
        input.write('\n');
        input.flush();
        return Integer.parseInt(lines.readLine());
    }

    /** Waits until the server has this number of objects. */
    void becomes(int expected) throws IOException, InterruptedException {
        becomes(expected, LATEST_SECONDS);
    }

    /** Waits until the server has this number of objects, at most this number of seconds. */
    void becomes(int expected, long seconds) throws IOException, InterruptedException {
        var end = System.nanoTime() + seconds * 1_000_000_000;
        while (live() != expected) {
            if (System.nanoTime() > end) {
                throw new AssertionError("expected " + expected + " objects, not " + live());
            }
            Thread.sleep(50);
        }
    }

    @Override
    public void close() {
        process.children().forEach(ProcessHandle::destroy);
        process.destroy();
        process.onExit().join();
    }
}
