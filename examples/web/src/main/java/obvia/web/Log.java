package obvia.web;

import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** Lines for whoever looks after the server, on standard error. */
final class Log {
    private Log() {}

    /** Writes a line, with the time before it. What others sent is to be {@link #quote quoted}. */
    static void say(String line, Object... values) {
        System.err.println(Instant.now().truncatedTo(ChronoUnit.MILLIS) + " " + line.formatted(values));
    }

    /** A text from elsewhere, without what would begin a new line or command a terminal. */
    static String quote(String text) {
        String some = text.length() <= 200 ? text : text.substring(0, 200) + "...";
        return some.chars().allMatch(letter -> letter >= ' ' && letter < 0x7f) ? some : some.replaceAll("[^ -~]", "?");
    }
}
