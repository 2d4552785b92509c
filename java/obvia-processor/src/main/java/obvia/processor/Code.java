package obvia.processor;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import javax.lang.model.element.Element;
import javax.lang.model.element.ElementKind;
import javax.lang.model.element.TypeElement;
import javax.lang.model.type.ArrayType;
import javax.lang.model.type.DeclaredType;
import javax.lang.model.type.TypeMirror;
import javax.lang.model.util.Elements;

/** A source file under construction: its lines and imports. */
final class Code {
    /** The names of {@code java.lang} that the code uses. */
    private static final Set<String> LANG = Set.of("Object", "String", "Override", "Throwable", "Integer", "Record", "IllegalStateException", "InternalError");

    private final String inPackage;
    private final StringBuilder body = new StringBuilder();
    private final Map<String, String> names = new HashMap<>();
    private final Set<String> imports = new TreeSet<>();
    private final Elements elements;
    private int depth;

    Code(Elements elements, String inPackage) {
        this.elements = elements;
        this.inPackage = inPackage;
        LANG.forEach(name -> names.put(name, "java.lang." + name));
    }

    /** Adds a line, indented by the number of open braces. */
    void line(String text) {
        if (text.startsWith("}")) {
            depth--;
        }
        body.append(text.isEmpty() ? "" : "    ".repeat(depth) + text).append('\n');
        if (text.endsWith("{")) {
            depth++;
        }
    }

    /** Adds a line that continues the previous line. */
    void continuation(String text) {
        body.append(text.isEmpty() ? "" : "    ".repeat(depth + 2) + text).append('\n');
    }

    /** Returns the name of a class of the runtime. */
    String runtime(String name) {
        return named("obvia.runtime." + name);
    }

    /**
     * Returns the name of a class for this file. The class is imported, unless another class has
     * the same simple name.
     */
    String named(String qualified) {
        String simple = qualified.substring(qualified.lastIndexOf('.') + 1);
        String known = names.putIfAbsent(simple, qualified);
        if (known != null && !known.equals(qualified)) {
            return qualified;
        }
        String of = qualified.substring(0, Math.max(qualified.lastIndexOf('.'), 0));
        if (!of.equals(inPackage) && !of.equals("java.lang")) {
            imports.add(qualified);
        }
        return simple;
    }

    /**
     * Returns the name of a class of the program in this file; a nested class is qualified by the
     * enclosing class.
     */
    String named(TypeElement element) {
        Element around = element.getEnclosingElement();
        if (around.getKind() == ElementKind.PACKAGE) {
            return named(element.getQualifiedName().toString());
        }
        return named((TypeElement) around) + "." + element.getSimpleName();
    }

    /** Returns the name of a type in this file. */
    String named(TypeMirror mirror) {
        return switch (mirror) {
            case ArrayType array -> named(array.getComponentType()) + "[]";
            case DeclaredType declared -> named((TypeElement) declared.asElement())
                    + (declared.getTypeArguments().isEmpty()
                            ? ""
                            : "<" + String.join(", ", declared.getTypeArguments().stream().map(this::named).toList()) + ">");
            default -> mirror.getKind().name().toLowerCase(Locale.ROOT);
        };
    }

    /** Returns the name of a type without its type arguments. */
    String erased(TypeMirror mirror) {
        return named(mirror).replaceAll("<.*>", "");
    }

    /** Returns the name of the class that describes an interface. */
    String info(Program program, TypeElement element) {
        String of = elements.getPackageOf(element).getQualifiedName().toString();
        return named(of.isEmpty() ? program.infoName(element) : of + "." + program.infoName(element));
    }

    /** Returns the text of the whole file. */
    String text(String head) {
        StringBuilder text = new StringBuilder(head);
        if (!inPackage.isEmpty()) {
            text.append("package " + inPackage + ";\n\n");
        }
        imports.forEach(name -> text.append("import " + name + ";\n"));
        return text.append(imports.isEmpty() ? "" : "\n").append(body).toString();
    }
}
