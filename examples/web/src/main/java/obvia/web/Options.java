package obvia.web;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The words of a command line: plain words, and options, each with a value. */
final class Options {
    private final List<String> words = new ArrayList<>();
    private final Map<String, List<String>> values = new TreeMap<>();

    /** Signals an invalid command line. */
    static final class UsageException extends RuntimeException {
        private static final long serialVersionUID = 1;

        UsageException(String message) {
            super(message);
        }
    }

    Options(List<String> arguments) {
        for (int at = 0; at < arguments.size(); at++) {
            String argument = arguments.get(at);
            if (!argument.startsWith("--")) {
                words.add(argument);
            } else if (at + 1 < arguments.size()) {
                values.computeIfAbsent(argument, name -> new ArrayList<>()).add(arguments.get(++at));
            } else {
                throw new UsageException(argument + " needs a value");
            }
        }
    }

    /** Whether a plain word is left. */
    boolean hasWord() {
        return !words.isEmpty();
    }

    /** Returns the next plain word. */
    String word(String what) {
        if (words.isEmpty()) {
            throw new UsageException(what + " is missing");
        }
        return words.removeFirst();
    }

    /** Returns all values of an option. */
    List<String> all(String name) {
        List<String> all = values.remove(name);
        return all == null ? List.of() : all;
    }

    /** Returns the value of an option that must not be repeated, or the default. */
    String text(String name, String otherwise) {
        List<String> all = all(name);
        if (all.size() > 1) {
            throw new UsageException(name + " is given twice");
        }
        return all.isEmpty() ? otherwise : all.getFirst();
    }

    /**
     * Returns the integer value of an option, from {@code least} to {@code most}, or the default.
     */
    int number(String name, int otherwise, int least, int most) {
        return (int) real(name, otherwise, least, most);
    }

    /** Returns the value of an option, from {@code least} to {@code most}, or the default. */
    double real(String name, double otherwise, double least, double most) {
        String text = text(name, null);
        if (text == null) {
            return otherwise;
        }
        try {
            double value = Double.parseDouble(text);
            if (value >= least && value <= most) {
                return value;
            }
        } catch (NumberFormatException e) {
            // The exception below reports the invalid number.
        }
        throw new UsageException("%s must be a number from %s to %s, not `%s`".formatted(name, least, most, text));
    }

    /** Checks that no word or option is left over. */
    void end() {
        if (!words.isEmpty()) {
            throw new UsageException("`" + words.getFirst() + "` is an unexpected argument");
        }
        if (!values.isEmpty()) {
            throw new UsageException("there is no option " + values.keySet().iterator().next());
        }
    }
}
