package obvia.web;

import java.nio.charset.StandardCharsets;
import java.util.List;
import obvia.Bytes;

/** A handler that goes wrong in the way that the path says. */
public final class Faulty implements IHandler {
    private final String said;

    /** One that answers `fine` where nothing goes wrong. */
    public Faulty() throws InterruptedException {
        this("fine");
    }

    /** One that answers something; {@code late} takes some seconds until it can. */
    public Faulty(String said) throws InterruptedException {
        this.said = said;
        if (said.equals("late")) {
            Thread.sleep(4_000);
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
