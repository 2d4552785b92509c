package obvia.processor;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.BiConsumer;

/** The class that writes, verifies and reads one structure or enumeration. */
final class StructCode {
    private final Code code;
    private final GraphCode graphs;
    private final String constant;
    private final String name;

    StructCode(Code code, GraphCode graphs, String constant) {
        this.code = code;
        this.graphs = graphs;
        this.constant = constant;
        StringBuilder words = new StringBuilder();
        for (String word : constant.toLowerCase(Locale.ROOT).split("_")) {
            words.append(word.isEmpty() ? "_" : Character.toUpperCase(word.charAt(0)) + word.substring(1));
        }
        name = words + "Type";
    }

    void write(Type type) {
        code.line("");
        code.line("private static final " + name + " " + constant + " = new " + name + "();");
        code.line("");
        code.line("private static final class " + name + " extends " + code.runtime("GraphType") + " {");
        switch (type) {
            case Type.Constant enumeration -> enumeration(enumeration);
            case Type.Struct struct when struct.isSealed() -> kinds(struct);
            case Type.Struct struct -> structure(struct);
            default -> throw new IllegalArgumentException("no class is generated for the type");
        }
        code.line("");
        code.line("@Override");
        code.line("protected Object view(" + code.runtime("Frame") + " frame, int at) {");
        code.line("throw new UnsupportedOperationException(\"passed values are copied\");");
        code.line("}");
        code.line("}");
    }

    private void begin(int size) {
        code.line(name + "() {");
        code.line("super(" + size + ");");
        code.line("}");
        code.line("");
        code.line("@Override");
        code.line("protected void verify(" + code.runtime("GraphReader") + " in, int at) {");
    }

    private void enumeration(Type.Constant enumeration) {
        String type = code.named(enumeration.element());
        code.line("private final " + type + "[] constants = " + type + ".values();");
        code.line("");
        begin(4);
        code.line("if (in.getInt(at) < 0 || in.getInt(at) >= constants.length) {");
        code.line("throw in.badEnum(at);");
        code.line("}");
        code.line("}");
        code.line("");
        code.line("@Override");
        code.line("protected void write(" + code.runtime("GraphWriter") + " out, Object value, int at) {");
        code.line("out.putInt(at, ((" + type + ") value).ordinal());");
        code.line("}");
        code.line("");
        code.line("@Override");
        code.line("protected " + type + " build(GraphReader in, int at) {");
        code.line("return constants[in.getInt(at)];");
        code.line("}");
    }

    /**
     * Generates the class of a sealed type. A value consists of the number of the kind, and a slot
     * that leads to the kind's content.
     */
    private void kinds(Type.Struct struct) {
        begin(16);
        code.line("switch (in.getInt(at)) {");
        each(struct, (number, kind) -> {
            String check = kind.member() == null ? "{}" : "in.checkOne(at + 8, " + graphs.type(kind.member().type()) + ", GraphReader.REF);";
            code.line("case " + number + " -> " + check);
        });
        code.line("default -> throw in.bad(at, in.getInt(at) + \" is not a kind of " + struct.element.getSimpleName() + "\");");
        code.line("}");
        code.line("}");
        code.line("");
        code.line("@Override");
        code.line("protected void write(" + code.runtime("GraphWriter") + " out, Object value, int at) {");
        code.line("switch ((" + graphs.java(struct) + ") value) {");
        each(struct, (number, kind) -> {
            code.line("case " + code.named(kind.element()) + " given -> {");
            code.line("out.putInt(at, " + number + ");");
            if (kind.member() != null) {
                code.line("out.one(at + 8, " + graphs.type(kind.member().type()) + ", given);");
            }
            code.line("}");
        });
        code.line("}");
        code.line("}");
        code.line("");
        code.line("@Override");
        code.line("protected Object build(GraphReader in, int at) {");
        code.line("return switch (in.getInt(at)) {");
        each(struct, (number, kind) -> {
            if (kind.member() == null) {
                code.line("case " + number + " -> new " + code.named(kind.element()) + "();");
            }
        });
        code.line("default -> in.one(at + 8);");
        code.line("};");
        code.line("}");
    }

    private static void each(Type.Struct struct, BiConsumer<Integer, Type.Kind> work) {
        for (int number = 0; number < struct.kinds.size(); number++) {
            work.accept(number, struct.kinds.get(number));
        }
    }

    private void structure(Type.Struct struct) {
        Block block = struct.block();
        if (struct.element != null && !struct.isRecord()) {
            handles(struct);
        }
        begin(block.stride());
        for (Block.Item item : block.items) {
            if (item.type() != null) {
                graphs.verify(block, item, "in", "at", "UNIQUE");
            }
        }
        code.line("}");
        code.line("");
        code.line("@Override");
        code.line("protected void write(" + code.runtime("GraphWriter") + " out, Object value, int at) {");
        if (struct.element != null) {
            code.line(graphs.java(struct) + " given = " + code.runtime("JavaValues") + ".exactly(" + graphs.java(struct) + ".class, value);");
        }
        int at = 0;
        for (Block.Item item : block.items) {
            if (item.type() != null) {
                graphs.write(block, item, get(struct, struct.members.get(at++)), "out", "at");
            }
        }
        code.line("}");
        code.line("");
        if (struct.isGraph) {
            graph(struct, block);
        } else {
            build(struct, block);
        }
    }

    private static String handle(Type.Member member) {
        return member.idlName() + "Handle";
    }

    /** Generates the handles of fields that are not accessible to the generated code. */
    private void handles(Type.Struct struct) {
        List<Type.Member> hidden = struct.members.stream().filter(member -> !member.field().isReached()).toList();
        if (hidden.isEmpty()) {
            return;
        }
        String type = graphs.java(struct);
        String varHandle = code.named("java.lang.invoke.VarHandle");
        String handles = code.named("java.lang.invoke.MethodHandles");
        hidden.forEach(member -> code.line("private static final " + varHandle + " " + handle(member) + ";"));
        code.line("");
        code.line("static {");
        code.line("try {");
        code.line("var lookup = " + handles + ".privateLookupIn(" + type + ".class, " + handles + ".lookup());");
        for (Type.Member member : hidden) {
            String owner = type + ".class" + ".getSuperclass()".repeat(member.field().above());
            String in = member.field().above() == 0 ? "lookup" : handles + ".privateLookupIn(" + owner + ", lookup)";
            String raw = code.erased(member.field().mirror());
            code.line(handle(member) + " = " + in + ".findVarHandle(" + owner + ", \"" + member.name() + "\", " + raw + ".class);");
        }
        code.line("} catch (ReflectiveOperationException e) {");
        code.line("throw new ExceptionInInitializerError(e);");
        code.line("}");
        code.line("}");
        code.line("");
    }

    private String get(Type.Struct struct, Type.Member member) {
        if (struct.element == null) {
            // No cast: the code that writes the value distinguishes lists and arrays.
            return member.type() instanceof Type.Sequence ? "value" : "(" + code.named(member.mirror()) + ") value";
        }
        if (struct.isRecord()) {
            return "given." + member.name() + "()";
        }
        return member.field().isReached() ? "given." + member.name() : "(" + code.erased(member.mirror()) + ") " + handle(member) + ".get(given)";
    }

    private List<String> values(Type.Struct struct, Block block) {
        List<String> values = new ArrayList<>();
        for (Block.Item item : block.items) {
            if (item.type() != null) {
                values.add(graphs.read(item, "in", "at", false));
            }
        }
        return values;
    }

    private void build(Type.Struct struct, Block block) {
        String type = graphs.java(struct);
        List<String> values = values(struct, block);
        code.line("@Override");
        code.line("protected Object build(GraphReader in, int at) {");
        if (struct.element == null) {
            code.line("return " + values.get(0) + ";");
        } else if (struct.isRecord()) {
            code.line("return new " + type + "(" + String.join(", ", values) + ");");
        } else {
            code.line(type + " made = new " + type + "();");
            set(struct, values);
            code.line("return made;");
        }
        code.line("}");
    }

    private void graph(Type.Struct struct, Block block) {
        String type = graphs.java(struct);
        code.line("@Override");
        code.line("protected boolean isShared() {");
        code.line("return true;");
        code.line("}");
        code.line("");
        code.line("@Override");
        code.line("protected Object make() {");
        code.line("return new " + type + "();");
        code.line("}");
        code.line("");
        code.line("@Override");
        code.line("protected void fill(GraphReader in, int at, Object value) {");
        code.line(type + " made = (" + type + ") value;");
        set(struct, values(struct, block));
        code.line("}");
    }

    private void set(Type.Struct struct, List<String> values) {
        for (int at = 0; at < values.size(); at++) {
            Type.Member member = struct.members.get(at);
            code.line(member.field().isReached() ? "made." + member.name() + " = " + values.get(at) + ";" : handle(member) + ".set(made, " + values.get(at) + ");");
        }
    }
}
