package obvia.processor;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * The code for writing, verifying and reading structures: a class for each structure, and the code
 * for the members of a block or a structure.
 */
final class GraphCode {
    private static final Map<Base, String> TYPES = Map.of(
            Base.BOOLEAN, "BOOLEAN",
            Base.BYTE, "BYTE",
            Base.CHAR, "WCHAR",
            Base.SHORT, "SHORT",
            Base.INT, "LONG",
            Base.LONG, "HYPER",
            Base.FLOAT, "FLOAT",
            Base.DOUBLE, "DOUBLE");

    private final Code code;
    private final InfoCode info;
    /** The names of the generated constants that describe structures and enumerations. */
    private final Map<Type, String> types = new LinkedHashMap<>();

    GraphCode(Code code, InfoCode info) {
        this.code = code;
        this.info = info;
    }

    /** Returns the constant of a type to which pointers lead. */
    String type(Type type) {
        return switch (type) {
            case Type.Value(Base base) -> code.runtime("GraphType") + "." + TYPES.get(base);
            case Type.Struct struct -> types.computeIfAbsent(struct, s -> info.unique(shouted(struct.name)));
            case Type.Constant constant -> types.computeIfAbsent(constant, c -> info.unique(shouted(constant.name())));
            default -> throw new IllegalArgumentException("no pointer leads to the type");
        };
    }

    /** Converts a name to the form of constants: {@code LineItem} to {@code LINE_ITEM}. */
    private static String shouted(String name) {
        return name.replaceAll("(?<=[a-z0-9])(?=[A-Z])", "_").toUpperCase(Locale.ROOT);
    }

    /**
     * Returns the type of a value in Java; for the wrapper structure of an array element, the type
     * of its content.
     */
    String java(Type type) {
        return switch (type) {
            case Type.Value(Base base) -> base.java;
            case Type.Constant constant -> code.named(constant.element());
            case Type.Text text -> "String";
            case Type.Boxed(Base base) -> box(base);
            case Type.Reference reference -> code.named(reference.element());
            case Type.Struct struct -> struct.element == null ? code.named(struct.members.get(0).mirror()) : code.named(struct.element);
            case Type.Sequence sequence -> sequence.isList()
                    ? code.named("java.util.List") + "<" + code.named(sequence.mirror()) + ">"
                    : code.named(sequence.mirror()) + "[]";
        };
    }

    static String box(Base base) {
        return switch (base) {
            case CHAR -> "Character";
            case INT -> "Integer";
            default -> base.java.substring(0, 1).toUpperCase(Locale.ROOT) + base.java.substring(1);
        };
    }

    private static boolean isNumber(Type type) {
        return type instanceof Type.Value(Base base) && base != Base.BOOLEAN;
    }

    /**
     * Generates the code that writes a member. The value is a variable, or an expression that is
     * evaluated once.
     */
    void write(Block block, Block.Item item, String value, String out, String at) {
        String place = MethodCode.place(at, item.at());
        switch (item.type()) {
            case Type.Value(Base base) -> code.line(out + ".put" + base.ending + "(" + place + ", " + value + ");");
            case Type.Constant constant -> code.line(out + ".putInt(" + place + ", " + value + ".ordinal());");
            case Type.Text text -> code.line(out + ".text16(" + place + ", " + value + ");");
            case Type.Boxed(Base base) -> code.line(out + ".one(" + place + ", " + type(new Type.Value(base)) + ", " + value + ");");
            case Type.Struct struct -> code.line(out + (struct.isGraph ? ".shared(" : ".one(") + place + ", " + type(struct) + ", " + value + ");");
            case Type.Reference reference -> code.line(out + ".reference(" + place + ", " + value + ", " + info.wanted(reference) + ");");
            case Type.Sequence sequence -> {
                String written = code.runtime("JavaValues") + (isNumber(sequence.element()) && !sequence.isList() ? ".array(" : ".list(");
                code.line(written + out + ", " + MethodCode.place(at, block.count(item)) + ", " + place + ", " + type(sequence.element()) + ", " + value + ");");
            }
        }
    }

    /**
     * Generates the code that verifies a member. {@code pointer} is the kind of an array's pointer:
     * {@code REF} if the array must not be null.
     */
    void verify(Block block, Block.Item item, String in, String at, String pointer) {
        String place = MethodCode.place(at, item.at());
        String reader = code.runtime("GraphReader");
        switch (item.type()) {
            case Type.Value(Base base) -> {
                if (base == Base.BOOLEAN) {
                    code.line(in + ".checkBoolean(" + place + ");");
                }
            }
            case Type.Constant constant -> code.line(type(constant) + ".verify(" + in + ", " + place + ");");
            case Type.Text text -> code.line(in + ".checkText16(" + place + ", " + reader + ".UNIQUE);");
            case Type.Boxed(Base base) -> code.line(in + ".checkOne(" + place + ", " + type(new Type.Value(base)) + ", " + reader + ".UNIQUE);");
            case Type.Struct struct -> code.line(in + ".checkOne(" + place + ", " + type(struct) + ", " + reader + (struct.isGraph ? ".FULL);" : ".UNIQUE);"));
            case Type.Reference reference -> code.line(in + ".checkReference(" + place + ", " + info.wanted(reference) + ");");
            case Type.Sequence sequence -> code.line(in + ".checkMany(" + place + ", " + type(sequence.element()) + ", " + reader + "." + pointer
                    + ", Integer.toUnsignedLong(" + in + ".getInt(" + MethodCode.place(at, block.count(item)) + ")));");
        }
    }

    /**
     * Returns the expression for a member of a built value. If {@code isSome}, the expression
     * yields an empty list or array in place of {@code null}.
     */
    String read(Block.Item item, String in, String at, boolean isSome) {
        String place = MethodCode.place(at, item.at());
        return switch (item.type()) {
            case Type.Value(Base base) -> in + ".get" + base.ending + "(" + place + ")";
            case Type.Constant constant -> type(constant) + ".build(" + in + ", " + place + ")";
            case Type.Text text -> in + ".text16(" + place + ")";
            case Type.Boxed(Base base) when base == Base.BOOLEAN -> "(Boolean) " + in + ".one(" + place + ")";
            case Type.Boxed(Base base) -> "(" + box(base) + ") " + in + ".number(" + place + ", " + type(new Type.Value(base)) + ")";
            case Type.Struct struct -> "(" + java(struct) + ") " + in + ".one(" + place + ")";
            case Type.Reference reference -> in + ".object(" + place + ")";
            case Type.Sequence sequence -> sequence(sequence, in + ", " + place, isSome);
        };
    }

    private String sequence(Type.Sequence sequence, String from, boolean isSome) {
        String values = code.runtime("JavaValues");
        String read;
        if (sequence.element() instanceof Type.Value(Base base)) {
            read = values + "." + (base == Base.BOOLEAN ? "booleans" : base.array) + "(" + from + ")";
            read = sequence.isList() ? values + ".<" + box(base) + ">boxed(" + read + ")" : read;
        } else if (sequence.isList()) {
            read = values + ".<" + code.named(sequence.mirror()) + ">elements(" + from + ")";
        } else {
            String none = code.named(sequence.mirror());
            int ends = none.indexOf('[');
            none = ends < 0 ? none + "[0]" : none.substring(0, ends) + "[0]" + none.substring(ends);
            read = values + ".elements(" + from + ", new " + none + ")";
        }
        return isSome && sequence.isList() ? values + ".some(" + read + ")" : isSome ? values + ".some(" + read + ", " + java(sequence) + ".class)" : read;
    }

    /**
     * Generates the constants and classes of types, and then the list of the interface's pointer
     * targets.
     */
    void types(List<Type> kinds) {
        List<String> numbered = kinds.stream().map(this::type).toList();
        Set<Type> done = new HashSet<>();
        // Each class may use further types, which need classes as well.
        while (done.size() < types.size()) {
            Type next = types.keySet().stream().filter(type -> !done.contains(type)).findFirst().orElseThrow();
            done.add(next);
            new StructCode(code, this, types.get(next)).write(next);
        }
        if (!kinds.isEmpty()) {
            String name = code.runtime("GraphKinds");
            code.line("");
            code.line("/** The types to which pointers lead, in the order of their numbers in frames. */");
            code.line("private static final " + name + " KINDS = " + name + ".of(" + String.join(", ", numbered) + ");");
        }
    }
}
