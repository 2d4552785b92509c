package obvia.processor;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.lang.model.element.Element;
import javax.lang.model.element.ElementKind;
import javax.lang.model.element.Modifier;
import javax.lang.model.element.RecordComponentElement;
import javax.lang.model.element.TypeElement;
import javax.lang.model.element.VariableElement;
import javax.lang.model.type.TypeMirror;
import javax.lang.model.util.ElementFilter;

/** Reads records and classes, each once, and makes the structures around elements of arrays. */
final class StructReader {
    private final World world;
    private final TypeReader types;
    private final Map<TypeElement, Type.Struct> known = new HashMap<>();
    private final Map<Object, Type.Struct> items = new HashMap<>();

    StructReader(World world, TypeReader types) {
        this.world = world;
        this.types = types;
    }

    /** A record or a class. */
    Type.Struct read(TypeElement element, Element where, TypeElement from) throws Refused {
        world.checkVisible(element, where, from);
        Type.Struct struct = known.get(element);
        if (struct != null) {
            return struct;
        }
        if (!element.getTypeParameters().isEmpty()) {
            throw new Refused(where, "`" + element.getSimpleName() + "` cannot be passed: it has type parameters; write a record for each type");
        }
        boolean isGraph = world.annotation(element, "obvia.Graph") != null;
        struct = new Type.Struct(element, IdlNames.type(element), isGraph);
        known.put(element, struct);
        try {
            if (struct.isRecord()) {
                readRecord(struct, where, from);
            } else {
                readClass(struct, where, from);
            }
        } catch (Refused | Refused.Missing e) {
            known.remove(element);
            throw e;
        }
        if (struct.members.isEmpty()) {
            throw new Refused(where, "`" + element.getSimpleName() + "` cannot be passed: it has no members");
        }
        return struct;
    }

    private void readRecord(Type.Struct struct, Element where, TypeElement from) throws Refused {
        if (struct.isGraph) {
            throw new Refused(struct.element, "a record cannot be a @Graph: it is made when all that it has is there, so no circle can be; make it a class");
        }
        IdlNames names = new IdlNames();
        for (RecordComponentElement component : struct.element.getRecordComponents()) {
            add(struct, component, component.asType(), true, names, from);
        }
    }

    private void readClass(Type.Struct struct, Element where, TypeElement from) throws Refused {
        TypeElement element = struct.element;
        String name = element.getSimpleName().toString();
        if (!world.declared(element.getSuperclass()).getQualifiedName().contentEquals("java.lang.Object")) {
            throw new Refused(where, "`" + name + "` cannot be passed: it extends another class; have it extend none, or make it a record");
        }
        boolean isMade = ElementFilter.constructorsIn(element.getEnclosedElements()).stream()
                .anyMatch(constructor -> constructor.getParameters().isEmpty() && world.isVisible(constructor, from));
        boolean isInner = element.getEnclosingElement().getKind() != ElementKind.PACKAGE && !element.getModifiers().contains(Modifier.STATIC);
        if (!isMade || isInner || element.getModifiers().contains(Modifier.ABSTRACT)) {
            throw new Refused(where, "`" + name + "` cannot be passed: it needs a constructor without parameters that " + from.getSimpleName()
                    + "'s package can call; or make it a record");
        }
        IdlNames names = new IdlNames();
        for (VariableElement field : ElementFilter.fieldsIn(element.getEnclosedElements())) {
            if (field.getModifiers().contains(Modifier.STATIC) || field.getModifiers().contains(Modifier.TRANSIENT)) {
                continue;
            }
            if (field.getModifiers().contains(Modifier.FINAL)) {
                throw new Refused(field, "`" + name + "." + field.getSimpleName()
                        + "` is final, so that nothing can set it where the object arrives: make it transient, or not final, or " + name + " a record");
            }
            add(struct, field, field.asType(), world.isVisible(field, from), names, from);
        }
    }

    private void add(Type.Struct struct, Element member, TypeMirror mirror, boolean isReached, IdlNames names, TypeElement from) throws Refused {
        String name = member.getSimpleName().toString();
        String idlName = names.unique(member, name);
        Type type = types.read(mirror, member, from);
        if (type instanceof Type.Reference) {
            throw new Refused(member, "a remote interface cannot be a member of `" + struct.name + "`: pass it as a parameter");
        }
        String count = type instanceof Type.Sequence ? names.unique(member, idlName + "Count") : null;
        struct.members.add(new Type.Member(name, idlName, count, type, mirror, isReached));
    }

    /** What an element of an array is there: itself where it is a value, or a structure that no other pointer leads to. */
    Type item(Type type, TypeMirror mirror, Element where) throws Refused {
        boolean isItself = type.isScalar() || type instanceof Type.Struct struct && !struct.isGraph;
        if (isItself) {
            return type;
        }
        if (type instanceof Type.Reference) {
            throw new Refused(where, "an array of remote interfaces cannot be passed: pass them one by one");
        }
        Object key = type instanceof Type.Sequence sequence ? List.of(sequence.element(), sequence.isList()) : type;
        Type.Struct item = items.get(key);
        if (item == null) {
            item = new Type.Struct(null, name(type) + (type instanceof Type.Sequence ? "" : "Item"), false);
            String count = type instanceof Type.Sequence ? "valueCount" : null;
            item.members.add(new Type.Member("value", "value", count, type, mirror, true));
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
