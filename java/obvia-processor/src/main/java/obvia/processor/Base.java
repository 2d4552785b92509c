package obvia.processor;

import javax.lang.model.type.TypeKind;

/** Java's primitive types, and their forms in IDL and in frames. */
enum Base {
    BOOLEAN("boolean", "boolean", 1, "Boolean", "bytes"),
    BYTE("byte", "byte", 1, "Byte", "bytes"),
    CHAR("char", "wchar_t", 2, "Char", "chars"),
    SHORT("short", "short", 2, "Short", "shorts"),
    INT("int", "long", 4, "Int", "ints"),
    LONG("long", "hyper", 8, "Long", "longs"),
    FLOAT("float", "float", 4, "Float", "floats"),
    DOUBLE("double", "double", 8, "Double", "doubles");

    /** The name of the type in Java. */
    final String java;
    /** The name of the type in IDL. */
    final String idl;
    /** The size of a value in bytes. */
    final int size;
    /** The suffix of the runtime's methods for the type. */
    final String ending;
    /** The name of the runtime's method that reads an array of the type. */
    final String array;

    Base(String java, String idl, int size, String ending, String array) {
        this.java = java;
        this.idl = idl;
        this.size = size;
        this.ending = ending;
        this.array = array;
    }

    /** Returns the name of the constant of {@code Flat} that has the type's layout. */
    String layout() {
        return this == BOOLEAN ? "BYTE" : name();
    }

    static Base of(TypeKind kind) {
        return valueOf(kind.name());
    }
}
