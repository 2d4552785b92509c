package obvia.processor;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The common part of a method's proxy and stub: the names of variables, the frames, and the storing
 * and loading of values.
 */
final class MethodCode {
    /** The names that the generated methods use themselves. */
    private static final Set<String> LOCALS = Set.of("arguments", "call", "e", "i", "length", "object", "result", "results");

    final Code code;
    final Program program;
    final Remote.Method method;
    final Block request = new Block();
    final Block reply = new Block();
    /** The names of parameters, distinct from those of the generated code. */
    final List<String> given = new ArrayList<>();
    private final InfoCode info;
    private final Set<String> taken = new HashSet<>(LOCALS);
    private final Map<String, String> derived = new HashMap<>();

    MethodCode(Code code, Program program, InfoCode info, Remote.Method method) {
        this.code = code;
        this.program = program;
        this.info = info;
        this.method = method;
        for (Remote.Param param : method.params()) {
            given.add(unique(param.name()));
        }
        for (int at = 0; at < given.size(); at++) {
            request.add(method.params().get(at).type(), given.get(at));
        }
        if (method.result() != null) {
            reply.add(method.result(), "result");
        }
    }

    private String unique(String name) {
        while (!taken.add(name)) {
            name += "_";
        }
        return name;
    }

    /** Returns a unique name for a variable, made of a parameter's name and an ending. */
    String derived(String of, String ending) {
        return derived.computeIfAbsent(of + ending, this::unique);
    }

    /** Returns the type number of an array's elements. */
    int kind(Type element) {
        return info.kind(element);
    }

    /** Returns the name of a type in Java. */
    String java(Type type) {
        return info.graphs().java(type);
    }

    /** Returns the expression for the description of a reference's interface. */
    String wanted(Type.Reference reference) {
        return info.wanted(reference);
    }

    /**
     * Generates the code that writes a frame with structures. Returns the name of the frame's
     * writer.
     */
    String writeGraph(Block block, String writer) {
        code.line(code.runtime("GraphWriter") + " " + writer + " = " + code.runtime("GraphWriter") + ".of(KINDS, " + block.size() + ");");
        for (Block.Item item : block.items) {
            if (item.type() instanceof Type.Sequence) {
                code.line(code.named("java.util.Objects") + ".requireNonNull(" + item.name() + ", \"" + item.name() + "\");");
            }
            if (item.type() != null) {
                info.graphs().write(block, item, item.name(), writer, "0");
            }
        }
        return writer;
    }

    /**
     * Generates the code that reads and verifies a frame with structures, and unmarshals the
     * frame's references. {@code marshaled} is the expression for the proxy or the call to which
     * the references belong.
     */
    void readGraph(Block block, String reader, String pointer, String marshaled) {
        for (Block.Item item : block.items) {
            if (item.type() != null) {
                info.graphs().verify(block, item, reader, "0", pointer);
            }
        }
        code.line(reader + ".verify();");
        if (block.hasReferences()) {
            code.line(reader + ".resolve(" + marshaled + ");");
        }
        code.line(reader + ".build();");
    }

    /**
     * Returns the expression for a parameter or result of a frame that {@link #readGraph} has read.
     * {@code isSome} is as in {@link GraphCode#read}.
     */
    String built(Block.Item item, String reader, boolean isSome) {
        return info.graphs().read(item, reader, "0", isSome);
    }

    private String reference(Block.Item item, String marshaled) {
        String bytes = derived(item.name(), "Reference");
        code.line("byte[] " + bytes + " = " + code.runtime("Marshal") + ".reference(" + marshaled + ", " + item.name() + ", " + wanted((Type.Reference) item.type()) + ");");
        return bytes;
    }

    /**
     * Generates the code that checks the values to be written. Returns the frame's length: a
     * number, or the name of a variable.
     */
    String measure(Block block, String marshaled) {
        String length = Integer.toString(block.size());
        for (Block.Item item : block.items) {
            String name = item.name();
            String more =
                    switch (item.type()) {
                        case Type.Constant constant -> {
                            code.line(code.named("java.util.Objects") + ".requireNonNull(" + name + ", \"" + name + "\");");
                            yield null;
                        }
                        case Type.Text text -> {
                            String characters = derived(name, "Characters");
                            code.line("char[] " + characters + " = " + code.runtime("Frames") + ".utf16(" + name + ");");
                            yield characters;
                        }
                        case Type.Reference reference -> reference(item, marshaled);
                        case Type.Sequence sequence -> {
                            if (sequence.element() instanceof Type.Constant constant) {
                                code.line(java(constant) + "[] " + derived(name, "Copy") + " = " + code.runtime("Frames") + ".copy(" + name + ");");
                            }
                            yield name + ".length, " + sequence.element().size();
                        }
                        case null, default -> null;
                    };
            if (more != null) {
                code.line((length.equals("length") ? "" : "int ") + "length = " + code.runtime("Frames") + ".plus(" + length + ", " + more + ");");
                length = "length";
            }
        }
        return length;
    }

    /** Generates the code that writes a frame without structures. */
    void write(Block block, String memory, String at, String writer) {
        int end = 0;
        for (Block.Item item : block.items) {
            pad(memory, at, end, item.at());
            end = item.at() + item.size();
            if (item.isHere()) {
                store(item.type(), item.type() == null ? item.name() + ".length" : item.name(), memory, place(at, item.at()));
            }
        }
        pad(memory, at, end, block.size());
        if (block.isAll()) {
            return;
        }
        code.line(code.runtime("FrameWriter") + " " + writer + " = new " + code.runtime("FrameWriter") + "(call, " + block.size() + ");");
        for (Block.Item item : block.items) {
            if (!item.isHere()) {
                writeObject(item, memory, writer);
            }
        }
    }

    private void writeObject(Block.Item item, String memory, String writer) {
        String name = item.name();
        switch (item.type()) {
            case Type.Text text -> code.line(writer + ".wide(" + item.at() + ", " + derived(name, "Characters") + ");");
            case Type.Reference reference -> code.line(writer + ".reference(" + item.at() + ", " + derived(name, "Reference") + ");");
            case Type.Sequence sequence -> {
                Type element = sequence.element();
                int kind = kind(element);
                if (element instanceof Type.Value value && value.base() != Base.BOOLEAN) {
                    code.line(writer + ".put(" + name + ", " + item.at() + ", " + kind + ", " + name + ".length);");
                    return;
                }
                String source = element instanceof Type.Constant ? derived(name, "Copy") : name;
                String place = derived(name, "At");
                code.line("long " + place + " = " + writer + ".object(" + item.at() + ", " + kind + ", " + source + ".length, " + element.size() + ");");
                code.line("for (int i = 0; i < " + source + ".length; i++) {");
                store(element, source + "[i]", memory, place + (element.size() == 1 ? " + i" : " + i * 4L"));
                code.line("}");
            }
            default -> throw new IllegalArgumentException("the type does not lie in the block");
        }
    }

    private void store(Type type, String value, String memory, String at) {
        String flat = code.runtime("Flat");
        switch (type) {
            case null -> code.line(memory + ".set(" + flat + ".INT, " + at + ", " + value + ");");
            case Type.Constant constant -> code.line(memory + ".set(" + flat + ".INT, " + at + ", " + value + ".ordinal());");
            case Type.Value(Base base) when base == Base.BOOLEAN -> code.line(memory + ".set(" + flat + ".BYTE, " + at + ", (byte) (" + value + " ? 1 : 0));");
            case Type.Value(Base base) -> code.line(memory + ".set(" + flat + "." + base.layout() + ", " + at + ", " + value + ");");
            default -> throw new IllegalArgumentException("the type does not lie behind the block");
        }
    }

    private void pad(String memory, String at, int from, int to) {
        String flat = code.runtime("Flat");
        while (from < to) {
            int size = (from & 1) != 0 ? 1 : (from & 2) != 0 ? 2 : 4;
            size = Math.min(size, Integer.highestOneBit(to - from));
            String zero = size == 1 ? "BYTE, " + place(at, from) + ", (byte) 0" : size == 2 ? "SHORT, " + place(at, from) + ", (short) 0" : "INT, " + place(at, from) + ", 0";
            code.line(memory + ".set(" + flat + "." + zero + ");");
            from += size;
        }
    }

    /** Returns the expression for the sum of {@code at}, an expression, and {@code offset}. */
    static String place(String at, int offset) {
        return offset == 0 ? at : at.equals("0") ? Integer.toString(offset) : at + " + " + offset;
    }

    /** Generates the code that reads a block of numbers, which needs no verification. */
    void readNumbers(Block block, String memory, String at) {
        code.line("call.expect(" + block.size() + ");");
        for (Block.Item item : block.items) {
            Base base = ((Type.Value) item.type()).base();
            code.line(base.java + " " + item.name() + " = " + memory + ".get(" + code.runtime("Flat") + "." + base.layout() + ", " + place(at, item.at()) + ");");
        }
    }

    /**
     * Generates the code that reads and verifies a frame without structures. References stay bytes,
     * in variables that are already declared if {@code isDeclared}.
     */
    void read(Block block, String reader, boolean isDeclared) {
        code.line(code.runtime("FrameReader") + " " + reader + " = new " + code.runtime("FrameReader") + "(call, " + block.size() + ");");
        for (Block.Item item : block.items) {
            if (item.type() == null) {
                code.line("int " + derived(item.name(), "Count") + " = " + reader + ".count(Integer.toUnsignedLong(" + reader + ".getInt(" + item.at() + ")));");
            } else if (item.isHere()) {
                code.line(java(item.type()) + " " + item.name() + " = " + load(item.type(), reader, Integer.toString(item.at())) + ";");
            }
        }
        for (Block.Item item : block.items) {
            if (!item.isHere()) {
                readObject(item, block == reply, reader, isDeclared);
            }
        }
        code.line(reader + ".end();");
    }

    private void readObject(Block.Item item, boolean isReply, String reader, boolean isDeclared) {
        String name = item.name();
        switch (item.type()) {
            case Type.Text text -> code.line("String " + name + " = " + reader + ".wide(" + item.at() + ");");
            case Type.Reference reference ->
                code.line((isDeclared ? "" : "byte[] ") + derived(name, "Reference") + " = " + reader + ".reference(" + item.at() + ");");
            case Type.Sequence sequence -> {
                Type element = sequence.element();
                int kind = kind(element);
                String count = derived(name, "Count");
                boolean isNumber = element instanceof Type.Value value && value.base() != Base.BOOLEAN;
                if (isNumber && !isReply) {
                    code.line(java(sequence) + " " + name + " = " + reader + "." + ((Type.Value) element).base().array + "(" + item.at() + ", " + kind + ", " + count + ");");
                    return;
                }
                String body = derived(name, "Body");
                code.line("int " + body + " = " + reader + "."
                        + (isReply ? "allocated(" + item.at() + ", " + kind + ", " + element.size() + ", " + count : "find(" + item.at() + ", " + kind + ", " + count + ", " + element.size())
                        + ");");
                if (isNumber) {
                    Base base = ((Type.Value) element).base();
                    code.line(java(sequence) + " " + name + " = " + reader + ".copy" + base.ending + "s(" + body + ", " + count + ");");
                    return;
                }
                code.line(java(sequence) + " " + name + " = new " + java(element) + "[" + count + "];");
                code.line("for (int i = 0; i < " + count + "; i++) {");
                code.line(name + "[i] = " + load(element, reader, body + (element.size() == 1 ? " + i" : " + i * 4")) + ";");
                code.line("}");
            }
            default -> throw new IllegalArgumentException("the type does not lie in the block");
        }
    }

    private String load(Type type, String reader, String at) {
        return switch (type) {
            case Type.Constant constant -> info.reader(constant) + "(" + reader + ", " + at + ")";
            case Type.Value(Base base) -> reader + ".get" + base.ending + "(" + at + ")";
            default -> throw new IllegalArgumentException("the type does not lie behind the block");
        };
    }
}
