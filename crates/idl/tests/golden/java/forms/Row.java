// Made by obvia-idl 0.1.0 from forms.idl. Change the IDL, not this.
package forms;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import obvia.Guid;
import obvia.runtime.Flat;
import obvia.runtime.FrameReader;
import obvia.runtime.FrameWriter;
import obvia.runtime.Frames;

/**
 * {@code struct Row}
 *
 * @param letters 5 elements
 * @param flags 3 elements
 * @param colors 2 elements
 * @param points 4 elements
 */
public record Row(char[] letters, boolean[] flags, Color[] colors, Point[] points, Guid key, float hashCode_, Grade grade) {
    /** One with these values. */
    public Row {
        Frames.checkLength(letters.length, 5);
        Frames.checkLength(flags.length, 3);
        Frames.checkLength(colors.length, 2);
        colors = Frames.copy(colors);
        Frames.checkLength(points.length, 4);
        points = Frames.copy(points);
        Objects.requireNonNull(key, "key");
        Objects.requireNonNull(grade, "grade");
    }

    @Override
    public Color[] colors() {
        return colors.clone();
    }

    @Override
    public Point[] points() {
        return points.clone();
    }

    /** Writes it to memory. */
    void write(MemorySegment memory, long at) {
        MemorySegment.copy(letters, 0, memory, Flat.CHAR, at, 5);
        for (int i = 0; i < 3; i++) {
            memory.set(Flat.BYTE, at + 10 + i, (byte) (flags[i] ? 1 : 0));
        }
        memory.set(Flat.BYTE, at + 13, (byte) 0);
        memory.set(Flat.SHORT, at + 14, (short) 0);
        for (int i = 0; i < 2; i++) {
            memory.set(Flat.INT, at + 16 + i * 4, colors[i].value());
        }
        for (int i = 0; i < 4; i++) {
            points[i].write(memory, at + 24 + i * 24);
        }
        FrameWriter.put(key, memory, at + 120);
        memory.set(Flat.FLOAT, at + 136, hashCode_);
        memory.set(Flat.INT, at + 140, grade.value());
    }

    /** Reads and checks one. */
    static Row read(FrameReader frame, int at) {
        boolean[] flags = new boolean[3];
        for (int i = 0; i < flags.length; i++) {
            flags[i] = frame.getBoolean(at + 10 + i);
        }
        Color[] colors = new Color[2];
        for (int i = 0; i < colors.length; i++) {
            colors[i] = Color.read(frame, at + 16 + i * 4);
        }
        Point[] points = new Point[4];
        for (int i = 0; i < points.length; i++) {
            points[i] = Point.read(frame, at + 24 + i * 24);
        }
        return new Row(
            frame.copyChars(at, 5),
            flags,
            colors,
            points,
            frame.getGuid(at + 120),
            frame.getFloat(at + 136),
            Grade.read(frame, at + 140));
    }
}
