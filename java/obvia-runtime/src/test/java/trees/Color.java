// Made by obvia-idl 0.1.0 from trees.idl. Change the IDL, not this.
package trees;

import obvia.runtime.FrameReader;

/** {@code enum Color} */
public enum Color {
    /** 0 */
    RED(0),
    /** 5 */
    GREEN(5),
    /** 6 */
    BLUE(6);

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
            case 0 -> RED;
            case 5 -> GREEN;
            case 6 -> BLUE;
            default -> null;
        };
    }
}
