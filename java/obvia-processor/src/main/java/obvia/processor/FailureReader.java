package obvia.processor;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import javax.lang.model.element.ExecutableElement;
import javax.lang.model.element.Modifier;
import javax.lang.model.element.NestingKind;
import javax.lang.model.element.TypeElement;
import javax.lang.model.type.TypeKind;
import javax.lang.model.type.TypeMirror;
import javax.lang.model.util.ElementFilter;

/**
 * Reads the exceptions that a method declares: the exceptions that its callers receive, and the
 * exception that wraps failed calls.
 */
final class FailureReader {
    /** The first HRESULT of FACILITY_ITF that an interface may define. */
    private static final int FIRST = 0x80040200;

    /** The maximum number of an interface's own exceptions, each of which gets an HRESULT. */
    private static final int FAILURES_MAX = 0x100;

    /** The exceptions that wrap failed calls if a method declares one of them. */
    private static final List<String> WRAPS = List.of("java.rmi.RemoteException", "java.io.IOException");

    /** The exceptions that are too general to be identified by an HRESULT. */
    private static final Set<String> GENERAL =
            Set.of("java.lang.Throwable", "java.lang.Exception", "java.lang.RuntimeException", "java.rmi.RemoteException", "java.io.IOException");

    private final Program program;

    FailureReader(Program program) {
        this.program = program;
    }

    /** Returns the checked exception that wraps a failed call; {@code null} for none. */
    TypeMirror wraps(ExecutableElement method) {
        for (String name : WRAPS) {
            for (TypeMirror thrown : method.getThrownTypes()) {
                if (thrown.getKind() == TypeKind.DECLARED && program.declared(thrown).getQualifiedName().contentEquals(name)) {
                    return thrown;
                }
            }
        }
        return null;
    }

    /**
     * Returns the program's own exceptions that a method declares. Exceptions that are new in the
     * interface get its next HRESULTs.
     */
    List<Remote.Failure> read(ExecutableElement method, Remote remote) throws Refused {
        List<Remote.Failure> found = new ArrayList<>();
        for (TypeMirror thrown : method.getThrownTypes()) {
            if (thrown.getKind() != TypeKind.DECLARED) {
                throw new Refused(method, "`" + thrown + "` cannot be thrown to callers: declare an exception class");
            }
            TypeElement element = program.declared(thrown);
            if (GENERAL.contains(element.getQualifiedName().toString()) || program.isA(element, "java.lang.Error") || program.isA(element, "obvia.RpcException")) {
                continue;
            }
            found.add(known(element, method, remote));
        }
        return found;
    }

    private Remote.Failure known(TypeElement element, ExecutableElement method, Remote remote) throws Refused {
        for (Remote.Failure failure : remote.failures) {
            if (failure.element().equals(element)) {
                return failure;
            }
        }
        if (remote.failures.size() == FAILURES_MAX) {
            throw new Refused(method, "an interface has at most " + FAILURES_MAX + " exceptions of its own");
        }
        program.checkVisible(element, method, remote.element);
        Remote.Failure failure = new Remote.Failure(element, FIRST + remote.failures.size(), hasMessage(element, method, remote.element));
        remote.failures.add(failure);
        return failure;
    }

    /**
     * Whether the exception has a constructor with a message. If not, the exception must have a
     * constructor without arguments. The package of {@code from} must have access to the
     * constructor.
     */
    private boolean hasMessage(TypeElement element, ExecutableElement method, TypeElement from) throws Refused {
        boolean isInner = element.getNestingKind() == NestingKind.MEMBER && !element.getModifiers().contains(Modifier.STATIC);
        boolean hasOther = false;
        for (ExecutableElement constructor : ElementFilter.constructorsIn(element.getEnclosedElements())) {
            if (isInner || element.getModifiers().contains(Modifier.ABSTRACT) || !program.isVisible(constructor, from)) {
                continue;
            }
            var params = constructor.getParameters();
            if (params.size() == 1 && program.isString(params.get(0).asType())) {
                return true;
            }
            hasOther |= params.isEmpty();
        }
        if (!hasOther) {
            throw new Refused(
                    method,
                    "`" + element.getSimpleName() + "` cannot be thrown to callers: it needs a constructor with a String or without parameters that "
                            + from.getSimpleName() + "'s package can call");
        }
        return false;
    }
}
