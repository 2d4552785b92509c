// Made by obvia-idl 0.1.0 from forms.idl. Change the IDL, not this.
package forms;

import obvia.runtime.FrameReader;

/**
 * {@code [open] enum GRADE}: peers may know more values than are listed here.
 *
 * @param value its number
 */
public record Grade(int value) {
    /** 0 */
    public static final Grade GRADE_LOW = new Grade(0);

    /** 7 */
    public static final Grade GRADE_HIGH = new Grade(7);

    /** One of a number that 16 bits have. */
    public Grade {
        if (value < 0 || value > 32767) {
            throw new IllegalArgumentException(value + " is no Grade");
        }
    }

    /** The one of this number. */
    public static Grade of(int value) {
        return new Grade(value);
    }

    static Grade read(FrameReader frame, int at) {
        int value = frame.getInt(at);
        frame.checkRange(value, 0, 32767);
        return new Grade(value);
    }
}
