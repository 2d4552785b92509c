package obvia.processor;

import javax.lang.model.type.TypeKind;

/** Values of Java's primitive types, and what they are in IDL and in frames. */
enum Base {
    BOOLEAN("boolean", "boolean", 1, "Boolean", "bytes"),
    BYTE("byte", "byte", 1, "Byte", "bytes"),
    CHAR("char", "wchar_t", 2, "Char", "chars"),
    SHORT("short", "short", 2, "Short", "shorts"),
    INT("int", "long", 4, "Int", "ints"),
    LONG("long", "hyper", 8, "Long", "longs"),
    FLOAT("float", "float", 4, "Float", "floats"),
    DOUBLE("double", "double", 8, "Double", "doubles");

    /** What Java calls it. */
    final String java;
    /** What IDL calls it. */
    final String idl;
    /** Its bytes. */
    final int size;
    /** What the runtime's methods for it end in. */
    final String ending;
    /** The runtime's method that reads an array of it. */
    final String array;

    Base(String java, String idl, int size, String ending, String array) {
        this.java = java;
        this.idl = idl;
        this.size = size;
        this.ending = ending;
        this.array = array;
    }

    /** The constant of its layout in {@code Flat}. */
    String layout() {
        return this == BOOLEAN ? "BYTE" : name();
    }

    static Base of(TypeKind kind) {
        return valueOf(kind.name());
    }
}
