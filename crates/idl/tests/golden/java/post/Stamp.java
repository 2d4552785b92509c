// Made by obvia-idl 0.1.0 from post.idl. Change the IDL, not this.
package post;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import obvia.runtime.Flat;
import obvia.runtime.FrameReader;
import obvia.runtime.Frames;

/**
 * {@code struct Stamp}
 *
 * @param cost 2 elements
 */
public record Stamp(Class_ class_, boolean used, long number, double[] cost) {
    /** One with these values. */
    public Stamp {
        Objects.requireNonNull(class_, "class_");
        Frames.checkLength(cost.length, 2);
    }

    /** Writes it to memory. */
    void write(MemorySegment memory, long at) {
        memory.set(Flat.INT, at, class_.value());
        memory.set(Flat.BYTE, at + 4, (byte) (used ? 1 : 0));
        memory.set(Flat.BYTE, at + 5, (byte) 0);
        memory.set(Flat.SHORT, at + 6, (short) 0);
        memory.set(Flat.LONG, at + 8, number);
        MemorySegment.copy(cost, 0, memory, Flat.DOUBLE, at + 16, 2);
    }

    /** Reads and checks one. */
    static Stamp read(FrameReader frame, int at) {
        return new Stamp(
            Class_.read(frame, at),
            frame.getBoolean(at + 4),
            frame.getLong(at + 8),
            frame.copyDoubles(at + 16, 2));
    }
}
