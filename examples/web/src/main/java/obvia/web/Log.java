package obvia.web;

import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** The server's log, on standard error. */
final class Log {
    private Log() {}

    /** Writes a line with the current time. Texts from outside must be {@link #quote quoted}. */
    static void say(String line, Object... values) {
        System.err.println(Instant.now().truncatedTo(ChronoUnit.MILLIS) + " " + line.formatted(values));
    }

    /**
     * Returns a text from outside, shortened, with `?` in place of control characters and non-ASCII
     * letters.
     */
    static String quote(String text) {
        String some = text.length() <= 200 ? text : text.substring(0, 200) + "...";
        return some.chars().allMatch(letter -> letter >= ' ' && letter < 0x7f) ? some : some.replaceAll("[^ -~]", "?");
    }
}
