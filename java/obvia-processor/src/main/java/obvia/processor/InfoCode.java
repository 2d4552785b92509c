package obvia.processor;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import javax.lang.model.element.TypeElement;

/** The class that describes an interface, with its proxy and its stub. */
final class InfoCode {
    /** The number of an interface's first type. */
    private static final int KIND_FIRST = 16;

    /** The opnum of the first method. */
    private static final int OPNUM_FIRST = 3;

    private final World world;
    private final Remote remote;
    private final Code code;
    private final GraphCode graphs;
    private final List<Type> kinds = new ArrayList<>();
    private final Set<String> methods = new HashSet<>(Set.of("perform", "interfaces", "IDL", "INFO", "KINDS"));
    private final Map<Type.Constant, String> readers = new LinkedHashMap<>();

    InfoCode(World world, Remote remote) {
        this.world = world;
        this.remote = remote;
        code = new Code(world.elements, world.elements.getPackageOf(remote.element).getQualifiedName().toString());
        graphs = new GraphCode(code, this);
        for (Remote.Method method : remote.allMethods()) {
            method.params().forEach(param -> addKind(param.type()));
            addKind(method.result());
        }
    }

    private void addKind(Type type) {
        Type pointed =
                switch (type) {
                    case Type.Sequence sequence -> sequence.element();
                    case Type.Boxed boxed -> new Type.Value(boxed.base());
                    case Type.Struct struct -> struct;
                    case null, default -> null;
                };
        if (pointed != null && !kinds.contains(pointed)) {
            kinds.add(pointed);
            if (pointed instanceof Type.Struct struct) {
                struct.members.forEach(member -> addKind(member.type()));
            }
        }
    }

    /** Returns the type number of an object with these elements. */
    int kind(Type element) {
        return KIND_FIRST + kinds.indexOf(element);
    }

    /** Returns the name of the method that reads an enumeration's constant. */
    String reader(Type.Constant constant) {
        return readers.computeIfAbsent(constant, c -> unique("read" + c.name()));
    }

    /** Returns the expression for the description of a reference's interface. */
    String wanted(Type.Reference reference) {
        if (world.isRoot(reference.element())) {
            return code.runtime("InterfaceInfo") + ".of(" + code.named(reference.element()) + ".class)";
        }
        return code.info(world, reference.element()) + ".INFO";
    }

    GraphCode graphs() {
        return graphs;
    }

    String unique(String name) {
        while (!methods.add(name)) {
            name += "_";
        }
        return name;
    }

    /** Returns the source. */
    String text() throws Refused {
        String type = code.named(remote.element);
        String info = world.infoName(remote.element);
        List<String> names = remote.allMethods().stream().map(method -> unique(method.name())).toList();
        code.line("/** {@link " + type + "} as the runtime knows it: its description, its proxy and its stub. */");
        code.line("@" + code.runtime("FromJava"));
        code.line("public final class " + info + " {");
        describe(type, info);
        perform(type, names);
        for (int at = 0; at < names.size(); at++) {
            new StubCode(code, world, names(at)).write(names.get(at), type);
        }
        String proxy = proxyName();
        code.line("/** Stands for an object of another process. */");
        code.line("private static final class " + proxy + " extends " + code.runtime("Proxy") + " implements " + type + " {");
        code.line(proxy + "(" + code.runtime("Reference") + " reference) {");
        code.line("super(reference);");
        code.line("}");
        for (int at = 0; at < names.size(); at++) {
            code.line("");
            new ProxyCode(code, names(at)).write(OPNUM_FIRST + at);
        }
        code.line("}");
        readers.forEach(this::enumeration);
        boolean isGraph = remote.allMethods().stream().anyMatch(Remote.Method::isGraph);
        graphs.types(isGraph ? kinds : List.of());
        code.line("}");
        return code.text("// Made by obvia-processor from " + remote.element.getSimpleName() + ".java. Change that, not this.\n");
    }

    private MethodCode names(int at) {
        return new MethodCode(code, world, this, remote.allMethods().get(at));
    }

    private String proxyName() {
        return remote.element.getSimpleName() + "Proxy";
    }

    private void describe(String type, String info) throws Refused {
        String text = Canonical.text(remote);
        code.line("private static final String IDL =");
        code.continuation("\"\"\"");
        text.lines().forEach(code::continuation);
        code.continuation("\"\"\";");
        code.line("");
        ByteBuffer print = Canonical.fingerprint(text);
        code.line("/** The description. */");
        code.line("public static final " + code.runtime("InterfaceInfo") + "<" + type + "> INFO = new InterfaceInfo<>(");
        code.continuation(type + ".class,");
        code.continuation("\"" + remote.name + "\",");
        code.continuation(code.named("obvia.Guid") + ".of(\"" + remote.iid + "\"),");
        code.continuation("0,");
        code.continuation(String.format("0x%016xL,", print.getLong()));
        code.continuation(String.format("0x%016xL,", print.getLong()));
        code.continuation(remote.base == null ? "null," : code.info(world, remote.base.element) + ".INFO,");
        code.continuation(proxyName() + "::new,");
        code.continuation(info + "::perform,");
        code.continuation("IDL,");
        code.continuation(info + "::interfaces);");
        code.line("");
        code.line("private " + info + "() {}");
        code.line("");
        code.line("/** The interfaces that it knows. */");
        code.line("private static " + code.named("java.util.List") + "<InterfaceInfo<?>> interfaces() {");
        code.line("return List.of(" + String.join(", ", related(info)) + ");");
        code.line("}");
        code.line("");
    }

    private List<String> related(String info) throws Refused {
        Set<String> related = new TreeSet<>();
        for (Remote one : remote.lineage()) {
            related.add(code.info(world, one.element) + ".INFO");
        }
        for (Type.Reference reference : Closure.of(remote.lineage()).references.values()) {
            related.add(code.info(world, reference.element()) + ".INFO");
        }
        return List.copyOf(related);
    }

    private void perform(String type, List<String> names) {
        code.line("private static void perform(" + type + " object, " + code.runtime("InCall") + " call) throws Throwable {");
        code.line("switch (call.opnum) {");
        for (int at = 0; at < names.size(); at++) {
            code.line("case " + (OPNUM_FIRST + at) + " -> " + names.get(at) + "(object, call);");
        }
        code.line("default -> throw call.noMethod();");
        code.line("}");
        code.line("}");
        code.line("");
    }

    private void enumeration(Type.Constant constant, String reader) {
        String type = code.named(constant.element());
        String constants = unique(constant.name() + "_CONSTANTS");
        code.line("");
        code.line("private static final " + type + "[] " + constants + " = " + type + ".values();");
        code.line("");
        code.line("private static " + type + " " + reader + "(" + code.runtime("FrameReader") + " frame, int at) {");
        code.line("int value = frame.getInt(at);");
        code.line("if (value < 0 || value >= " + constants + ".length) {");
        code.line("throw frame.bad(value + \" is no " + constant.name() + "\");");
        code.line("}");
        code.line("return " + constants + "[value];");
        code.line("}");
    }
}
