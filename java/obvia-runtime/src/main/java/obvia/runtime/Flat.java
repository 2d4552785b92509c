package obvia.runtime;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import java.lang.foreign.ValueLayout;

/**
 * The little-endian layouts of values in frames. Values are aligned, but the layouts do not require
 * alignment, because a check would slow down each access.
 *
 * <p>The transfer syntax is FLAT: docs/flat.md.
 */
public final class Flat {
    /** The layout of IDL's {@code byte}, {@code boolean}, {@code char} and {@code small}. */
    public static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;
    /** The layout of IDL's {@code short}. */
    public static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(LITTLE_ENDIAN);
    /** The layout of IDL's {@code wchar_t}. */
    public static final ValueLayout.OfChar CHAR = ValueLayout.JAVA_CHAR_UNALIGNED.withOrder(LITTLE_ENDIAN);
    /** The layout of IDL's {@code long} and of enumerations. */
    public static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(LITTLE_ENDIAN);
    /** The layout of IDL's {@code hyper} and of slots. */
    public static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(LITTLE_ENDIAN);
    /** The layout of IDL's {@code float}. */
    public static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(LITTLE_ENDIAN);
    /** The layout of IDL's {@code double}. */
    public static final ValueLayout.OfDouble DOUBLE = ValueLayout.JAVA_DOUBLE_UNALIGNED.withOrder(LITTLE_ENDIAN);

    private Flat() {}
}
