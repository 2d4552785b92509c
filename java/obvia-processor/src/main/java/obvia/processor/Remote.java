package obvia.processor;

import java.util.ArrayList;
import java.util.List;
import javax.lang.model.element.ExecutableElement;
import javax.lang.model.element.TypeElement;
import javax.lang.model.type.TypeMirror;

/** An interface, with its methods and names. */
final class Remote {
    final TypeElement element;
    /** The name of the interface in IDL. */
    final String name;
    /** The base interface; {@code null} for IUnknown. */
    final Remote base;
    /** The interface's own methods. */
    final List<Method> methods = new ArrayList<>();
    /**
     * The exceptions that methods throw to their callers, inherited exceptions first. The HRESULT
     * of an exception follows from its position.
     */
    final List<Failure> failures = new ArrayList<>();
    /** The IID of the interface; {@code null} until {@link Canonical#identify} sets it. */
    String iid;

    Remote(TypeElement element, String name, Remote base) {
        this.element = element;
        this.name = name;
        this.base = base;
        if (base != null) {
            failures.addAll(base.failures);
        }
    }

    /** Returns all methods, inherited methods first: in the order of their opnums. */
    List<Method> allMethods() {
        List<Method> all = base == null ? new ArrayList<>() : new ArrayList<>(base.allMethods());
        all.addAll(methods);
        return all;
    }

    /** Returns the interfaces from the topmost base down to this one. */
    List<Remote> lineage() {
        List<Remote> line = base == null ? new ArrayList<>() : new ArrayList<>(base.lineage());
        line.add(this);
        return line;
    }

    /**
     * A method.
     *
     * @param name the name in IDL
     * @param result the type of the result; {@code null} for none
     * @param resultName the name of the result in IDL
     * @param failures the interface's exceptions that the method throws
     * @param wraps the checked exception that wraps other failures; {@code null} for none
     */
    record Method(
            ExecutableElement element,
            String name,
            List<Param> params,
            Type result,
            String resultName,
            List<Failure> failures,
            TypeMirror wraps) {
        /** Whether a parameter or the result contains structures. */
        boolean isGraph() {
            return result != null && result.isGraph() || params.stream().anyMatch(param -> param.type().isGraph());
        }
    }

    /**
     * A parameter.
     *
     * @param name the name in Java
     * @param idlName the name in IDL
     * @param countName the name of the value's length in IDL; {@code null} if the value has no
     *     length
     */
    record Param(String name, String idlName, String countName, Type type, TypeMirror mirror) {}

    /**
     * An exception of the program's own.
     *
     * @param result the HRESULT
     * @param hasMessage whether its constructor takes a message
     */
    record Failure(TypeElement element, int result, boolean hasMessage) {}
}
