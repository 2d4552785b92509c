package obvia.web;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import obvia.Bytes;

/** A site of generated pages. The same path always has the same page. */
public final class Pages implements IHandler {
    private static final String[] WORDS = {"call", "frame", "host", "line", "object", "page", "peer", "reply", "segment", "wire"};
    private static final int WORDS_MAX = 400;

    private final String title;

    /** Creates a site with the default title, for {@link Handlers}. */
    public Pages() {
        this("pages");
    }

    /** Creates a site with a title. */
    public Pages(String title) {
        this.title = title;
    }

    @Override
    public Response handle(Request request) {
        Random random = new Random(request.path().hashCode());
        StringBuilder page = new StringBuilder("<!DOCTYPE html>\n<title>" + title + "</title>\n<p>");
        for (int word = 20 + random.nextInt(WORDS_MAX); word > 0; word--) {
            page.append(WORDS[random.nextInt(WORDS.length)]).append(word % 12 == 0 ? "\n" : " ");
        }
        Bytes body = Bytes.of(page.append("</p>\n").toString().getBytes(StandardCharsets.UTF_8));
        return Response.of(200, List.of(Header.of("Content-Type", "text/html; charset=utf-8")), body);
    }
}
