package obvia.web;

import java.io.BufferedWriter;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A trace of requests: their times, paths and sizes, without contents. docs/web.md specifies the
 * format.
 *
 * <p>Headers are represented by the lengths of their names and values. The headers of one client
 * are mostly the same, so each list of lengths is written once, and referred to by a number.
 */
final class Trace {
    private static final String FIRST = "web-trace 1";
    /** The maximum number of remembered lists of lengths. A further list replaces the oldest. */
    private static final int SHAPES = 4096;

    private static final long FILE_MAX = 64 << 20;
    private static final int STRINGS_MAX = 512;
    private static final int LENGTH_MAX = 1 << 16;
    private static final int PATH_MAX = 1 << 13;
    private static final int BODY_MAX = 1 << 24;
    private static final long PAUSE_MAX = 3_600_000_000L;

    private Trace() {}

    /**
     * A request.
     *
     * @param pause the microseconds since the previous one
     * @param strings the lengths of the names and values of headers, alternating
     * @param body the length of the body
     */
    record Request(long pause, String method, String path, List<Integer> strings, int body) {
        /** Returns the total size in bytes. */
        int bytes() {
            return method.length() + path.length() + body + strings.stream().mapToInt(Integer::intValue).sum();
        }
    }

    /** Reports a malformed line of a trace. */
    static final class FormatException extends IOException {
        private static final long serialVersionUID = 1;

        FormatException(int line, String message) {
            super("line " + line + ": " + message);
        }
    }

    /** Writes requests as they arrive. */
    static final class Writer implements AutoCloseable {
        private final BufferedWriter file;
        private final Map<List<Integer>, Integer> shapes = new HashMap<>();
        private final List<List<Integer>> order = new ArrayList<>();
        private int next;

        Writer(Path path) throws IOException {
            file = Files.newBufferedWriter(path, StandardCharsets.US_ASCII);
            file.write(FIRST + "\n");
        }

        void write(Request request) throws IOException {
            Integer shape = shapes.get(request.strings);
            if (shape == null) {
                shape = remember(request.strings);
                StringBuilder line = new StringBuilder("h");
                request.strings.forEach(length -> line.append(' ').append(length));
                file.write(line + "\n");
            }
            file.write("r " + request.pause + " " + request.method + " " + request.path + " " + shape + " " + request.body + "\n");
        }

        private int remember(List<Integer> strings) {
            int place = next++ % SHAPES;
            if (place < order.size()) {
                shapes.remove(order.set(place, strings));
            } else {
                order.add(strings);
            }
            shapes.put(strings, place);
            return place;
        }

        @Override
        public void close() throws IOException {
            file.close();
        }
    }

    /** Reads a trace. */
    static List<Request> read(Path path) throws IOException {
        if (Files.size(path) > FILE_MAX) {
            throw new FormatException(1, "a file of more than " + FILE_MAX + " bytes");
        }
        return parse(Files.readString(path, StandardCharsets.ISO_8859_1));
    }

    static List<Request> parse(String text) throws FormatException {
        List<Request> requests = new ArrayList<>();
        List<List<Integer>> shapes = new ArrayList<>();
        int shapesRead = 0;
        int number = 0;
        for (String line : (Iterable<String>) text.lines()::iterator) {
            number++;
            String[] words = line.split(" ", -1);
            if (number == 1) {
                if (!line.equals(FIRST)) {
                    throw new FormatException(1, "it is to be `" + FIRST + "`");
                }
            } else if (line.startsWith("h ") || line.equals("h")) {
                List<Integer> shape = shape(number, words);
                if (shapes.size() < SHAPES) {
                    shapes.add(shape);
                } else {
                    shapes.set(shapesRead % SHAPES, shape);
                }
                shapesRead++;
            } else if (line.startsWith("r ")) {
                requests.add(request(number, words, shapes));
            } else if (!line.isEmpty() && !line.startsWith("#")) {
                throw new FormatException(number, "it begins with `h`, `r` or `#`, or is empty");
            }
        }
        if (number == 0) {
            throw new FormatException(1, "the file is empty");
        }
        return requests;
    }

    private static List<Integer> shape(int line, String[] words) throws FormatException {
        if (words.length % 2 == 0 || words.length > STRINGS_MAX + 1) {
            throw new FormatException(line, "a name and a value to each header, and up to " + STRINGS_MAX / 2 + " headers");
        }
        List<Integer> lengths = new ArrayList<>();
        for (String word : Arrays.asList(words).subList(1, words.length)) {
            // A name has at least one character.
            lengths.add((int) number(line, word, lengths.size() % 2 == 0 ? 1 : 0, LENGTH_MAX));
        }
        return List.copyOf(lengths);
    }

    private static Request request(int line, String[] words, List<List<Integer>> shapes) throws FormatException {
        if (words.length != 6) {
            throw new FormatException(line, "a request has a pause, a method, a path, its headers' number and its body's length");
        }
        long pause = number(line, words[1], 0, PAUSE_MAX);
        if (!Http.isToken(words[2]) || words[2].length() > 32) {
            throw new FormatException(line, "`" + Log.quote(words[2]) + "` is no method");
        }
        if (!isPath(words[3])) {
            throw new FormatException(line, "`" + Log.quote(words[3]) + "` is no path");
        }
        if (shapes.isEmpty()) {
            throw new FormatException(line, "no headers have been named before");
        }
        List<Integer> strings = shapes.get((int) number(line, words[4], 0, shapes.size() - 1));
        return new Request(pause, words[2], words[3], strings, (int) number(line, words[5], 0, BODY_MAX));
    }

    /** Whether a text is the path of a URI. */
    static boolean isPath(String text) {
        try {
            return text.length() <= PATH_MAX && text.startsWith("/") && text.equals(new URI("http://host" + text).getRawPath());
        } catch (URISyntaxException e) {
            return false;
        }
    }

    private static long number(int line, String word, long least, long most) throws FormatException {
        if (!word.isEmpty() && word.length() <= 10 && word.chars().allMatch(digit -> digit >= '0' && digit <= '9')) {
            long number = Long.parseLong(word);
            if (number >= least && number <= most) {
                return number;
            }
        }
        throw new FormatException(line, "`" + Log.quote(word) + "` is no number from " + least + " to " + most);
    }
}
