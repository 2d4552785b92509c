package obvia.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

/**
 * Measures the lists and arrays in the tables of docs/bench.md, and writes the tables:
 * {@code FOLDER [--quick]}.
 */
public final class Tables {
    private static final String COLLECTED = "-Dobvia.views=collected";
    private static final String STRICT = "-Dobvia.scope=strict";

    private static final List<Rows> LISTS = List.of(
            new Rows("marshal", "marshal"),
            new Rows("unmarshal", "unmarshal"),
            new Rows("walk", "unmarshal, look at each"),
            new Rows("build", "unmarshal to objects", List.of("tree", "graph")),
            new Rows("unmarshal", "unmarshal, views of the collector's", List.of("tree"), COLLECTED),
            new Rows("walk", "unmarshal, look at each, views of the collector's", List.of("tree"), COLLECTED),
            new Rows("unmarshal", "unmarshal, strict scope", List.of("tree"), STRICT),
            new Rows("walk", "unmarshal, look at each, strict scope", List.of("tree"), STRICT));

    private static final List<Rows> ARRAYS = List.of(
            new Rows("marshalCopy", "marshal"),
            new Rows("marshalStructure", "marshal in a structure"),
            new Rows("unmarshalView", "check, and view"),
            new Rows("unmarshalView", "check, and view of the collector's", List.of(), COLLECTED),
            new Rows("unmarshalCopy", "check, and new array"),
            new Rows("unmarshalViewCopy", "check, and new array of the view"),
            new Rows("clone", "clone()"),
            new Rows("memcpy", "memcpy"),
            new Rows("marshal", "marshal"),
            new Rows("unmarshal", "unmarshal"));

    private final Path folder;
    private final boolean isQuick;

    private Tables(Path folder, boolean isQuick) {
        this.folder = folder;
        this.isQuick = isQuick;
    }

    /**
     * The rows of a table for a measured method.
     *
     * @param words the name of the rows
     * @param by the encodings; all if empty
     * @param options the options of the virtual machine
     */
    private record Rows(String method, String words, List<String> by, String... options) {
        Rows(String method, String words) {
            this(method, words, List.of());
        }
    }

    /** A table with the operations as rows and their subjects as columns. */
    private static final class Table {
        private final Map<String, Map<String, Double>> rows = new LinkedHashMap<>();
        private final List<String> columns = new ArrayList<>();

        void put(String row, String column, double value) {
            rows.computeIfAbsent(row, _ -> new LinkedHashMap<>()).put(column, value);
            if (!columns.contains(column)) {
                columns.add(column);
            }
        }

        /** Returns the ratio of two rows' times, in each column that both have. */
        String ratios(String row, String other) {
            StringBuilder text = new StringBuilder("\n" + row + " / " + other + ":");
            for (String column : columns) {
                Double above = rows.get(row).get(column);
                Double below = rows.get(other).get(column);
                if (above != null && below != null) {
                    text.append(String.format(Locale.ROOT, " %.1f (%s)", above / below, column));
                }
            }
            return text.append('\n').toString();
        }

        String markdown(String title) {
            StringBuilder text = new StringBuilder("\n## " + title + "\n\n| | " + String.join(" | ", columns) + " |\n|---|" + "---:|".repeat(columns.size()) + "\n");
            rows.forEach((row, cells) -> {
                text.append("| ").append(row);
                for (String column : columns) {
                    Double value = cells.get(column);
                    text.append(" | ").append(value == null ? "-" : String.format(Locale.ROOT, value < 100 ? "%.1f" : "%.0f", value));
                }
                text.append(" |\n");
            });
            return text.toString();
        }
    }

    private Collection<RunResult> run(Class<?> benchmarks, Rows rows, String... lengths) throws RunnerException {
        System.err.println("measuring " + benchmarks.getSimpleName() + ": " + rows.words());
        ChainedOptionsBuilder options = new OptionsBuilder()
                .include("^" + benchmarks.getName().replace(".", "\\.") + "\\." + rows.method() + "$")
                .shouldFailOnError(true)
                .output(folder.resolve(benchmarks.getSimpleName() + ", " + rows.words() + ".txt").toString())
                .jvmArgs(rows.options());
        if (isQuick) {
            TimeValue time = TimeValue.milliseconds(200);
            options.forks(1).warmupIterations(5).warmupTime(time).measurementIterations(3).measurementTime(time).param("length", lengths);
        }
        if (!rows.by().isEmpty()) {
            options.param("by", rows.by().toArray(String[]::new));
        }
        return new Runner(options.build()).run();
    }

    /** Returns the median of the iterations, because other programs disturb some of them. */
    private static double nanoseconds(RunResult result) {
        return result.getPrimaryResult().getStatistics().getPercentile(50);
    }

    private static String parameter(RunResult result, String name) {
        return result.getParams().getParamsKeys().contains(name) ? result.getParams().getParam(name) : "";
    }

    private static String row(Rows rows, RunResult result) {
        String by = parameter(result, "by");
        return by.isEmpty() ? rows.words() : rows.words() + ": " + by;
    }

    private String lists() throws RunnerException, IOException {
        Table times = new Table();
        Table sizes = new Table();
        for (Rows rows : LISTS) {
            for (RunResult result : run(Lists.class, rows, "100")) {
                String shape = parameter(result, "shape");
                int length = Integer.parseInt(parameter(result, "length"));
                String column = shape + " of " + length;
                times.put(row(rows, result), column, nanoseconds(result) / length);
                if (rows.method().equals("marshal")) {
                    Coder coder = Coder.of(parameter(result, "by"), shape);
                    sizes.put(parameter(result, "by"), column, (double) coder.write(coder.list(shape, length)) / length);
                }
            }
        }
        return times.markdown("Table 3: lists, nanoseconds per element") + times.ratios("marshal: fory", "marshal: tree")
                + times.ratios("marshal: fory-references", "marshal: graph") + times.ratios("unmarshal: fory", "unmarshal, look at each: tree") + sizes.markdown("Bytes per element");
    }

    private String arrays() throws RunnerException, IOException {
        Table times = new Table();
        StringBuilder lines = new StringBuilder();
        for (Rows rows : ARRAYS) {
            for (RunResult result : run(ByteArrays.class, rows, "10", "1000", "5000")) {
                String length = parameter(result, "length");
                times.put(row(rows, result), length, nanoseconds(result));
                lines.append(row(rows, result)).append(',').append(length).append(',').append(nanoseconds(result)).append('\n');
            }
        }
        Files.writeString(folder.resolve("arrays.csv"), lines);
        return times.markdown("Table 4: arrays of bytes, nanoseconds") + times.ratios("check, and new array", "check, and view");
    }

    /** Runs the program. */
    public static void main(String[] words) throws Exception {
        List<String> arguments = new ArrayList<>(List.of(words));
        boolean isQuick = arguments.remove("--quick");
        if (arguments.size() != 1) {
            System.err.println("usage, by cargo xtask bench-jrpc: FOLDER [--quick]");
            System.exit(2);
        }
        // JMH has one lock for all users of a machine: another user's measurement must not block
        // this measurement.
        System.setProperty("jmh.ignoreLock", "true");
        Tables tables = new Tables(Path.of(arguments.getFirst()), isQuick);
        Files.createDirectories(tables.folder);
        Files.writeString(tables.folder.resolve("tables.md"), tables.lists() + tables.arrays());
    }
}
