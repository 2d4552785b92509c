// Made by obvia-idl 0.1.0 from forms.idl. Change the IDL, not this.
package forms;

import obvia.runtime.FrameReader;

/** {@code enum Color} */
public enum Color {
    /** 1 */
    RED(1),
    /** 2 */
    GREEN(2),
    /** 4 */
    BLUE(4);

    /** The same as {@link #BLUE}. */
    public static final Color AZURE = BLUE;

    private final int value;

    Color(int value) {
        this.value = value;
    }

    /** Its number. */
    public int value() {
        return value;
    }

    /**
     * The one of this number.
     *
     * @throws IllegalArgumentException where there is none
     */
    public static Color of(int value) {
        Color found = find(value);
        if (found == null) {
            throw new IllegalArgumentException(value + " is no Color");
        }
        return found;
    }

    static Color read(FrameReader frame, int at) {
        int value = frame.getInt(at);
        Color found = find(value);
        if (found == null) {
            throw frame.bad(value + " is no Color");
        }
        return found;
    }

    private static Color find(int value) {
        return switch (value) {
            case 1 -> RED;
            case 2 -> GREEN;
            case 4 -> BLUE;
            default -> null;
        };
    }
}
