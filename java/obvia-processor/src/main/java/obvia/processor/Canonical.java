package obvia.processor;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.StringJoiner;
import java.util.UUID;

/**
 * The canonical IDL of an interface and its types, in the same form as
 * {@code crates/idl/src/model/canonical.rs}; and the fingerprint of that text.
 */
final class Canonical {
    private Canonical() {}

    /** Returns the canonical text of an interface, with the IID if it is set. */
    static String text(Remote remote) throws Refused {
        List<Remote> own = remote.lineage();
        return text(own, Closure.of(own));
    }

    /** Returns the text of several interfaces, bases first. */
    static String text(List<Remote> interfaces, Closure closure) {
        StringBuilder out = new StringBuilder();
        for (String name : closure.references.keySet()) {
            if (interfaces.stream().noneMatch(remote -> remote.name.equals(name))) {
                out.append("interface " + name + ";\n");
            }
        }
        closure.constants.values().forEach(constant -> enumeration(out, constant));
        closure.structs.keySet().forEach(name -> out.append("struct " + name + ";\n"));
        StringBuilder body = new StringBuilder();
        closure.structs.values().forEach(struct -> declare(body, struct));
        // A result to which other pointers may lead has a named pointer type, because IDL has no
        // other notation for such a result.
        Set<String> aliases = new LinkedHashSet<>();
        interfaces.forEach(remote -> declare(body, remote, aliases));
        aliases.forEach(out::append);
        return out.append(body).toString();
    }

    /** Returns the first 16 bytes of the SHA-256 of a text. */
    static ByteBuffer fingerprint(String text) {
        try {
            return ByteBuffer.wrap(MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)), 0, 16);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    /**
     * Sets the IID of an interface: the declared IID {@code said}, or if there is none, a UUID of
     * version 8. The UUID is derived from the canonical text without IID, and from the exceptions.
     */
    static void identify(Remote remote, String said) throws Refused {
        remote.iid = said;
        if (said == null) {
            StringBuilder meant = new StringBuilder(text(remote));
            remote.failures.forEach(failure -> meant.append(comment(remote, failure)));
            ByteBuffer print = fingerprint(meant.toString());
            long high = print.getLong() & ~0xf000L | 0x8000L;
            long low = print.getLong() & ~(3L << 62) | 1L << 63;
            remote.iid = new UUID(high, low).toString();
        }
    }

    /** Returns the comment in IDL that describes an exception. */
    static String comment(Remote remote, Remote.Failure failure) {
        return String.format("// %s fails with 0x%08x for %s.\n", remote.name, failure.result(), failure.element().getQualifiedName());
    }

    private static void enumeration(StringBuilder out, Type.Constant found) {
        StringJoiner values = new StringJoiner(",\n");
        for (int value = 0; value < found.constants().size(); value++) {
            values.add("    " + found.name() + "_" + found.constants().get(value) + " = " + value);
        }
        out.append("typedef [v1_enum] enum {\n" + values + "\n} " + found.name() + ";\n");
    }

    private static void declare(StringBuilder out, Type.Struct struct) {
        if (struct.isSealed()) {
            declareKinds(out, struct);
            return;
        }
        out.append("struct " + struct.name + " {\n");
        for (Type.Member member : struct.members) {
            Type type = member.type();
            String name = member.idlName();
            out.append(switch (type) {
                case Type.Value value -> "    " + type.idl() + " " + name;
                case Type.Constant constant -> "    " + type.idl() + " " + name;
                case Type.Text text -> "    [string] wchar_t *" + name;
                case Type.Sequence sequence -> "    unsigned long " + member.countName() + ";\n    [size_is(" + member.countName() + ")] " + type.idl() + " *" + name;
                case Type.Struct pointed when pointed.isGraph -> "    [ptr] " + type.idl() + " *" + name;
                default -> "    " + type.idl() + " *" + name;
            });
            out.append(";\n");
        }
        out.append("};\n");
    }

    private static void declareKinds(StringBuilder out, Type.Struct struct) {
        out.append("[switch_type(long)] union " + struct.unionName() + " {\n");
        for (int number = 0; number < struct.kinds.size(); number++) {
            Type.Member member = struct.kinds.get(number).member();
            out.append("    case " + number + ": " + (member == null ? "" : "[ref] " + member.type().idl() + " *" + member.idlName()) + ";\n");
        }
        out.append("};\nstruct " + struct.name + " {\n    long kind;\n    [switch_is(kind)] union " + struct.unionName() + " value;\n};\n");
    }

    private static void declare(StringBuilder out, Remote remote, Set<String> aliases) {
        String base = remote.base == null ? "IUnknown" : remote.base.name;
        String uuid = remote.iid == null ? "" : "uuid(" + remote.iid + "), ";
        out.append("[object, " + uuid + "pointer_default(unique)]\ninterface " + remote.name + " : " + base + " {\n");
        remote.methods.forEach(method -> declare(out, method, aliases));
        out.append("}\n");
    }

    private static void declare(StringBuilder out, Remote.Method method, Set<String> aliases) {
        List<String> params = new ArrayList<>();
        for (Remote.Param param : method.params()) {
            String name = param.idlName();
            params.addAll(switch (param.type()) {
                case Type.Value value -> List.of("[in] " + value.idl() + " " + name);
                case Type.Constant constant -> List.of("[in] " + constant.idl() + " " + name);
                case Type.Text text -> List.of("[in, unique, string] wchar_t *" + name);
                case Type.Reference reference -> List.of("[in] " + reference.idl() + " *" + name);
                case Type.Sequence sequence -> List.of(
                        "[in] unsigned long " + param.countName(), "[in, size_is(" + param.countName() + ")] " + sequence.idl() + " *" + name);
                case Type.Boxed boxed -> List.of("[in, unique] " + boxed.idl() + " *" + name);
                case Type.Struct struct -> List.of("[in, " + (struct.isGraph ? "ptr" : "unique") + "] " + struct.idl() + " *" + name);
            });
        }
        if (method.result() != null) {
            String name = method.resultName();
            params.addAll(switch (method.result()) {
                case Type.Value value -> List.of("[out, retval] " + value.idl() + " *" + name);
                case Type.Constant constant -> List.of("[out, retval] " + constant.idl() + " *" + name);
                case Type.Text text -> List.of("[out, retval, string] wchar_t **" + name);
                case Type.Reference reference -> List.of("[out, retval] " + reference.idl() + " **" + name);
                case Type.Sequence sequence -> List.of(
                        "[out] unsigned long *" + name + "Count", "[out, retval, size_is(, *" + name + "Count)] " + sequence.idl() + " **" + name);
                case Type.Boxed boxed -> List.of("[out, retval] " + boxed.idl() + " **" + name);
                case Type.Struct struct when struct.isGraph -> {
                    aliases.add("typedef [ptr] " + struct.idl() + " *ptr_struct_" + struct.name + ";\n");
                    yield List.of("[out, retval] ptr_struct_" + struct.name + " *" + name);
                }
                case Type.Struct struct -> List.of("[out, retval] " + struct.idl() + " **" + name);
            });
        }
        out.append("    HRESULT " + method.name() + "(" + String.join(", ", params) + ");\n");
    }
}
