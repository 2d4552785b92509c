package obvia.web;

import java.nio.charset.StandardCharsets;
import java.util.List;
import obvia.Bytes;

/** Answers with the request: its first line, its headers and its body. */
public final class Echo implements IHandler {
    /** Creates the handler, for {@link Handlers}. */
    public Echo() {}

    @Override
    public Response handle(Request request) {
        StringBuilder head = new StringBuilder(request.method() + " " + request.path() + "\n");
        for (Header header : request.headers()) {
            head.append(header.name()).append(": ").append(header.value()).append('\n');
        }
        byte[] text = head.append('\n').toString().getBytes(StandardCharsets.UTF_8);
        byte[] body = request.body().toArray();
        byte[] answer = new byte[text.length + body.length];
        System.arraycopy(text, 0, answer, 0, text.length);
        System.arraycopy(body, 0, answer, text.length, body.length);
        return Response.of(200, List.of(Header.of("Content-Type", "text/plain; charset=utf-8")), Bytes.of(answer));
    }
}
