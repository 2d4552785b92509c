package obvia.maven;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.maven.plugin.MojoExecutionException;

/** The IDL compiler: the command {@code obvia}. */
final class Compiler {
    private static final String VARIABLE = "OBVIA_COMPILER";
    private static final String HOW = ". Install it by `cargo install --path crates/cli` in a checkout of obvia, or set its path by -Dobvia.compiler=FILE or the variable " + VARIABLE
            + " if it is not on the PATH";
    /** The time limit for a file in seconds, after which the compiler counts as stuck. */
    private static final long SECONDS_MAX = 120;

    private final Path program;
    private final List<String> words;

    private Compiler(Path program, List<String> words) {
        this.program = program;
        this.words = words;
    }

    /**
     * The result of a compilation.
     *
     * @param isRight whether the compilation succeeded
     * @param said the compiler's errors and warnings
     * @param rule the written files and their dependencies, as a rule for make
     */
    record Result(boolean isRight, String said, String rule) {}

    /**
     * Returns the named compiler, or else the compiler that the environment variable
     * {@link #VARIABLE} names, or else `obvia` on the PATH.
     */
    static Compiler find(File named, Path output, List<String> options) throws MojoExecutionException {
        List<String> words = new ArrayList<>(List.of("idl", "--language", "java", "--out", output.toString()));
        words.addAll(options);
        return new Compiler(program(named, System.getenv(VARIABLE), System.getenv("PATH")), words);
    }

    static Path program(File named, String variable, String path) throws MojoExecutionException {
        if (named != null) {
            return checked(named.toPath(), "obvia.compiler");
        }
        if (variable != null && !variable.isEmpty()) {
            return checked(Path.of(variable), VARIABLE);
        }
        for (String folder : (path == null ? "" : path).split(File.pathSeparator)) {
            Path program = Path.of(folder, "obvia");
            if (!folder.isEmpty() && isProgram(program)) {
                return program;
            }
        }
        throw new MojoExecutionException("The IDL compiler is missing: there is no `obvia` on the PATH" + HOW);
    }

    private static Path checked(Path program, String by) throws MojoExecutionException {
        if (!isProgram(program)) {
            throw new MojoExecutionException("The IDL compiler is missing: " + by + " names " + program + ", which is not a program" + HOW);
        }
        return program;
    }

    private static boolean isProgram(Path path) {
        return Files.isRegularFile(path) && Files.isExecutable(path);
    }

    /** Returns the identity of the compiler, and its options: the output depends on both. */
    String identity() throws IOException {
        return String.join(" ", words) + " by " + program + " of " + Files.getLastModifiedTime(program) + ", " + Files.size(program) + " bytes";
    }

    /** Compiles a file; {@code folder} is for temporary files. */
    Result compile(Path source, Path folder) throws IOException, InterruptedException {
        Path said = folder.resolve("said");
        Path rule = folder.resolve("rule");
        List<String> line = new ArrayList<>(List.of(program.toString()));
        line.addAll(words);
        line.addAll(List.of("--depfile", rule.toString(), source.toString()));
        Process process = new ProcessBuilder(line).redirectErrorStream(true).redirectOutput(said.toFile()).start();
        process.getOutputStream().close();
        if (!process.waitFor(SECONDS_MAX, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new IOException(program + " did not end with " + source + " in " + SECONDS_MAX + " seconds");
        }
        boolean isRight = process.exitValue() == 0;
        Result result = new Result(isRight, Files.readString(said).strip(), isRight ? Files.readString(rule) : "");
        Files.deleteIfExists(said);
        Files.deleteIfExists(rule);
        return result;
    }
}
