package obvia.processor;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import javax.lang.model.element.ElementKind;
import javax.lang.model.element.TypeElement;
import javax.lang.model.type.TypeMirror;

/** What a parameter, a result or a member may be. */
sealed interface Type {
    /** A number, a character or a truth value. */
    record Value(Base base) implements Type {}

    /** One of an enumeration's constants. */
    record Constant(TypeElement element, String name, List<String> constants) implements Type {}

    /** A {@code String}. */
    record Text() implements Type {}

    /** An object that is called; any, where {@code element} is {@code obvia.Remote}. */
    record Reference(TypeElement element, String name) implements Type {}

    /** A number or truth value that may be {@code null}: an {@code Integer}. */
    record Boxed(Base base) implements Type {}

    /**
     * An array or a list.
     *
     * @param element what it has in frames: a value, or a structure; what neither is lies in a structure of its own there
     * @param mirror the type of its elements in Java
     */
    record Sequence(Type element, TypeMirror mirror, boolean isList) implements Type {}

    /** A record, a class, or a sealed type; or a structure around what is no value, as an element of an array. */
    final class Struct implements Type {
        /** The class; {@code null} for an element. */
        final TypeElement element;
        /** Its name in IDL. */
        final String name;
        /** Whether several pointers may lead to one. */
        final boolean isGraph;
        /** What it has; of a sealed type a member for each of its kinds that has something. */
        final List<Member> members = new ArrayList<>();
        /** Of a sealed type, its kinds: the number of one is its place. */
        final List<Kind> kinds = new ArrayList<>();

        Struct(TypeElement element, String name, boolean isGraph) {
            this.element = element;
            this.name = name;
            this.isGraph = isGraph;
        }

        boolean isRecord() {
            return element.getKind() == ElementKind.RECORD;
        }

        /** Whether it is a sealed type. */
        boolean isSealed() {
            return !kinds.isEmpty();
        }

        /** What IDL calls the union of a sealed type's kinds. */
        String unionName() {
            return name + "Kinds";
        }

        /** How it lies in memory. */
        Block block() {
            Block block = new Block();
            members.forEach(member -> block.add(member.type, member.idlName));
            return block;
        }
    }

    /**
     * One of a sealed type's kinds.
     *
     * @param member what the union has for it; {@code null} for a kind that has nothing
     */
    record Kind(TypeElement element, Member member) {}

    /**
     * A member of a structure.
     *
     * @param name its name in Java
     * @param idlName its name in IDL
     * @param countName what IDL calls its length; {@code null} for what has none
     * @param field where a class has it; {@code null} where nothing is set
     */
    record Member(String name, String idlName, String countName, Type type, TypeMirror mirror, Field field) {}

    /**
     * A field of a class.
     *
     * @param above how many classes above it declares the field; none where it does so itself
     * @param mirror its type there, without arguments
     * @param isReached whether the code may name it
     */
    record Field(int above, TypeMirror mirror, boolean isReached) {}

    /** Whether it is a value that lies where it is, in a block or in an array. */
    default boolean isScalar() {
        return this instanceof Value || this instanceof Constant;
    }

    /** What IDL calls it, without pointers. */
    default String idl() {
        return switch (this) {
            case Value value -> value.base.idl;
            case Constant constant -> constant.name;
            case Text text -> "wchar_t";
            case Reference reference -> reference.name;
            case Boxed boxed -> boxed.base.idl;
            case Sequence sequence -> sequence.element.idl();
            case Struct struct -> "struct " + struct.name;
        };
    }

    /** Whether it needs more than a frame's block and what lies behind it in order. */
    default boolean isGraph() {
        return switch (this) {
            case Boxed boxed -> true;
            case Struct struct -> true;
            case Sequence sequence -> sequence.isList || !sequence.element.isScalar();
            default -> false;
        };
    }

    /** Whether it is an object that is called, or leads to one; what was {@code seen} is not looked at again. */
    default boolean hasReferences(Set<Type> seen) {
        return switch (this) {
            case Reference reference -> true;
            case Sequence sequence -> sequence.element.hasReferences(seen);
            case Struct struct -> seen.add(struct) && struct.members.stream().anyMatch(member -> member.type.hasReferences(seen));
            default -> false;
        };
    }

    /** The bytes that it has in a block or an array: a slot's for what lies elsewhere. */
    default int size() {
        return switch (this) {
            case Value value -> value.base.size;
            case Constant constant -> 4;
            default -> 8;
        };
    }
}
