package obvia.processor;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.lang.model.element.ExecutableElement;
import javax.lang.model.element.Modifier;
import javax.lang.model.element.TypeElement;
import javax.lang.model.element.VariableElement;
import javax.lang.model.type.TypeKind;
import javax.lang.model.type.TypeMirror;
import javax.lang.model.util.ElementFilter;

/** Reads interfaces from the compiler's model. */
final class InterfaceReader {
    private static final int METHODS_MAX = 1024;

    private final Program program;
    private final TypeReader types;
    private final FailureReader failures;
    private final Map<TypeElement, Remote> known = new HashMap<>();

    InterfaceReader(Program program) {
        this.program = program;
        types = new TypeReader(program);
        failures = new FailureReader(program);
    }

    /** Returns an interface with its bases. */
    Remote read(TypeElement element) throws Refused {
        Remote read = known.get(element);
        if (read == null) {
            read = readNew(element);
            known.put(element, read);
        }
        return read;
    }

    private Remote readNew(TypeElement element) throws Refused {
        if (!element.getTypeParameters().isEmpty()) {
            throw new Refused(element, "a remote interface cannot have type parameters: write an interface for each type");
        }
        program.checkVisible(element, element, element);
        TypeElement above = base(element);
        Remote remote = new Remote(element, IdlNames.type(element), above == null ? null : read(above));
        IdlNames names = new IdlNames();
        for (Remote.Method inherited : remote.allMethods()) {
            names.unique(element, inherited.name());
        }
        for (ExecutableElement method : ElementFilter.methodsIn(element.getEnclosedElements())) {
            if (method.getModifiers().contains(Modifier.ABSTRACT) && !isKnown(method, remote)) {
                remote.methods.add(method(method, remote, names));
            }
        }
        if (remote.allMethods().size() > METHODS_MAX) {
            throw new Refused(element, "an interface has at most " + METHODS_MAX + " methods, inherited ones included");
        }
        Canonical.identify(remote, program.iid(element));
        if (!program.isMadeHere(element) && !Canonical.text(remote).equals(program.text(element))) {
            throw new Refused(
                    element, "the code generated for `" + element.getSimpleName() + "` does not match its class file: compile it with `-parameters`, or together with this");
        }
        return remote;
    }

    /** Returns the remote base interface; {@code null} if the base is just {@code Remote}. */
    private TypeElement base(TypeElement element) throws Refused {
        TypeElement base = null;
        for (TypeMirror mirror : element.getInterfaces()) {
            TypeElement above = program.declared(mirror);
            if (program.isRoot(above)) {
                continue;
            }
            if (!program.isRemote(above)) {
                refuseForeign(element, above);
            } else if (base != null) {
                throw new Refused(element, "a remote interface extends at most one other: query an object for its other interfaces by `Obvia.as`");
            } else if (!program.isFromJava(above)) {
                throw new Refused(element, "`" + above.getSimpleName() + "` is written in IDL: write interfaces that extend it in IDL as well");
            } else {
                base = above;
            }
        }
        return base;
    }

    private void refuseForeign(TypeElement element, TypeElement above) throws Refused {
        for (ExecutableElement method : ElementFilter.methodsIn(program.elements.getAllMembers(above))) {
            if (method.getModifiers().contains(Modifier.ABSTRACT) && !program.isOfObject(method)) {
                throw new Refused(element, "`" + above.getSimpleName() + "` is not a remote interface, so its methods cannot be called: let it extend Remote");
            }
        }
    }

    /**
     * Whether the method gets no opnum of its own: it belongs to {@code Object}, or a base
     * interface declares it.
     */
    private boolean isKnown(ExecutableElement method, Remote remote) throws Refused {
        if (program.isOfObject(method)) {
            return true;
        }
        for (Remote.Method inherited : remote.allMethods()) {
            ExecutableElement other = inherited.element();
            if (program.elements.overrides(method, other, remote.element)) {
                if (!program.types.isSameType(method.getReturnType(), other.getReturnType())) {
                    throw new Refused(method, "the method overrides one with another result: give it another name");
                }
                return true;
            }
        }
        return false;
    }

    private Remote.Method method(ExecutableElement method, Remote remote, IdlNames names) throws Refused {
        if (!method.getTypeParameters().isEmpty()) {
            throw new Refused(method, "a remote method cannot have type parameters: write a method for each type");
        }
        String name = names.method(method, method.getSimpleName().toString());
        List<? extends VariableElement> declared = method.getParameters();
        if (method.getSimpleName().contentEquals("begin") && declared.size() == 1 && declared.get(0).asType().getKind() == TypeKind.INT) {
            throw new Refused(method, "proxies already have a method `begin(int)`: give the method another name");
        }
        IdlNames own = new IdlNames();
        // The parameters take their names before the lengths do, so that a length gets another name
        // in a conflict.
        List<String> given = new ArrayList<>();
        for (VariableElement param : declared) {
            given.add(own.unique(param, param.getSimpleName().toString()));
        }
        List<Remote.Param> params = new ArrayList<>();
        for (int at = 0; at < given.size(); at++) {
            VariableElement param = declared.get(at);
            Type type = types.read(param.asType(), param, remote.element);
            String count = type instanceof Type.Sequence ? own.unique(param, given.get(at) + "Count") : null;
            params.add(new Remote.Param(param.getSimpleName().toString(), given.get(at), count, type, param.asType()));
        }
        TypeMirror returned = method.getReturnType();
        Type result = returned.getKind() == TypeKind.VOID ? null : types.read(returned, method, remote.element);
        String resultName = own.result();
        return new Remote.Method(method, name, params, result, resultName, failures.read(method, remote), failures.wraps(method));
    }
}
