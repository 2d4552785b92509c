package obvia.processor;

import java.util.List;
import java.util.Map;
import javax.lang.model.element.Element;
import javax.lang.model.element.ElementKind;
import javax.lang.model.element.TypeElement;
import javax.lang.model.type.ArrayType;
import javax.lang.model.type.DeclaredType;
import javax.lang.model.type.TypeKind;
import javax.lang.model.type.TypeMirror;

/** Reads the types of passed values. */
final class TypeReader {
    private static final Map<String, Base> BOXES = Map.of(
            "java.lang.Boolean", Base.BOOLEAN,
            "java.lang.Byte", Base.BYTE,
            "java.lang.Character", Base.CHAR,
            "java.lang.Short", Base.SHORT,
            "java.lang.Integer", Base.INT,
            "java.lang.Long", Base.LONG,
            "java.lang.Float", Base.FLOAT,
            "java.lang.Double", Base.DOUBLE);

    private final Program program;
    private final StructReader structs;

    TypeReader(Program program) {
        this.program = program;
        structs = new StructReader(program, this);
    }

    /**
     * Returns the {@link Type} for a type in Java.
     *
     * @param where the element to which messages refer
     * @param from the interface whose package uses the type
     */
    Type read(TypeMirror mirror, Element where, TypeElement from) throws Refused {
        if (mirror.getKind().isPrimitive()) {
            return new Type.Value(Base.of(mirror.getKind()));
        }
        if (mirror instanceof ArrayType array) {
            return sequence(array.getComponentType(), false, where, from);
        }
        if (mirror.getKind() == TypeKind.ERROR) {
            throw new Refused.Missing();
        }
        if (mirror.getKind() != TypeKind.DECLARED) {
            throw new Refused(where, "`" + mirror + "` cannot be passed: use a type without parameters");
        }
        if (program.isString(mirror)) {
            return new Type.Text();
        }
        TypeElement element = program.declared(mirror);
        if (element.getKind() == ElementKind.ENUM) {
            return constant(element, where, from);
        }
        if (program.isRemote(element) || element.getQualifiedName().contentEquals("obvia.Remote")) {
            return reference(element, where, from);
        }
        String name = element.getQualifiedName().toString();
        if (BOXES.containsKey(name)) {
            return new Type.Boxed(BOXES.get(name));
        }
        if (name.equals("java.util.List")) {
            return list((DeclaredType) mirror, where, from);
        }
        if (isOwn(element) && (element.getKind() == ElementKind.RECORD || element.getKind() == ElementKind.CLASS || StructReader.isSealed(element))) {
            return structs.read(element, where, from);
        }
        throw new Refused(where, "`" + mirror + "` cannot be passed: " + advice(element));
    }

    /** Whether the class belongs to the program. */
    static boolean isOwn(TypeElement element) {
        String name = element.getQualifiedName().toString();
        return !name.startsWith("java.") && !name.startsWith("javax.") && !name.startsWith("obvia.Rpc");
    }

    private Type list(DeclaredType mirror, Element where, TypeElement from) throws Refused {
        if (mirror.getTypeArguments().isEmpty() || mirror.getTypeArguments().get(0).getKind() == TypeKind.WILDCARD) {
            throw new Refused(where, "`" + mirror + "` cannot be passed: declare the type of its elements");
        }
        return sequence(mirror.getTypeArguments().get(0), true, where, from);
    }

    private Type sequence(TypeMirror mirror, boolean isList, Element where, TypeElement from) throws Refused {
        Type element = read(mirror, where, from);
        // A list of numbers has boxed elements in Java, which are never null.
        Type meant = isList && element instanceof Type.Boxed boxed ? new Type.Value(boxed.base()) : element;
        return new Type.Sequence(structs.item(meant, mirror, where), mirror, isList);
    }

    private Type constant(TypeElement element, Element where, TypeElement from) throws Refused {
        program.checkVisible(element, where, from);
        List<String> constants = element.getEnclosedElements().stream()
                .filter(member -> member.getKind() == ElementKind.ENUM_CONSTANT)
                .map(member -> member.getSimpleName().toString())
                .toList();
        if (constants.isEmpty()) {
            throw new Refused(where, "`" + element.getSimpleName() + "` cannot be passed: it has no constants");
        }
        return new Type.Constant(element, IdlNames.type(element), constants);
    }

    private Type reference(TypeElement element, Element where, TypeElement from) throws Refused {
        if (program.isRoot(element)) {
            return new Type.Reference(element, "IUnknown");
        }
        program.checkVisible(element, where, from);
        if (!program.isMadeHere(element) && program.info(element) == null) {
            throw new Refused(where, "`" + element.getQualifiedName() + "` was compiled without generated code: name it in @obvia.Interfaces");
        }
        return new Type.Reference(element, program.idlName(element));
    }

    private String advice(TypeElement element) {
        String name = element.getQualifiedName().toString();
        return switch (name) {
            case "java.lang.Object" -> "its type must be known; use a record, a class or a remote interface";
            case "java.rmi.Remote" -> "name the interface, or use obvia.Remote";
            case "java.util.Set", "java.util.Collection", "java.lang.Iterable", "java.util.ArrayList" -> "use an array or a java.util.List of its elements";
            case "java.util.Map", "java.util.HashMap" -> "use a list of records with a key and a value";
            case "java.util.Optional" -> "use the type of its value, which may be null";
            case "java.util.UUID" -> "use obvia.Guid, or a String";
            case "java.time.Instant", "java.time.Duration", "java.util.Date" -> "use a long, of milliseconds";
            case "java.math.BigDecimal", "java.math.BigInteger" -> "use a String";
            default -> element.getKind() == ElementKind.INTERFACE && isOwn(element)
                    ? "its type must be known; let it extend Remote, or make it sealed, with records as its kinds"
                    : "use primitive types, String, enumerations, arrays, records and remote interfaces";
        };
    }
}
