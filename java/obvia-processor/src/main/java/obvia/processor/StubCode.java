package obvia.processor;

import static java.util.stream.Collectors.joining;

import java.util.ArrayList;
import java.util.List;

/** A method of a stub: verifies the arguments, calls the object, and writes the results. */
final class StubCode {
    private final Code code;
    private final MethodCode names;
    private final Program program;
    private final Remote.Method method;

    StubCode(Code code, Program program, MethodCode names) {
        this.code = code;
        this.program = program;
        this.names = names;
        method = names.method;
    }

    void write(String name, String type) {
        code.line("private static void " + name + "(" + type + " object, " + code.runtime("InCall") + " call)" + thrown() + " {");
        arguments();
        invoke();
        if (names.reply.isGraph()) {
            code.line("call.reply(" + names.writeGraph(names.reply, "results") + ");");
        } else if (method.result() != null) {
            code.line("call.reply(" + names.measure(names.reply, "call") + ");");
            names.write(names.reply, "call.replyMemory", "call.replyAt", "results");
        }
        code.line("}");
        code.line("");
    }

    private void arguments() {
        if (names.request.isNumbers()) {
            names.readNumbers(names.request, "call.memory", "call.at");
            return;
        }
        if (names.request.isGraph()) {
            built();
            return;
        }
        names.read(names.request, "arguments", false);
        List<Integer> references = new ArrayList<>();
        for (int at = 0; at < names.given.size(); at++) {
            if (method.params().get(at).type() instanceof Type.Reference) {
                references.add(at);
            }
        }
        while (!references.isEmpty()) {
            int at = references.removeFirst();
            var reference = (Type.Reference) method.params().get(at).type();
            String name = names.given.get(at);
            // If the reference cannot be unmarshaled, the stub gives the later references back.
            String rest = references.stream().map(other -> ", " + names.derived(names.given.get(other), "Reference")).collect(joining());
            code.line(names.java(reference) + " " + name + " = " + code.runtime("Marshal") + ".object(call, " + names.derived(name, "Reference") + ", "
                    + names.wanted(reference) + rest + ");");
        }
    }

    /**
     * Generates the code that reads arguments with structures. Only the built values remain after
     * the frame is closed.
     */
    private void built() {
        for (Block.Item item : names.request.items) {
            if (item.type() != null) {
                code.line(names.java(item.type()) + " " + item.name() + ";");
            }
        }
        String reader = code.runtime("GraphReader");
        code.line(reader + " arguments = " + reader + ".of(call, " + names.request.size() + ", KINDS);");
        code.line("try {");
        names.readGraph(names.request, "arguments", "REF", "call");
        for (Block.Item item : names.request.items) {
            if (item.type() != null) {
                code.line(item.name() + " = " + names.built(item, "arguments", false) + ";");
            }
        }
        code.line("} finally {");
        code.line("arguments.close();");
        code.line("}");
    }

    private void invoke() {
        String invoked = "object." + method.element().getSimpleName() + "(" + String.join(", ", names.given) + ");";
        String type = method.result() == null ? "" : code.named(method.element().getReturnType());
        if (method.failures().isEmpty()) {
            code.line(type.isEmpty() ? invoked : type + " result = " + invoked);
            return;
        }
        if (!type.isEmpty()) {
            code.line(type + " result;");
        }
        code.line("try {");
        code.line(type.isEmpty() ? invoked : "result = " + invoked);
        for (Remote.Failure failure : subclassesFirst()) {
            code.line("} catch (" + code.named(failure.element()) + " e) {");
            code.line(String.format("throw new %s(0x%08x, e.getMessage(), e);", code.named("obvia.RpcException"), failure.result()));
        }
        code.line("}");
    }

    /** Returns the exceptions, subclasses before superclasses, so that each can be caught. */
    private List<Remote.Failure> subclassesFirst() {
        List<Remote.Failure> left = new ArrayList<>(method.failures());
        List<Remote.Failure> ordered = new ArrayList<>();
        while (!left.isEmpty()) {
            Remote.Failure next = left.stream()
                    .filter(one -> left.stream().noneMatch(other -> other != one && program.types.isSubtype(other.element().asType(), one.element().asType())))
                    .findFirst()
                    .orElseThrow();
            left.remove(next);
            ordered.add(next);
        }
        return ordered;
    }

    /** Returns the throws clause, with the exceptions that the generated code does not catch. */
    private String thrown() {
        List<String> thrown = method.element().getThrownTypes().stream()
                .filter(mirror -> method.failures().stream().noneMatch(failure -> program.types.isSameType(mirror, failure.element().asType())))
                .map(code::named)
                .toList();
        return thrown.isEmpty() ? "" : " throws " + String.join(", ", thrown);
    }
}
