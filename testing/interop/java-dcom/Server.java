import java.io.BufferedReader;
import java.io.IOException;
import java.util.List;

/** The server, which is started for this and ended after it. */
final class Server implements AutoCloseable {
    /** How long it may take until what ends by itself is seen to have ended. */
    private static final long LATEST_SECONDS = 60;

    private final Process process;
    private final BufferedReader lines;

    Server(List<String> command) throws IOException {
        process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        lines = process.inputReader();
        // It says each binding with the endpoint that it took.
        for (var binding : command.stream().filter(word -> word.startsWith("ncacn_")).toList()) {
            if (lines.readLine() == null) {
                throw new IOException("the server has ended, and does not listen on " + binding);
            }
        }
    }

    /** How many objects there are. */
    int live() throws IOException {
        var input = process.outputWriter();
        input.write('\n');
        input.flush();
        return Integer.parseInt(lines.readLine());
    }

    /** Waits until there are so many objects. */
    void becomes(int expected) throws IOException, InterruptedException {
        var end = System.nanoTime() + LATEST_SECONDS * 1_000_000_000;
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
