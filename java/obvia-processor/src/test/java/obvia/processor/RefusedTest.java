package obvia.processor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that each unsupported construct is reported at its position, with a remedy. */
class RefusedTest {
    @TempDir
    private Path place;

    private static final class Source extends SimpleJavaFileObject {
        private final String text;

        Source(String name, String text) {
            super(URI.create("string:///" + name + ".java"), Kind.SOURCE);
            this.text = text;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return text;
        }
    }

    /** Returns the errors of a compilation, as {@code line: message}. */
    private List<String> errors(String text, String... options) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        var found = new DiagnosticCollector<JavaFileObject>();
        List<String> all = new ArrayList<>(List.of("-d", Files.createDirectories(place).toString(), "-cp", System.getProperty("java.class.path") + ":" + place));
        all.addAll(List.of(options));
        var task = compiler.getTask(null, null, found, all, null, List.of(new Source("Test", text)));
        task.setProcessors(List.of(new InterfaceProcessor()));
        boolean isDone = task.call();
        List<String> errors = found.getDiagnostics().stream()
                .filter(one -> one.getKind() == Diagnostic.Kind.ERROR)
                .map(one -> one.getLineNumber() + ": " + one.getMessage(null))
                .toList();
        assertEquals(isDone, errors.isEmpty(), errors.toString());
        return errors;
    }

    private void refused(String member, String... words) throws IOException {
        List<String> errors = errors("interface Test extends obvia.Remote {\n" + member + "\n}");
        assertEquals(1, errors.size(), errors.toString());
        assertTrue(errors.get(0).startsWith("2: "), errors.toString());
        for (String word : words) {
            assertTrue(errors.get(0).contains(word), word + " is not in " + errors);
        }
    }

    @Test
    void typesThatCannotBePassedAreRefused() throws IOException {
        refused("void m(Object any);", "`java.lang.Object`", "must be known");
        refused("void m(java.util.Map<String, String> map);", "list of records");
        refused("java.util.Set<String> m();", "java.util.List");
        refused("void m(java.rmi.Remote any);", "obvia.Remote");
        refused("<T> void m(T any);", "type parameters");
        refused("void m(Empty one); enum Empty {}", "no constants");
        refused("void m(int[] a, Runnable[] b);", "`java.lang.Runnable`", "remote interfaces");
    }

    @Test
    void recordsAndClassesThatCannotBePassedAreRefused() throws IOException {
        refused("@obvia.Graph record A(int a, A b) {} void m(A a);", "cannot be a @Graph");
        refused("class A { final int a = 1; A() {} } void m(A a);", "`A.a` is final", "transient");
        refused("class A { int a; A(int a) {} } void m(A a);", "constructor without parameters");
        refused("class A { static int a; transient int b; } void m(A a);", "no members");
        refused("class A extends java.util.BitSet { int a; } void m(A a);", "`A` cannot be passed", "extends `java.util.BitSet`");
        refused("class A extends B { int a; } void m(A a); class B { final int b = 1; }", "`B.b` is final");
        refused("abstract class A { int a; } void m(A a);", "constructor without parameters");
        refused("sealed interface A permits B, C {} record B(int b) implements A {} non-sealed interface C extends A {} void m(A a);", "`C` cannot be a kind of `A`");
        refused("sealed interface A permits B {} enum B implements A { X } void m(A a);", "make it a record");
        refused("sealed interface A permits B {} @obvia.Graph final class B implements A { int b; } void m(A a);", "@Graph");
        refused("interface A {} void m(A a);", "make it sealed");
        refused("record A() {} void m(A a);", "no members");
        refused("record A<T>(int a) {} void m(A<String> a);", "type parameters");
        refused("record A(Object o) {} void m(A a);", "must be known");
        refused("void m(java.util.List<?> a);", "declare the type of its elements");
        refused("void n(java.util.List<java.time.Instant> b);", "java.time.Instant", "milliseconds");
        refused("java.util.Optional<String> m();", "may be null");
        refused("record A(java.util.UUID id) {} void m(A a);", "obvia.Guid");
        assertEquals(List.of(), errors("interface Test extends obvia.Remote { obvia.Guid m(obvia.Guid a); }"));
    }

    @Test
    void methodsThatCannotBeCalledAreRefused() throws IOException {
        refused("int begin(int many);", "`begin(int)`");
        refused("void größe();", "ASCII");
        refused("void m() throws Hidden; abstract class Hidden extends Exception {}", "constructor");
    }

    @Test
    void invalidRemoteInterfacesAreRefused() throws IOException {
        assertTrue(errors("interface Test<T> extends obvia.Remote {}").get(0).contains("type parameters"));
        assertTrue(errors("interface Test extends obvia.Remote, Runnable {}").get(0).contains("`Runnable` is not a remote interface"));
        String two = "interface Test extends A, B {}\ninterface A extends obvia.Remote {}\ninterface B extends obvia.Remote {}";
        assertTrue(errors(two).get(0).contains("at most one other"));
        assertTrue(errors("@obvia.Iid(\"x\") interface Test extends obvia.Remote {}").get(0).contains("not a GUID"));
        assertTrue(errors("interface UUID extends obvia.Remote {}").get(0).contains("a reserved word in IDL"));
        String same = "interface Test extends obvia.Remote { void m(A.X a, B.X b); }\nclass A { enum X { P } }\nclass B { enum X { P } }";
        assertTrue(errors(same).get(0).contains("the same name in IDL"));
    }

    @Test
    void interfacesCanSpanCompilations() throws IOException {
        assertEquals(List.of(), errors("interface Base extends obvia.Remote { int first(int one); }", "-parameters"));
        assertEquals(List.of(), errors("interface Test extends Base { void second(Base base); }"));
        assertTrue(Files.readString(place.resolve("META-INF/obvia/Test.idl")).contains("interface Base"));
        assertEquals(List.of(), errors("interface Base extends obvia.Remote { int first(int one); }"));
        assertTrue(errors("interface Test extends Base {}").get(0).contains("-parameters"));
    }

    @Test
    void interfacesOfLibrariesMustBeListed() throws IOException {
        assertEquals(List.of(), errors("interface Library extends java.rmi.Remote { int m(int a); }", "-proc:none"));
        assertTrue(errors("interface Test extends obvia.Remote { void m(Library one); }").get(0).contains("@obvia.Interfaces"));
        assertEquals(List.of(), errors("@obvia.Interfaces(Library.class) interface Test extends obvia.Remote { void m(Library one); }"));
        assertTrue(Files.exists(place.resolve("LibraryInfo.class")));
        assertTrue(errors("@obvia.Interfaces(Runnable.class) class Test {}").get(0).contains("not a remote interface"));
    }

    @Test
    void interfacesGeneratedFromIdlAreIgnored() throws IOException {
        assertEquals(List.of(), errors("interface Test extends obvia.Remote { void m(Object any); }\nclass TestInfo {}"));
    }
}
