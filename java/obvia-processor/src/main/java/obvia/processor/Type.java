package obvia.processor;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import javax.lang.model.element.ElementKind;
import javax.lang.model.element.TypeElement;
import javax.lang.model.type.TypeMirror;

/** The type of a parameter, a result or a member. */
sealed interface Type {
    /** A number, a character or a boolean. */
    record Value(Base base) implements Type {}

    /** A constant of an enumeration. */
    record Constant(TypeElement element, String name, List<String> constants) implements Type {}

    /** A {@code String}. */
    record Text() implements Type {}

    /** A remote object; of any interface if {@code element} is {@code obvia.Remote}. */
    record Reference(TypeElement element, String name) implements Type {}

    /** A number or boolean that may be {@code null}: an {@code Integer}. */
    record Boxed(Base base) implements Type {}

    /**
     * An array or a list.
     *
     * @param element the type of elements in frames: a value or a structure; other types are
     *     wrapped by a structure
     * @param mirror the type of elements in Java
     */
    record Sequence(Type element, TypeMirror mirror, boolean isList) implements Type {}

    /**
     * A record, a class, or a sealed type; or a wrapper structure: see {@link StructReader#item}.
     */
    final class Struct implements Type {
        /** The class; {@code null} for a wrapper structure. */
        final TypeElement element;
        /** The name of the type in IDL. */
        final String name;
        /** Whether several pointers may lead to a value. */
        final boolean isGraph;
        /** The members; of a sealed type, a member for each kind that has content. */
        final List<Member> members = new ArrayList<>();
        /** The kinds of a sealed type. The index of a kind is its number. */
        final List<Kind> kinds = new ArrayList<>();

        Struct(TypeElement element, String name, boolean isGraph) {
            this.element = element;
            this.name = name;
            this.isGraph = isGraph;
        }

        boolean isRecord() {
            return element.getKind() == ElementKind.RECORD;
        }

        /** Whether the type is sealed. */
        boolean isSealed() {
            return !kinds.isEmpty();
        }

        /** Returns the IDL name of the union of a sealed type's kinds. */
        String unionName() {
            return name + "Kinds";
        }

        /** Returns the layout of a value in memory. */
        Block block() {
            Block block = new Block();
            members.forEach(member -> block.add(member.type, member.idlName));
            return block;
        }
    }

    /**
     * A kind of a sealed type: one of the classes of its values.
     *
     * @param member the union's member; {@code null} for a kind without content
     */
    record Kind(TypeElement element, Member member) {}

    /**
     * A member of a structure.
     *
     * @param name the name in Java
     * @param idlName the name in IDL
     * @param countName the name of the value's length in IDL; {@code null} if the value has no
     *     length
     * @param field the field of the class; {@code null} if no field is set
     */
    record Member(String name, String idlName, String countName, Type type, TypeMirror mirror, Field field) {}

    /**
     * A field of a class.
     *
     * @param above the number of steps from the class up to the superclass that declares the field
     * @param mirror the erasure of the field's type in the declaring class
     * @param isReached whether the field is accessible to the generated code
     */
    record Field(int above, TypeMirror mirror, boolean isReached) {}

    /** Whether a value of the type lies in place in a block or an array. */
    default boolean isScalar() {
        return this instanceof Value || this instanceof Constant;
    }

    /** Returns the type's IDL, without pointers. */
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

    /**
     * Whether a value needs the graph reader and writer, because a frame's block and a sequence of
     * objects without pointers do not suffice.
     */
    default boolean isGraph() {
        return switch (this) {
            case Boxed boxed -> true;
            case Struct struct -> true;
            case Sequence sequence -> sequence.isList || !sequence.element.isScalar();
            default -> false;
        };
    }

    /** Whether a value is a remote object or leads to one; types in {@code seen} are skipped. */
    default boolean hasReferences(Set<Type> seen) {
        return switch (this) {
            case Reference reference -> true;
            case Sequence sequence -> sequence.element.hasReferences(seen);
            case Struct struct -> seen.add(struct) && struct.members.stream().anyMatch(member -> member.type.hasReferences(seen));
            default -> false;
        };
    }

    /**
     * Returns the size in bytes in a block or an array: the size of the value, or of a slot that
     * leads to the value.
     */
    default int size() {
        return switch (this) {
            case Value value -> value.base.size;
            case Constant constant -> 4;
            default -> 8;
        };
    }
}
