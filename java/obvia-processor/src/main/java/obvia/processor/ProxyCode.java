package obvia.processor;

import java.util.ArrayList;
import java.util.List;
import javax.lang.model.type.TypeMirror;

/** A method of a proxy: writes the arguments, makes the call, and reads the results. */
final class ProxyCode {
    private final Code code;
    private final MethodCode names;
    private final Remote.Method method;

    ProxyCode(Code code, MethodCode names) {
        this.code = code;
        this.names = names;
        method = names.method;
    }

    void write(int opnum) {
        List<String> params = new ArrayList<>();
        for (int at = 0; at < names.given.size(); at++) {
            params.add(code.named(method.params().get(at).mirror()) + " " + names.given.get(at));
        }
        code.line("@Override");
        code.line("public " + code.named(method.element().getReturnType()) + " " + method.element().getSimpleName() + "(" + String.join(", ", params) + ")" + thrown() + " {");
        boolean isWrapped = method.wraps() != null || !method.failures().isEmpty();
        if (isWrapped) {
            code.line("try {");
        }
        if (names.request.isGraph()) {
            code.line(code.runtime("Channel") + " call = begin(" + names.writeGraph(names.request, "arguments") + ");");
            code.line("try {");
            code.line("call(call, " + opnum + ", call.length);");
        } else {
            String length = names.measure(names.request, "this");
            code.line(code.runtime("Channel") + " call = begin(" + length + ");");
            code.line("try {");
            names.write(names.request, "call.memory", "call.at", "arguments");
            code.line("call(call, " + opnum + ", " + length + ");");
        }
        result();
        code.line("} catch (InternalError | IllegalStateException e) {");
        code.line("throw call.failed(e);");
        code.line("}");
        if (isWrapped) {
            code.line("} catch (" + code.named("obvia.RpcException") + " e) {");
            fail();
            code.line("}");
        }
        code.line("}");
    }

    private String thrown() {
        List<String> thrown = method.element().getThrownTypes().stream().map(code::named).toList();
        return thrown.isEmpty() ? "" : " throws " + String.join(", ", thrown);
    }

    private void result() {
        if (method.result() instanceof Type.Reference reference) {
            String bytes = names.derived("result", "Reference");
            code.line("byte[] " + bytes + ";");
            code.line("try {");
            names.read(names.reply, "results", true);
            code.line("} finally {");
            code.line("call.end();");
            code.line("}");
            code.line("return " + code.runtime("Marshal") + ".object(this, " + bytes + ", " + names.wanted(reference) + ");");
        } else if (names.reply.isGraph()) {
            code.line(code.runtime("GraphReader") + " results = " + code.runtime("GraphReader") + ".of(call, " + names.reply.size() + ", KINDS);");
            code.line("try {");
            names.readGraph(names.reply, "results", "UNIQUE", "this");
            code.line("return " + names.built(names.reply.items.getLast(), "results", true) + ";");
            code.line("} finally {");
            code.line("results.close();");
            code.line("call.end();");
            code.line("}");
        } else if (names.reply.isNumbers()) {
            names.readNumbers(names.reply, "call.replyMemory", "call.replyAt");
            code.line("call.end();");
            if (method.result() != null) {
                code.line("return result;");
            }
        } else {
            code.line("try {");
            names.read(names.reply, "results", false);
            code.line("return result;");
            code.line("} finally {");
            code.line("call.end();");
            code.line("}");
        }
    }

    /** Generates the code that throws the caller's exception for a failure. */
    private void fail() {
        TypeMirror wraps = method.wraps();
        String other = wraps == null ? "throw e;" : "throw new " + code.named(wraps) + "(e.getMessage(), e);";
        if (method.failures().isEmpty()) {
            code.line(other);
            return;
        }
        code.line("switch (e.result()) {");
        for (Remote.Failure failure : method.failures()) {
            String made = "new " + code.named(failure.element()) + "(" + (failure.hasMessage() ? "e.getMessage()" : "") + ")";
            code.line(String.format("case 0x%08x -> throw %s;", failure.result(), made));
        }
        code.line("default -> " + other);
        code.line("}");
    }
}
