package obvia.runtime;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.charset.StandardCharsets;

/** Values in the private copy of a frame. */
final class FrameBytes {
    static final VarHandle SHORTS = MethodHandles.byteArrayViewVarHandle(short[].class, LITTLE_ENDIAN);
    static final VarHandle CHARS = MethodHandles.byteArrayViewVarHandle(char[].class, LITTLE_ENDIAN);
    static final VarHandle INTS = MethodHandles.byteArrayViewVarHandle(int[].class, LITTLE_ENDIAN);
    static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, LITTLE_ENDIAN);
    static final VarHandle FLOATS = MethodHandles.byteArrayViewVarHandle(float[].class, LITTLE_ENDIAN);
    static final VarHandle DOUBLES = MethodHandles.byteArrayViewVarHandle(double[].class, LITTLE_ENDIAN);

    private FrameBytes() {}

    /** Returns the string of 8-bit characters at an offset; {@code null} for offset 0. */
    static String text8(byte[] bytes, int place) {
        if (place == 0) {
            return null;
        }
        return new String(bytes, place, (int) INTS.get(bytes, place - 4) - 1, StandardCharsets.UTF_8);
    }

    /** Returns the string of 16-bit characters at an offset; {@code null} for offset 0. */
    static String text16(byte[] bytes, int place) {
        if (place == 0) {
            return null;
        }
        return new String(bytes, place, 2 * ((int) INTS.get(bytes, place - 4) - 1), StandardCharsets.UTF_16LE);
    }
}
