package obvia.maven;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugin.logging.SystemStreamLog;
import org.apache.maven.project.MavenProject;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests which files are compiled again, with a compiler that generates a class for each line of a
 * file.
 */
class GenerateMojoTest {
    private static final String COMPILER = """
            #!/bin/sh
            while [ $# -gt 1 ]; do
                case $1 in
                    --out) out=$2; shift ;;
                    --depfile) rule=$2; shift ;;
                    --java-package) package=$2; shift ;;
                esac
                shift
            done
            echo "$1" >> "$(dirname "$0")/runs"
            if grep -q wrong "$1"; then echo "$1:1: error: it is wrong" >&2; exit 1; fi
            mkdir -p "$out/$package"
            written=
            while read -r name; do
                echo "class $name {}" > "$out/$package/$name.java"
                written="$written $(echo "$out/$package/$name.java" | sed 's/ /\\\\ /g')"
            done < "$1"
            echo "$written: $(echo "$1" | sed 's/ /\\\\ /g')" > "$rule"
            """;

    @TempDir
    Path folder;

    private final List<String> errors = new ArrayList<>();

    @BeforeEach
    void makeCompiler() throws IOException {
        Files.writeString(folder.resolve("obvia"), COMPILER);
        Files.setPosixFilePermissions(folder.resolve("obvia"), PosixFilePermissions.fromString("rwx------"));
        // The name contains a character that rules escape.
        Files.createDirectories(folder.resolve("idl files/deep"));
        Files.writeString(folder.resolve("idl files/a.idl"), "A\nB\n");
        Files.writeString(folder.resolve("idl files/deep/c.idl"), "C\n");
    }

    private GenerateMojo mojo() {
        GenerateMojo mojo = new GenerateMojo();
        mojo.sourceDirectory = folder.resolve("idl files").toFile();
        mojo.outputDirectory = folder.resolve("target/generated sources").toFile();
        mojo.memory = folder.resolve("target/obvia").toFile();
        mojo.compiler = folder.resolve("obvia").toFile();
        mojo.project = new MavenProject();
        mojo.setLog(new SystemStreamLog() {
            @Override
            public void info(CharSequence text) {}

            @Override
            public void error(CharSequence text) {
                errors.add(text.toString());
            }
        });
        return mojo;
    }

    /** Builds the project and returns the names of the compiled files. */
    private List<String> build() throws Exception {
        return build(mojo());
    }

    private List<String> build(GenerateMojo mojo) throws Exception {
        Path runs = folder.resolve("runs");
        Files.writeString(runs, "");
        mojo.execute();
        List<String> compiled = Files.readAllLines(runs);
        return compiled.stream().map(path -> Path.of(path).getFileName().toString()).toList();
    }

    private boolean isMade(String name) {
        return Files.exists(folder.resolve("target/generated sources").resolve(name + ".java"));
    }

    @Test
    void unchangedIdlFilesAreNotRecompiled() throws Exception {
        assertEquals(List.of("a.idl", "c.idl"), build());
        assertTrue(isMade("A") && isMade("B") && isMade("C"));
        Files.setLastModifiedTime(folder.resolve("idl files/a.idl"), FileTime.fromMillis(0));
        GenerateMojo again = mojo();
        assertEquals(List.of(), build(again));
        assertEquals(List.of(again.outputDirectory.getPath()), again.project.getCompileSourceRoots());
    }

    @Test
    void changedIdlFilesAreRecompiled() throws Exception {
        build();
        Files.writeString(folder.resolve("idl files/a.idl"), "A\nD\n");
        assertEquals(List.of("a.idl"), build());
        assertTrue(isMade("D"));
        assertFalse(isMade("B"), "it is not in the file any more");
        Files.writeString(folder.resolve("idl files/deep/c.acf"), "");
        assertEquals(List.of("c.idl"), build(), "its side file appeared");
        Files.delete(folder.resolve("target/generated sources/A.java"));
        assertEquals(List.of("a.idl"), build(), "a class was removed");
        Files.delete(folder.resolve("idl files/deep/c.idl"));
        assertEquals(List.of(), build());
        assertFalse(isMade("C"), "its file is gone");
    }

    @Test
    void changedOptionsAndCompilersCauseRecompilation() throws Exception {
        build();
        GenerateMojo packaged = mojo();
        packaged.javaPackage = "p";
        assertEquals(List.of("a.idl", "c.idl"), build(packaged));
        assertTrue(isMade("p/A"));
        assertFalse(isMade("A"));
        Files.writeString(folder.resolve("obvia"), COMPILER + "exit 0\n");
        assertEquals(2, build(packaged).size());
        packaged.skip = true;
        Files.delete(folder.resolve("idl files/a.idl"));
        assertEquals(List.of(), build(packaged));
        assertTrue(isMade("p/A"));
    }

    @Test
    void compilerErrorsAreShownInEveryBuildUntilRepaired() throws Exception {
        build();
        Path file = folder.resolve("idl files/a.idl");
        Files.writeString(file, "wrong\n");
        for (int attempt = 0; attempt < 2; attempt++) {
            assertThrows(MojoFailureException.class, this::build);
            assertEquals("\n" + file + ":1: error: it is wrong", errors.get(attempt));
        }
        Files.writeString(file, "A\n");
        assertEquals(List.of("a.idl"), build());
        assertFalse(isMade("B"), "it was there before the error, and is not any more");
    }

    @Test
    void generatedClassesCanMoveToAnotherIdlFile() throws Exception {
        build();
        Files.writeString(folder.resolve("idl files/a.idl"), "A\n");
        Files.writeString(folder.resolve("idl files/deep/c.idl"), "C\nB\n");
        assertEquals(2, build().size());
        assertTrue(isMade("B"));
        Files.writeString(folder.resolve("idl files/a.idl"), "A\nB\n");
        Files.writeString(folder.resolve("idl files/deep/c.idl"), "C\n");
        assertEquals(2, build().size());
        assertTrue(isMade("B"));
    }

    @Test
    void errorsAboutAMissingCompilerNameIt() throws Exception {
        GenerateMojo mojo = mojo();
        mojo.compiler = folder.resolve("nothing").toFile();
        String complaint = assertThrows(MojoExecutionException.class, mojo::execute).getMessage();
        assertTrue(complaint.contains(folder.resolve("nothing") + ", which is not a program") && complaint.contains("cargo install"), complaint);
        complaint = assertThrows(MojoExecutionException.class, () -> Compiler.program(null, null, "/:" + folder.resolve("deep"))).getMessage();
        assertTrue(complaint.contains("no `obvia` on the PATH"), complaint);
        assertEquals(folder.resolve("obvia"), Compiler.program(null, "", "/nowhere:" + folder));
        assertEquals(folder.resolve("obvia"), Compiler.program(null, folder.resolve("obvia").toString(), null));
    }

    @Test
    void makeRulesAreParsedAsByMake() throws Exception {
        assertEquals(List.of("a b", "c#:", "d$e", "f\\g"), CompilationRecord.words("a\\ b c\\#: d$$e f\\g\n"));
        CompilationRecord note = CompilationRecord.of("by", folder.resolve("x.idl"), "a b: " + folder.resolve("obvia") + "\n");
        assertEquals(List.of(Path.of("a"), Path.of("b")), note.written());
        assertEquals(2, note.read().size());
        assertFalse(note.holds("by"), "the files that it wrote are not there");
        note.write(folder.resolve("x.note"));
        assertEquals(note, CompilationRecord.read(folder.resolve("x.note")));
    }
}
