package obvia.processor;

import java.util.List;
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

    /**
     * An array or a list.
     *
     * @param mirror the type of its elements in Java
     */
    record Sequence(Type element, TypeMirror mirror, boolean isList) implements Type {}

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
            case Sequence sequence -> sequence.element.idl();
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
