// Made by obvia-idl 0.1.0 from forms.idl. Change the IDL, not this.
package forms;

import java.lang.foreign.MemorySegment;
import obvia.runtime.Flat;
import obvia.runtime.FrameReader;

/**
 * {@code struct POINT}
 *
 * @param y an unsigned hyper
 */
public record Point(byte x, long y, short class_) {
    /** Writes it to memory. */
    void write(MemorySegment memory, long at) {
        memory.set(Flat.BYTE, at, x);
        memory.set(Flat.BYTE, at + 1, (byte) 0);
        memory.set(Flat.SHORT, at + 2, (short) 0);
        memory.set(Flat.INT, at + 4, 0);
        memory.set(Flat.LONG, at + 8, y);
        memory.set(Flat.SHORT, at + 16, class_);
        memory.set(Flat.SHORT, at + 18, (short) 0);
        memory.set(Flat.INT, at + 20, 0);
    }

    /** Reads and checks one. */
    static Point read(FrameReader frame, int at) {
        return new Point(frame.getByte(at), frame.getLong(at + 8), frame.getShort(at + 16));
    }
}
