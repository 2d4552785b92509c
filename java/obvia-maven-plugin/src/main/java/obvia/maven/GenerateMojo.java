package obvia.maven;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.maven.plugin.AbstractMojo;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import org.apache.maven.project.MavenProject;

/**
 * Compiles IDL files to Java and adds the output to the project's sources. A file is compiled again
 * when the file, a dependency, the compiler or an option has changed.
 */
@Mojo(name = "generate", defaultPhase = LifecyclePhase.GENERATE_SOURCES, threadSafe = true)
public final class GenerateMojo extends AbstractMojo {
    /** The folder of the IDL files, including its subfolders. */
    @Parameter(property = "obvia.sourceDirectory", defaultValue = "${project.basedir}/src/main/idl")
    File sourceDirectory;

    /** Further folders of imported files. */
    @Parameter
    List<File> includeDirectories = List.of();

    /**
     * The package of the classes; by default, each file has a package with its name. Files that
     * import one another need a common package.
     */
    @Parameter(property = "obvia.javaPackage")
    String javaPackage;

    /** Whether declarations that only other compilers accept cause warnings instead of errors. */
    @Parameter(property = "obvia.permissive", defaultValue = "false")
    boolean permissive;

    /** The folder of the Java sources. */
    @Parameter(property = "obvia.outputDirectory", defaultValue = "${project.build.directory}/generated-sources/obvia")
    File outputDirectory;

    /**
     * The compiler, the command {@code obvia}; by default the value of the variable
     * {@code OBVIA_COMPILER}, or the command on the path.
     */
    @Parameter(property = "obvia.compiler")
    File compiler;

    /** Whether to skip the execution. */
    @Parameter(property = "obvia.skip", defaultValue = "false")
    boolean skip;

    /** The folder of the records of earlier compilations. */
    @Parameter(defaultValue = "${project.build.directory}/obvia/${mojoExecution.executionId}", readonly = true)
    File memory;

    /** The project that compiles the sources. */
    @Parameter(defaultValue = "${project}", readonly = true, required = true)
    MavenProject project;

    /** Creates the goal. Maven calls this constructor. */
    public GenerateMojo() {}

    @Override
    public void execute() throws MojoExecutionException, MojoFailureException {
        if (skip) {
            return;
        }
        try {
            generate();
        } catch (IOException e) {
            throw new MojoExecutionException(e.toString(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new MojoExecutionException("interrupted during the compilation of IDL", e);
        }
    }

    private void generate() throws IOException, InterruptedException, MojoExecutionException, MojoFailureException {
        List<Path> sources = filesIn(sourceDirectory.toPath(), ".idl");
        Path home = memory.toPath();
        Files.createDirectories(home);
        Map<Path, CompilationRecord> before = new HashMap<>();
        for (Path at : filesIn(home, CompilationRecord.ENDING)) {
            before.put(at, CompilationRecord.read(at));
        }
        Map<Path, CompilationRecord> after = new HashMap<>();
        int compiled = 0;
        // The plugin looks for the compiler only if there are files to compile.
        Compiler found = sources.isEmpty() ? null : Compiler.find(compiler, outputDirectory.toPath(), options());
        for (Path source : sources) {
            String name = sourceDirectory.toPath().relativize(source).toString().replace(File.separatorChar, '+');
            Path at = home.resolve(name + CompilationRecord.ENDING);
            CompilationRecord known = before.getOrDefault(at, CompilationRecord.NONE);
            if (!known.holds(found.identity())) {
                // The record is outdated until the compilation succeeds, so that any failure causes
                // another compilation.
                known.outdated().write(at);
                known = compile(found, source);
                compiled++;
            }
            after.put(at, known);
        }
        remember(before, after);
        if (compiled > 0) {
            getLog().info("Compiled " + compiled + " of " + sources.size() + " IDL files to " + outputDirectory);
        } else {
            getLog().info(sources.isEmpty() ? "There are no IDL files in " + sourceDirectory : "Nothing to compile: no IDL file has changed");
        }
        project.addCompileSourceRoot(outputDirectory.getPath());
    }

    private List<String> options() {
        List<String> options = new ArrayList<>();
        if (javaPackage != null && !javaPackage.isEmpty()) {
            options.addAll(List.of("--java-package", javaPackage));
        }
        if (permissive) {
            options.add("--permissive");
        }
        for (File directory : includeDirectories) {
            options.addAll(List.of("--include", directory.getPath()));
        }
        return options;
    }

    private CompilationRecord compile(Compiler found, Path source) throws IOException, InterruptedException, MojoFailureException {
        Compiler.Result result = found.compile(source, memory.toPath());
        if (!result.isRight()) {
            getLog().error("\n" + result.said());
            throw new MojoFailureException(source + " could not be compiled: see the compiler's messages above");
        }
        if (!result.said().isEmpty()) {
            getLog().warn("\n" + result.said());
        }
        return CompilationRecord.of(found.identity(), source, result.rule());
    }

    /**
     * Removes files that are not generated any more. A class may have moved from one file to
     * another, so the removal follows all compilations.
     */
    private static void remember(Map<Path, CompilationRecord> before, Map<Path, CompilationRecord> after) throws IOException {
        Set<Path> stale = new HashSet<>();
        before.values().forEach(known -> stale.addAll(known.written()));
        after.values().forEach(known -> stale.removeAll(known.written()));
        for (Path file : stale) {
            Files.deleteIfExists(file);
        }
        for (Map.Entry<Path, CompilationRecord> known : after.entrySet()) {
            known.getValue().write(known.getKey());
        }
        for (Path at : before.keySet()) {
            if (!after.containsKey(at)) {
                Files.delete(at);
            }
        }
    }

    private static List<Path> filesIn(Path directory, String ending) throws IOException {
        if (!Files.isDirectory(directory)) {
            return List.of();
        }
        try (Stream<Path> all = Files.walk(directory)) {
            return all.filter(path -> path.toString().endsWith(ending) && Files.isRegularFile(path)).sorted().toList();
        }
    }
}
