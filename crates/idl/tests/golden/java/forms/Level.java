// Made by obvia-idl 0.1.0 from forms.idl. Change the IDL, not this.
package forms;

import obvia.runtime.FrameReader;

/**
 * {@code [open] enum Level}: peers may know more values than are listed here.
 *
 * @param value its number
 */
public record Level(int value) {
    /** -1 */
    public static final Level LEVEL_NONE = new Level(-1);

    /** 0 */
    public static final Level default_level = new Level(0);

    /** The one of this number. */
    public static Level of(int value) {
        return new Level(value);
    }

    static Level read(FrameReader frame, int at) {
        int value = frame.getInt(at);
        return new Level(value);
    }
}
