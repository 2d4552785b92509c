// Made by obvia-idl 0.1.0 from trees.idl. Change the IDL, not this.
package trees;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import obvia.runtime.Flat;
import obvia.runtime.FrameReader;

/** {@code struct Point} */
public record Point(int x, Color color, boolean b) {
    /** One with these values. */
    public Point {
        Objects.requireNonNull(color, "color");
    }

    /** Writes it to memory. */
    void write(MemorySegment memory, long at) {
        memory.set(Flat.INT, at, x);
        memory.set(Flat.INT, at + 4, color.value());
        memory.set(Flat.BYTE, at + 8, (byte) (b ? 1 : 0));
        memory.set(Flat.BYTE, at + 9, (byte) 0);
        memory.set(Flat.SHORT, at + 10, (short) 0);
    }

    /** Reads and checks one. */
    static Point read(FrameReader frame, int at) {
        return new Point(frame.getInt(at), Color.read(frame, at + 4), frame.getBoolean(at + 8));
    }
}
