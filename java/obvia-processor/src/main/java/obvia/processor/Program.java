package obvia.processor;

import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.lang.model.element.AnnotationMirror;
import javax.lang.model.element.Element;
import javax.lang.model.element.ElementKind;
import javax.lang.model.element.ExecutableElement;
import javax.lang.model.element.Modifier;
import javax.lang.model.element.TypeElement;
import javax.lang.model.element.VariableElement;
import javax.lang.model.type.DeclaredType;
import javax.lang.model.type.ExecutableType;
import javax.lang.model.type.TypeKind;
import javax.lang.model.type.TypeMirror;
import javax.lang.model.util.ElementFilter;
import javax.lang.model.util.Elements;
import javax.lang.model.util.Types;

/** The compiler's model of the program. */
final class Program {
    private static final Set<String> ROOTS = Set.of("obvia.Remote", "java.rmi.Remote");
    private static final Pattern INTERFACE = Pattern.compile("^interface (\\w+) : ", Pattern.MULTILINE);

    final Elements elements;
    final Types types;
    /** The interfaces for which code is generated. */
    private final Set<TypeElement> made = new HashSet<>();

    Program(Elements elements, Types types) {
        this.elements = elements;
        this.types = types;
    }

    void make(TypeElement element) {
        made.add(element);
    }

    /** Whether code is generated for the interface in this compilation. */
    boolean isMadeHere(TypeElement element) {
        return made.contains(element);
    }

    /** Whether the interface is a root: interfaces that extend it are remote. */
    boolean isRoot(TypeElement element) {
        return ROOTS.contains(element.getQualifiedName().toString());
    }

    /** Whether the element is an interface of remote objects. */
    boolean isRemote(TypeElement element) {
        return element.getKind() == ElementKind.INTERFACE && !isRoot(element) && ROOTS.stream().anyMatch(root -> isA(element, root));
    }

    /** Whether the element is the type with this name or a subtype. */
    boolean isA(TypeElement element, String name) {
        TypeElement above = elements.getTypeElement(name);
        return above != null && types.isSubtype(types.erasure(element.asType()), types.erasure(above.asType()));
    }

    boolean isString(TypeMirror mirror) {
        return mirror.getKind() == TypeKind.DECLARED && declared(mirror).getQualifiedName().contentEquals("java.lang.String");
    }

    TypeElement declared(TypeMirror mirror) {
        if (mirror.getKind() == TypeKind.ERROR) {
            throw new Refused.Missing();
        }
        return (TypeElement) ((DeclaredType) mirror).asElement();
    }

    /** Whether the method belongs to {@code Object}. */
    boolean isOfObject(ExecutableElement method) {
        TypeElement object = elements.getTypeElement("java.lang.Object");
        return ElementFilter.methodsIn(object.getEnclosedElements()).stream()
                .anyMatch(other -> elements.overrides(method, other, (TypeElement) method.getEnclosingElement())
                        || other.getSimpleName().equals(method.getSimpleName())
                                && other.getModifiers().contains(Modifier.PUBLIC)
                                && types.isSubsignature((ExecutableType) method.asType(), (ExecutableType) other.asType()));
    }

    /**
     * Whether the interface's description is generated from Java, by this compilation or another
     * compilation.
     */
    boolean isFromJava(TypeElement element) {
        TypeElement info = info(element);
        return isMadeHere(element) || info != null && annotation(info, "obvia.runtime.FromJava") != null;
    }

    /** Returns the class that describes an interface; {@code null} if it does not exist yet. */
    TypeElement info(TypeElement element) {
        String binary = elements.getBinaryName(element).toString();
        return elements.getTypeElement(binary.substring(0, binary.lastIndexOf('.') + 1) + infoName(element));
    }

    /** Returns the name of the class that describes an interface, without its package. */
    String infoName(TypeElement element) {
        String binary = elements.getBinaryName(element).toString();
        return binary.substring(binary.lastIndexOf('.') + 1) + "Info";
    }

    /** Returns the name of an interface in IDL. */
    String idlName(TypeElement element) throws Refused {
        String text = isFromJava(element) ? "" : text(element);
        Matcher found = INTERFACE.matcher(text);
        String name = null;
        while (found.find()) {
            name = found.group(1);
        }
        return name == null ? IdlNames.type(element) : name;
    }

    /** Returns the IDL text of an interface for which code was generated earlier. */
    String text(TypeElement element) {
        TypeElement info = info(element);
        if (info != null) {
            for (VariableElement field : ElementFilter.fieldsIn(info.getEnclosedElements())) {
                if (field.getSimpleName().contentEquals("IDL") && field.getConstantValue() instanceof String text) {
                    return text;
                }
            }
        }
        return "";
    }

    /** Returns the declared IID of an interface; {@code null} if there is none. */
    String iid(TypeElement element) throws Refused {
        AnnotationMirror said = annotation(element, "obvia.Iid");
        if (said == null) {
            return null;
        }
        String text = (String) said.getElementValues().values().iterator().next().getValue();
        if (!text.matches("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")) {
            throw new Refused(element, "`" + text + "` is not a GUID: write it as 0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a20");
        }
        return text.toLowerCase(Locale.ROOT);
    }

    AnnotationMirror annotation(Element element, String name) {
        for (AnnotationMirror mirror : element.getAnnotationMirrors()) {
            if (((TypeElement) mirror.getAnnotationType().asElement()).getQualifiedName().contentEquals(name)) {
                return mirror;
            }
        }
        return null;
    }

    /** Whether code in the package of the type {@code from} can access the element. */
    boolean isVisible(Element element, TypeElement from) {
        for (Element at = element; at != null && at.getKind() != ElementKind.PACKAGE; at = at.getEnclosingElement()) {
            Set<Modifier> modifiers = at.getModifiers();
            boolean isNear = elements.getPackageOf(at).equals(elements.getPackageOf(from));
            if (modifiers.contains(Modifier.PRIVATE) || !modifiers.contains(Modifier.PUBLIC) && !isNear) {
                return false;
            }
        }
        return true;
    }

    void checkVisible(TypeElement element, Element where, TypeElement from) throws Refused {
        if (!isVisible(element, from)) {
            throw new Refused(where, "`" + element.getSimpleName() + "` is not accessible to the code generated in " + from.getSimpleName() + "'s package: make it public");
        }
    }
}
