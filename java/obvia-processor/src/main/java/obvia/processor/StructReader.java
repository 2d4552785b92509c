package obvia.processor;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.lang.model.element.Element;
import javax.lang.model.element.ElementKind;
import javax.lang.model.element.Modifier;
import javax.lang.model.element.RecordComponentElement;
import javax.lang.model.element.TypeElement;
import javax.lang.model.element.VariableElement;
import javax.lang.model.type.DeclaredType;
import javax.lang.model.type.TypeMirror;
import javax.lang.model.util.ElementFilter;

/** Reads records and classes, each once, and creates the wrapper structures of array elements. */
final class StructReader {
    private final Program program;
    private final TypeReader types;
    private final Map<TypeElement, Type.Struct> known = new HashMap<>();
    private final Map<Object, Type.Struct> items = new HashMap<>();

    StructReader(Program program, TypeReader types) {
        this.program = program;
        this.types = types;
    }

    /**
     * Returns the structure for a record, a class, or a sealed type. The parameters {@code where}
     * and {@code from} are as in {@link TypeReader#read}.
     */
    Type.Struct read(TypeElement element, Element where, TypeElement from) throws Refused {
        if (!isSealed(element) && isEmpty(element, where)) {
            throw new Refused(where, "`" + element.getSimpleName() + "` cannot be passed: it has no members");
        }
        return readAny(element, where, from);
    }

    private Type.Struct readAny(TypeElement element, Element where, TypeElement from) throws Refused {
        program.checkVisible(element, where, from);
        Type.Struct struct = known.get(element);
        if (struct != null) {
            return struct;
        }
        if (!element.getTypeParameters().isEmpty()) {
            throw new Refused(where, "`" + element.getSimpleName() + "` cannot be passed: it has type parameters; write a record for each type");
        }
        boolean isGraph = program.annotation(element, "obvia.Graph") != null;
        struct = new Type.Struct(element, IdlNames.type(element), isGraph);
        known.put(element, struct);
        try {
            if (isSealed(element)) {
                readKinds(struct, where, from);
            } else if (struct.isRecord()) {
                readRecord(struct, where, from);
            } else {
                readClass(struct, where, from);
            }
        } catch (Refused | Refused.Missing e) {
            known.remove(element);
            throw e;
        }
        return struct;
    }

    /** Whether a type is sealed and abstract, so that all kinds of its values are known. */
    static boolean isSealed(TypeElement element) {
        return element.getModifiers().contains(Modifier.SEALED) && element.getModifiers().contains(Modifier.ABSTRACT);
    }

    private void readKinds(Type.Struct struct, Element where, TypeElement from) throws Refused {
        if (struct.isGraph) {
            throw new Refused(struct.element, "a sealed type cannot be a @Graph: hold one in a record, as one of its kinds");
        }
        Set<TypeElement> found = new LinkedHashSet<>();
        kinds(struct.element, where, found);
        IdlNames names = new IdlNames();
        for (TypeElement kind : found) {
            String simple = kind.getSimpleName().toString();
            Type.Struct read = readAny(kind, where, from);
            if (read.isGraph) {
                throw new Refused(where, "`" + simple + "` is a @Graph, so it cannot be a kind of `" + struct.name + "`: hold it in a record");
            }
            Type.Member member = null;
            if (!isEmpty(kind, where)) {
                String name = names.unique(kind, Character.toLowerCase(simple.charAt(0)) + simple.substring(1));
                member = new Type.Member(name, name, null, read, kind.asType(), null);
                struct.members.add(member);
            }
            struct.kinds.add(new Type.Kind(kind, member));
        }
    }

    /**
     * Collects the kinds of a sealed type in the order of its permits clause. The kinds of a nested
     * sealed type take the place of that type.
     */
    private void kinds(TypeElement sealed, Element where, Set<TypeElement> found) throws Refused {
        for (TypeMirror permitted : sealed.getPermittedSubclasses()) {
            TypeElement kind = program.declared(permitted);
            if (isSealed(kind)) {
                kinds(kind, where, found);
            } else if (kind.getKind() == ElementKind.RECORD || kind.getKind() == ElementKind.CLASS && kind.getModifiers().contains(Modifier.FINAL)) {
                found.add(kind);
            } else {
                throw new Refused(where, "`" + kind.getSimpleName() + "` cannot be a kind of `" + sealed.getSimpleName()
                        + "`, which is passed: make it a record, a final class, or sealed and abstract itself");
            }
        }
    }

    /** Whether a record or a class has no content to be passed. */
    private boolean isEmpty(TypeElement element, Element where) throws Refused {
        return element.getKind() == ElementKind.RECORD ? element.getRecordComponents().isEmpty() : fields(line(element, where)).isEmpty();
    }

    private void readRecord(Type.Struct struct, Element where, TypeElement from) throws Refused {
        if (struct.isGraph) {
            throw new Refused(struct.element, "a record cannot be a @Graph: its members exist before it does, so it cannot be part of a circle; make it a class");
        }
        IdlNames names = new IdlNames();
        for (RecordComponentElement component : struct.element.getRecordComponents()) {
            add(struct, component, component.asType(), null, names, from);
        }
    }

    private void readClass(Type.Struct struct, Element where, TypeElement from) throws Refused {
        TypeElement element = struct.element;
        String name = element.getSimpleName().toString();
        boolean isMade = ElementFilter.constructorsIn(element.getEnclosedElements()).stream()
                .anyMatch(constructor -> constructor.getParameters().isEmpty() && program.isVisible(constructor, from));
        boolean isInner = element.getEnclosingElement().getKind() != ElementKind.PACKAGE && !element.getModifiers().contains(Modifier.STATIC);
        if (!isMade || isInner || element.getModifiers().contains(Modifier.ABSTRACT)) {
            throw new Refused(where, "`" + name + "` cannot be passed: it needs a constructor without parameters that " + from.getSimpleName()
                    + "'s package can call; or make it a record");
        }
        IdlNames names = new IdlNames();
        List<TypeElement> line = line(element, where);
        for (VariableElement field : fields(line)) {
            TypeElement owner = (TypeElement) field.getEnclosingElement();
            if (field.getModifiers().contains(Modifier.FINAL)) {
                throw new Refused(field, "`" + owner.getSimpleName() + "." + field.getSimpleName()
                        + "` is final, so it cannot be set in the receiver's object: make it transient, or not final, or " + name + " a record");
            }
            int above = line.indexOf(owner);
            boolean isHidden = line.subList(0, above).stream()
                    .flatMap(below -> ElementFilter.fieldsIn(below.getEnclosedElements()).stream())
                    .anyMatch(other -> other.getSimpleName().equals(field.getSimpleName()));
            boolean isReached = program.isVisible(field, from) && !isHidden;
            TypeMirror mirror = program.types.asMemberOf((DeclaredType) element.asType(), field);
            add(struct, field, mirror, new Type.Field(above, program.types.erasure(field.asType()), isReached), names, from);
        }
    }

    /**
     * Returns the passed fields of a class and its superclasses, those of the topmost superclass
     * first.
     */
    private static List<VariableElement> fields(List<TypeElement> line) {
        return line.reversed().stream()
                .flatMap(owner -> ElementFilter.fieldsIn(owner.getEnclosedElements()).stream())
                .filter(field -> !field.getModifiers().contains(Modifier.STATIC) && !field.getModifiers().contains(Modifier.TRANSIENT))
                .toList();
    }

    /** Returns a class and its superclasses. The fields of the superclasses are passed as well. */
    private List<TypeElement> line(TypeElement element, Element where) throws Refused {
        List<TypeElement> line = new ArrayList<>();
        TypeElement at = element;
        for (; !at.getQualifiedName().contentEquals("java.lang.Object"); at = program.declared(at.getSuperclass())) {
            if (!TypeReader.isOwn(at)) {
                throw new Refused(where, "`" + element.getSimpleName() + "` cannot be passed: it extends `" + at.getQualifiedName()
                        + "`, whose fields are not the program's own; let it extend only classes of the program, or make it a record");
            }
            line.add(at);
        }
        return line;
    }

    private void add(Type.Struct struct, Element member, TypeMirror mirror, Type.Field field, IdlNames names, TypeElement from) throws Refused {
        String name = member.getSimpleName().toString();
        String idlName = names.unique(member, name);
        Type type = types.read(mirror, member, from);
        String count = type instanceof Type.Sequence ? names.unique(member, idlName + "Count") : null;
        struct.members.add(new Type.Member(name, idlName, count, type, mirror, field));
    }

    /**
     * Returns the type of an array's element in frames: the type itself if it is a value or a
     * structure with exclusive pointers, else a wrapper structure.
     */
    Type item(Type type, TypeMirror mirror, Element where) throws Refused {
        boolean isItself = type.isScalar() || type instanceof Type.Struct struct && !struct.isGraph;
        if (isItself) {
            return type;
        }
        Object key = type instanceof Type.Sequence sequence ? List.of(sequence.element(), sequence.isList()) : type;
        Type.Struct item = items.get(key);
        if (item == null) {
            item = new Type.Struct(null, name(type) + (type instanceof Type.Sequence ? "" : "Item"), false);
            String count = type instanceof Type.Sequence ? "valueCount" : null;
            item.members.add(new Type.Member("value", "value", count, type, mirror, null));
            items.put(key, item);
        }
        return item;
    }

    private static String name(Type type) {
        return switch (type) {
            case Type.Value value -> capitalised(value.base().java);
            case Type.Boxed boxed -> capitalised(boxed.base().java);
            case Type.Constant constant -> constant.name();
            case Type.Text text -> "String";
            case Type.Reference reference -> reference.name();
            case Type.Struct struct -> struct.name.endsWith("Item") && struct.element == null ? struct.name.substring(0, struct.name.length() - 4) : struct.name;
            case Type.Sequence sequence -> name(sequence.element()) + (sequence.isList() ? "List" : "Array");
        };
    }

    private static String capitalised(String word) {
        return Character.toUpperCase(word.charAt(0)) + word.substring(1);
    }
}
