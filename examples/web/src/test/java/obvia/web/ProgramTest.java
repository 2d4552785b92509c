package obvia.web;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(180)
class ProgramTest {
    @TempDir
    Path folder;

    private static ProcessBuilder program(String... arguments) {
        List<String> words = new ArrayList<>(List.of(ProcessHandle.current().info().command().orElse("java")));
        words.addAll(Site.OPTIONS);
        words.addAll(List.of("-cp", System.getProperty("java.class.path"), Web.class.getName()));
        words.addAll(List.of(arguments));
        return new ProcessBuilder(words).redirectErrorStream(true);
    }

    /** Returns the output of a command, whose exit code must be {@code status}. */
    private static String said(int status, String... arguments) throws Exception {
        Process process = program(arguments).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(status, process.waitFor(), said);
        return said;
    }

    @Test
    void helpIsShownAndInvalidArgumentsAreRefused() throws Exception {
        assertTrue(said(0, "--help").startsWith("usage: web COMMAND"));
        assertTrue(said(2, "serve", "--prot", "1").contains("there is no option --prot"));
        assertTrue(said(2, "serve", "--listen", "80x").contains("not HOST:PORT"));
        assertTrue(said(1, "replay", folder.resolve("none").toString()).startsWith("web replay: "));
        assertTrue(said(1, "routes", "--name", "web-none-" + ProcessHandle.current().pid()).startsWith("web routes: "));
    }

    @Test
    void theProgramStartsChangesLoadsAndEndsAServer() throws Exception {
        String name = "web-test-" + ProcessHandle.current().pid();
        Path trace = folder.resolve("some.trace");
        Process server = program("serve", "--listen", "127.0.0.1:0", "--name", name, "--record", trace.toString(), "--route", "/=pages", "--deadline", "60").start();
        try (BufferedReader log = server.inputReader()) {
            String uri = awaited(log, "serving ").split("serving ")[1];
            assertTrue(said(0, "load", "--to", uri, "--requests", "50", "--rate", "500").contains("by status {200=50}"));
            said(0, "route", "/pages", "recent", "--name", name);
            said(0, "replace", "/", "echo", "--name", name);
            String routes = said(0, "routes", "--name", name);
            assertTrue(routes.matches("(?s)/pages recent, handler 2 .*\n/ echo, handler 1 .*\n"), routes);
            assertTrue(said(0, "load", "--to", uri, "--requests", "50", "--rate", "500").contains("by status {200=50}"));
            var handlers = server.descendants().toList();
            assertEquals(2, handlers.size());
            server.destroy();
            assertTrue(server.waitFor(60, TimeUnit.SECONDS));
            for (ProcessHandle handler : handlers) {
                handler.onExit().get(60, TimeUnit.SECONDS);
            }
        } finally {
            server.destroyForcibly();
        }
        assertEquals(100, Trace.read(trace).size());
        assertEquals("web-trace 1", Files.readAllLines(trace).getFirst());
    }

    private static String awaited(BufferedReader log, String words) throws IOException {
        StringBuilder said = new StringBuilder();
        for (String line = log.readLine(); line != null; line = log.readLine()) {
            said.append(line).append('\n');
            if (line.contains(words)) {
                return line;
            }
        }
        throw new IOException("the server ended, and said\n" + said);
    }
}
