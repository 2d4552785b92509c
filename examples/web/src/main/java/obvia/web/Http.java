package obvia.web;

import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;

/** The rules of HTTP for methods and headers: RFC 9110. */
final class Http {
    /**
     * The headers that apply to a single connection, and are not forwarded. The length of a body is
     * among them, because it follows from the body.
     */
    private static final Set<String> OF_CONNECTION = Set.of(
            "connection", "content-length", "expect", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade");

    private Http() {}

    /** Whether a text is a valid method or name of a header. */
    static boolean isToken(String text) {
        return !text.isEmpty() && text.chars().allMatch(Http::isTokenLetter);
    }

    private static boolean isTokenLetter(int letter) {
        return letter >= 'a' && letter <= 'z' || letter >= 'A' && letter <= 'Z' || letter >= '0' && letter <= '9' || "!#$%&'*+-.^_`|~".indexOf(letter) >= 0;
    }

    /** Whether a text is a valid value of a header. */
    static boolean isValue(String text) {
        return text.chars().allMatch(letter -> letter == '\t' || letter >= ' ' && letter <= 0xff && letter != 0x7f);
    }

    /**
     * Returns the lower-case names of the headers that are not forwarded. {@code connection} are
     * the values of the header `Connection`.
     */
    static Set<String> ofConnection(Iterable<String> connection) {
        Set<String> names = new TreeSet<>(OF_CONNECTION);
        for (String value : connection) {
            for (String name : value.split(",")) {
                names.add(name.strip().toLowerCase(Locale.ROOT));
            }
        }
        return names;
    }

    /** Returns the reason phrase of a status. */
    static String words(int status) {
        return switch (status) {
            case 400 -> "Bad Request";
            case 404 -> "Not Found";
            case 413 -> "Content Too Large";
            case 431 -> "Request Header Fields Too Large";
            case 500 -> "Internal Server Error";
            case 502 -> "Bad Gateway";
            case 503 -> "Service Unavailable";
            case 504 -> "Gateway Timeout";
            default -> "Status " + status;
        };
    }
}
