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

/** Compiles IDL files to Java, and has the project compile what comes of it. A file is compiled again when it has changed, or anything that it was compiled with. */
@Mojo(name = "generate", defaultPhase = LifecyclePhase.GENERATE_SOURCES, threadSafe = true)
public final class GenerateMojo extends AbstractMojo {
    /** Where the IDL files are, in folders as one likes. */
    @Parameter(property = "obvia.sourceDirectory", defaultValue = "${project.basedir}/src/main/idl")
    File sourceDirectory;

    /** Where imported files are looked for, too. */
    @Parameter
    List<File> includeDirectories = List.of();

    /** The package of the classes; one of each file's name where nothing is said. Files that import one another need it. */
    @Parameter(property = "obvia.javaPackage")
    String javaPackage;

    /** Whether attributes that nobody knows are taken for warnings. */
    @Parameter(property = "obvia.permissive", defaultValue = "false")
    boolean permissive;

    /** Where the sources in Java are written. */
    @Parameter(property = "obvia.outputDirectory", defaultValue = "${project.build.directory}/generated-sources/obvia")
    File outputDirectory;

    /** The compiler, the command {@code obvia}; else what the variable {@code OBVIA_COMPILER} names, or what is on the path. */
    @Parameter(property = "obvia.compiler")
    File compiler;

    /** Whether nothing is to be done. */
    @Parameter(property = "obvia.skip", defaultValue = "false")
    boolean skip;

    /** Where it is remembered what was compiled with what. */
    @Parameter(defaultValue = "${project.build.directory}/obvia/${mojoExecution.executionId}", readonly = true)
    File memory;

    /** Whose sources these are. */
    @Parameter(defaultValue = "${project}", readonly = true, required = true)
    MavenProject project;

    /** Made by Maven. */
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
            throw new MojoExecutionException("interrupted while IDL was compiled", e);
        }
    }

    private void generate() throws IOException, InterruptedException, MojoExecutionException, MojoFailureException {
        List<Path> sources = filesIn(sourceDirectory.toPath(), ".idl");
        Path home = memory.toPath();
        Files.createDirectories(home);
        Map<Path, Note> before = new HashMap<>();
        for (Path at : filesIn(home, Note.ENDING)) {
            before.put(at, Note.read(at));
        }
        Map<Path, Note> after = new HashMap<>();
        int compiled = 0;
        // Looked for only where there is something to compile.
        Compiler found = sources.isEmpty() ? null : Compiler.find(compiler, outputDirectory.toPath(), options());
        for (Path source : sources) {
            String name = sourceDirectory.toPath().relativize(source).toString().replace(File.separatorChar, '+');
            Path at = home.resolve(name + Note.ENDING);
            Note note = before.getOrDefault(at, Note.NONE);
            if (!note.holds(found.identity())) {
                // Whatever goes wrong, it is compiled again.
                note.outdated().write(at);
                note = compile(found, source);
                compiled++;
            }
            after.put(at, note);
        }
        remember(before, after);
        if (compiled > 0) {
            getLog().info("Compiled " + compiled + " of " + sources.size() + " IDL files to " + outputDirectory);
        } else {
            getLog().info(sources.isEmpty() ? "There are no IDL files in " + sourceDirectory : "Nothing to compile: all IDL files are as they were");
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

    private Note compile(Compiler found, Path source) throws IOException, InterruptedException, MojoFailureException {
        Compiler.Result result = found.compile(source, memory.toPath());
        if (!result.isRight()) {
            getLog().error("\n" + result.said());
            throw new MojoFailureException(source + " could not be compiled: the compiler says above why");
        }
        if (!result.said().isEmpty()) {
            getLog().warn("\n" + result.said());
        }
        return Note.of(found.identity(), source, result.rule());
    }

    /** Removes what is not made any more. A class may have moved from one file to another, so this comes when all are compiled. */
    private static void remember(Map<Path, Note> before, Map<Path, Note> after) throws IOException {
        Set<Path> stale = new HashSet<>();
        before.values().forEach(note -> stale.addAll(note.written()));
        after.values().forEach(note -> stale.removeAll(note.written()));
        for (Path file : stale) {
            Files.deleteIfExists(file);
        }
        for (Map.Entry<Path, Note> note : after.entrySet()) {
            note.getValue().write(note.getKey());
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
