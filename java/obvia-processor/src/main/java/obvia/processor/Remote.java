package obvia.processor;

import java.util.ArrayList;
import java.util.List;
import javax.lang.model.element.ExecutableElement;
import javax.lang.model.element.TypeElement;
import javax.lang.model.type.TypeMirror;

/** An interface as it was read: what is called, and by which names. */
final class Remote {
    final TypeElement element;
    /** Its name in IDL. */
    final String name;
    /** The interface that it extends; {@code null} for IUnknown. */
    final Remote base;
    /** Its own methods. */
    final List<Method> methods = new ArrayList<>();
    /** Exceptions that its methods throw to their callers, inherited ones first: each has the HRESULT of its place. */
    final List<Failure> failures = new ArrayList<>();
    /** Its IID, once it has one. */
    String iid;

    Remote(TypeElement element, String name, Remote base) {
        this.element = element;
        this.name = name;
        this.base = base;
        if (base != null) {
            failures.addAll(base.failures);
        }
    }

    /** Its methods, inherited ones first: the order of their numbers. */
    List<Method> allMethods() {
        List<Method> all = base == null ? new ArrayList<>() : new ArrayList<>(base.allMethods());
        all.addAll(methods);
        return all;
    }

    /** The interfaces from the first one on to this. */
    List<Remote> lineage() {
        List<Remote> line = base == null ? new ArrayList<>() : new ArrayList<>(base.lineage());
        line.add(this);
        return line;
    }

    /**
     * A method.
     *
     * @param name its name in IDL
     * @param result what it returns; {@code null} for nothing
     * @param resultName what IDL calls that
     * @param failures those of the interface's exceptions that it throws
     * @param wraps the checked exception that a call which fails otherwise ends with; {@code null} for none
     */
    record Method(
            ExecutableElement element,
            String name,
            List<Param> params,
            Type result,
            String resultName,
            List<Failure> failures,
            TypeMirror wraps) {
        /** Whether structures are passed or returned. */
        boolean isGraph() {
            return result != null && result.isGraph() || params.stream().anyMatch(param -> param.type().isGraph());
        }
    }

    /**
     * A parameter.
     *
     * @param name its name in Java
     * @param idlName its name in IDL
     * @param countName what IDL calls its length; {@code null} for what has none
     */
    record Param(String name, String idlName, String countName, Type type, TypeMirror mirror) {}

    /**
     * An exception of the program's own.
     *
     * @param result its HRESULT
     * @param hasMessage whether it is made with a message
     */
    record Failure(TypeElement element, int result, boolean hasMessage) {}
}
