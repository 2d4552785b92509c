package obvia.maven;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The record of the compilation of an IDL file.
 *
 * @param by the compiler and its options
 * @param written the files that the compiler wrote
 * @param read the files that the compiler read, with digests of their content, or {@link #NOTHING}
 *     for a missing file
 */
record CompilationRecord(String by, List<Path> written, Map<Path, String> read) {
    /** The suffix of the names of files with records. */
    static final String ENDING = ".note";
    /** The record of a file that was never compiled. */
    static final CompilationRecord NONE = new CompilationRecord("", List.of(), Map.of());
    private static final String NOTHING = "-";

    private static final String BY = "by ";
    private static final String WROTE = "wrote ";
    private static final String READ = "read ";

    /**
     * Returns the record of a compiled file. {@code by} is the compiler with its options.
     * {@code rule} is the rule for make that the compiler wrote.
     */
    static CompilationRecord of(String by, Path source, String rule) throws IOException {
        List<String> words = words(rule);
        List<Path> written = new ArrayList<>();
        Map<Path, String> read = new LinkedHashMap<>();
        boolean isRead = false;
        for (String word : words) {
            boolean isLast = !isRead && word.endsWith(":");
            String name = isLast ? word.substring(0, word.length() - 1) : word;
            if (isRead) {
                read.put(Path.of(name), digest(Path.of(name)));
            } else if (!name.isEmpty()) {
                written.add(Path.of(name));
            }
            isRead |= isLast;
        }
        // The attribute file (.acf) is recorded even if it is missing. If the file appears later,
        // the IDL file is compiled again.
        Path side = source.resolveSibling(source.getFileName().toString().replaceFirst("\\.idl$", ".acf"));
        read.put(side, digest(side));
        return new CompilationRecord(by, written, read);
    }

    /**
     * Splits a rule into words. A backslash escapes a space or a number sign, and a dollar sign
     * escapes a dollar sign.
     */
    static List<String> words(String rule) {
        List<String> words = new ArrayList<>();
        StringBuilder word = new StringBuilder();
        for (int at = 0; at < rule.length(); at++) {
            char c = rule.charAt(at);
            char next = at + 1 < rule.length() ? rule.charAt(at + 1) : 0;
            if (c == '\\' && (next == ' ' || next == '#') || c == '$' && next == '$') {
                word.append(next);
                at++;
            } else if (c == ' ' || c == '\n') {
                if (!word.isEmpty()) {
                    words.add(word.toString());
                }
                word.setLength(0);
            } else {
                word.append(c);
            }
        }
        if (!word.isEmpty()) {
            words.add(word.toString());
        }
        return words;
    }

    /**
     * Whether the record is current: the compiler, its options and the files that it read are
     * unchanged, and all written files exist.
     */
    boolean holds(String by) throws IOException {
        if (!this.by.equals(by)) {
            return false;
        }
        for (Path file : written) {
            if (!Files.exists(file)) {
                return false;
            }
        }
        for (Map.Entry<Path, String> file : read.entrySet()) {
            if (!file.getValue().equals(digest(file.getKey()))) {
                return false;
            }
        }
        return true;
    }

    /**
     * Returns a record with the same written files that is never current, so that the file is
     * compiled again.
     */
    CompilationRecord outdated() {
        return new CompilationRecord("", written, Map.of());
    }

    void write(Path at) throws IOException {
        List<String> lines = new ArrayList<>(List.of(BY + by));
        written.forEach(file -> lines.add(WROTE + file));
        read.forEach((file, digest) -> lines.add(READ + digest + " " + file));
        Files.write(at, lines);
    }

    /** Reads a record. */
    static CompilationRecord read(Path at) throws IOException {
        String by = "";
        List<Path> written = new ArrayList<>();
        Map<Path, String> read = new LinkedHashMap<>();
        for (String line : Files.readAllLines(at)) {
            if (line.startsWith(BY)) {
                by = line.substring(BY.length());
            } else if (line.startsWith(WROTE)) {
                written.add(Path.of(line.substring(WROTE.length())));
            } else if (line.startsWith(READ)) {
                String[] digestAndFile = line.substring(READ.length()).split(" ", 2);
                read.put(Path.of(digestAndFile[1]), digestAndFile[0]);
            }
        }
        return new CompilationRecord(by, written, read);
    }

    private static String digest(Path file) throws IOException {
        if (!Files.exists(file)) {
            return NOTHING;
        }
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file)));
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every JDK has SHA-256", e);
        }
    }
}
