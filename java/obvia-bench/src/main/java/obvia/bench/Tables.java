package obvia.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
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

/** Measures what the tables of docs/bench.md have of lists and of arrays, and writes them: {@code FOLDER [--quick]}. */
public final class Tables {
    private final Path folder;
    private final boolean isQuick;

    private Tables(Path folder, boolean isQuick) {
        this.folder = folder;
        this.isQuick = isQuick;
    }

    /** Rows by what is done, columns by what it is done to. */
    private static final class Table {
        private final Map<String, Map<String, Double>> rows = new LinkedHashMap<>();
        private final List<String> columns = new ArrayList<>();

        void put(String row, String column, double value) {
            rows.computeIfAbsent(row, _ -> new LinkedHashMap<>()).put(column, value);
            if (!columns.contains(column)) {
                columns.add(column);
            }
        }

        String markdown(String title) {
            StringBuilder text = new StringBuilder("\n## " + title + "\n\n| | " + String.join(" | ", columns) + " |\n|---|" + "---:|".repeat(columns.size()) + "\n");
            rows.forEach((row, cells) -> {
                text.append("| ").append(row);
                for (String column : columns) {
                    Double value = cells.get(column);
                    text.append(" | ").append(value == null ? "-" : String.format(Locale.ROOT, value < 10 ? "%.1f" : "%.0f", value));
                }
                text.append(" |\n");
            });
            return text.toString();
        }
    }

    private ChainedOptionsBuilder options(Class<?> benchmarks, String method) {
        ChainedOptionsBuilder options = new OptionsBuilder()
                .include("^" + benchmarks.getName().replace(".", "\\.") + "\\." + method + "$")
                .shouldFailOnError(true)
                .output(folder.resolve("jmh-" + benchmarks.getSimpleName() + "-" + method + ".txt").toString());
        if (isQuick) {
            TimeValue time = TimeValue.milliseconds(150);
            options.forks(1).warmupIterations(3).warmupTime(time).measurementIterations(3).measurementTime(time);
        }
        return options;
    }

    /** The median of the iterations: other programs disturb some of them. */
    private static double nanoseconds(RunResult result) {
        return result.getPrimaryResult().getStatistics().getPercentile(50);
    }

    private static List<RunResult> run(ChainedOptionsBuilder options) throws RunnerException {
        return List.copyOf(new Runner(options.build()).run());
    }

    private String lists() throws RunnerException, IOException {
        Table times = new Table();
        Table sizes = new Table();
        for (String method : List.of("marshal", "unmarshal", "walk")) {
            System.err.println("measuring lists: " + method);
            ChainedOptionsBuilder options = options(Lists.class, method);
            if (isQuick) {
                options.param("length", "100");
            }
            for (RunResult result : run(options)) {
                String shape = result.getParams().getParam("shape");
                int length = Integer.parseInt(result.getParams().getParam("length"));
                String by = result.getParams().getParam("by");
                String column = shape + " of " + length;
                times.put((method.equals("walk") ? "unmarshal, and walk" : method) + ": " + by, column, nanoseconds(result) / length);
                if (method.equals("marshal")) {
                    sizes.put(by, column, (double) Coder.of(by).write(Sample.list(shape, length)) / length);
                }
            }
        }
        return times.markdown("Table 3: lists, nanoseconds per element") + sizes.markdown("Bytes per element");
    }

    private String arrays() throws RunnerException, IOException {
        Table times = new Table();
        StringBuilder lines = new StringBuilder();
        for (Map.Entry<String, String> method : ARRAYS.entrySet()) {
            System.err.println("measuring arrays: " + method.getKey());
            ChainedOptionsBuilder options = options(ByteArrays.class, method.getKey());
            if (isQuick) {
                options.param("length", "10", "1000", "5000");
            }
            for (RunResult result : run(options)) {
                String length = result.getParams().getParam("length");
                String by = result.getParams().getParamsKeys().contains("by") ? ": " + result.getParams().getParam("by") : "";
                times.put(method.getValue() + by, length, nanoseconds(result));
                lines.append(method.getValue()).append(by).append(',').append(length).append(',').append(nanoseconds(result)).append('\n');
            }
        }
        Files.writeString(folder.resolve("arrays.csv"), lines);
        return times.markdown("Table 4: arrays of bytes, nanoseconds");
    }

    /** Methods of {@link ByteArrays}, and what they are called. */
    private static final Map<String, String> ARRAYS = new LinkedHashMap<>();

    static {
        ARRAYS.put("marshalCopy", "marshal, copied");
        ARRAYS.put("unmarshalCopy", "check, and a new array");
        ARRAYS.put("clone", "clone()");
        ARRAYS.put("memcpy", "memcpy");
        ARRAYS.put("marshal", "marshal");
        ARRAYS.put("unmarshal", "unmarshal");
    }

    /** The program. */
    public static void main(String[] words) throws Exception {
        List<String> arguments = new ArrayList<>(List.of(words));
        boolean isQuick = arguments.remove("--quick");
        if (arguments.size() != 1) {
            System.err.println("usage, by cargo xtask bench-jrpc: FOLDER [--quick]");
            System.exit(2);
        }
        // Nobody else's measurements are waited for.
        System.setProperty("jmh.ignoreLock", "true");
        Tables tables = new Tables(Path.of(arguments.getFirst()), isQuick);
        Files.createDirectories(tables.folder);
        Files.writeString(tables.folder.resolve("tables.md"), tables.lists() + tables.arrays());
    }
}
