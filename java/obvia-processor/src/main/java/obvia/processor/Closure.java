package obvia.processor;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import javax.lang.model.element.TypeElement;

/** The types and interfaces that interfaces use, by their names in IDL. */
final class Closure {
    final Map<String, Type.Constant> constants = new TreeMap<>();
    final Map<String, Type.Reference> references = new TreeMap<>();
    private final Map<String, TypeElement> names = new HashMap<>();

    /** Those of some interfaces. */
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

    private void name(String name, TypeElement element, Remote user) throws Refused {
        TypeElement other = names.putIfAbsent(name, element);
        if (other != null && !other.equals(element)) {
            throw new Refused(
                    user.element,
                    "`" + other.getQualifiedName() + "` and `" + element.getQualifiedName() + "` have one name in IDL, which has no packages: rename one of them");
        }
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
            case Type.Sequence sequence -> add(sequence.element(), user);
        }
    }
}
