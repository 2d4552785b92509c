package obvia.web;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import obvia.Bytes;

/**
 * A handler that fails in the way that the request's path names.
 *
 * <p>A handler with the argument {@code in FOLDER} is blocked by files: its construction waits
 * while {@code FOLDER/closed} exists, and {@code /PREFIX/hold/NAME} is answered when
 * {@code FOLDER/open} exists. A blocked request creates {@code FOLDER/NAME}.
 */
public final class Faulty implements IHandler {
    private final String said;
    private final Path folder;

    /** Creates a handler that answers `fine` unless it fails. */
    public Faulty() throws InterruptedException {
        this("fine");
    }

    /** Creates a handler that gives the answer {@code said} unless it fails. */
    public Faulty(String said) throws InterruptedException {
        this.said = said;
        folder = said.startsWith("in ") ? Path.of(said.substring(3)) : null;
        while (folder != null && Files.exists(folder.resolve("closed"))) {
            Thread.sleep(10);
        }
    }

    private void hold(String name) throws InterruptedException {
        try {
            Files.createFile(folder.resolve(name));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        while (!Files.exists(folder.resolve("open"))) {
            Thread.sleep(10);
        }
    }

    private Response text(List<Header> headers) {
        return Response.of(200, headers, Bytes.of(said.getBytes(StandardCharsets.UTF_8)));
    }

    @Override
    public Response handle(Request request) {
        String[] words = request.path().split("/");
        switch (words.length > 2 ? words[2] : "") {
            case "sleep" -> {
                try {
                    Thread.sleep(Integer.parseInt(words[3]));
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }
            case "hold" -> {
                try {
                    hold(words[3]);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }
            case "throw" -> throw new IllegalStateException("on purpose");
            case "die" -> Runtime.getRuntime().halt(3);
            case "split" -> {
                return text(List.of(Header.of("X-A", "b\r\nX-C: d")));
            }
            case "nothing" -> {
                return null;
            }
            default -> {}
        }
        return text(List.of());
    }
}
