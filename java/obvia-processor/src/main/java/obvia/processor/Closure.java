package obvia.processor;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The types and interfaces that interfaces use, by their IDL names. */
final class Closure {
    final Map<String, Type.Constant> constants = new TreeMap<>();
    final Map<String, Type.Reference> references = new TreeMap<>();
    final Map<String, Type.Struct> structs = new TreeMap<>();
    private final Map<String, Object> names = new HashMap<>();

    /** Returns the types and interfaces that some interfaces use. */
    static Closure of(List<Remote> interfaces) throws Refused {
        Closure closure = new Closure();
        for (Remote remote : interfaces) {
            closure.name(remote.name, remote.element, remote);
        }
        for (Remote remote : interfaces) {
            for (Remote.Method method : remote.methods) {
                for (Remote.Param param : method.params()) {
                    closure.add(param.type(), remote);
                }
                if (method.result() != null) {
                    closure.add(method.result(), remote);
                }
            }
        }
        return closure;
    }

    private void name(String name, Object element, Remote user) throws Refused {
        Object other = names.putIfAbsent(name, element);
        if (other != null && !other.equals(element)) {
            throw new Refused(
                    user.element, "`" + said(other) + "` and `" + said(element) + "` have the same name in IDL, which has no packages: rename one of them");
        }
    }

    private static String said(Object named) {
        return named instanceof Type.Struct struct ? "elements called " + struct.name : named.toString();
    }

    private void add(Type type, Remote user) throws Refused {
        switch (type) {
            case Type.Value value -> {}
            case Type.Text text -> {}
            case Type.Constant constant -> {
                name(constant.name(), constant.element(), user);
                constants.put(constant.name(), constant);
            }
            case Type.Reference reference -> {
                if (!reference.name().equals("IUnknown")) {
                    name(reference.name(), reference.element(), user);
                    references.put(reference.name(), reference);
                }
            }
            case Type.Boxed boxed -> {}
            case Type.Sequence sequence -> add(sequence.element(), user);
            case Type.Struct struct -> {
                name(struct.name, struct.element == null ? struct : struct.element, user);
                if (struct.isSealed()) {
                    name(struct.unionName(), struct.kinds, user);
                }
                if (structs.put(struct.name, struct) == null) {
                    for (Type.Member member : struct.members) {
                        add(member.type(), user);
                    }
                }
            }
        }
    }
}
