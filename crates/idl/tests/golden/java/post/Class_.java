// Made by obvia-idl 0.1.0 from post.idl. Change the IDL, not this.
package post;

import obvia.runtime.FrameReader;

/** {@code enum Class} */
public enum Class_ {
    /** 0 */
    LETTER(0),
    /** 4 */
    PARCEL(4),
    /** 5 */
    FREIGHT(5);

    private final int value;

    Class_(int value) {
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
    public static Class_ of(int value) {
        Class_ found = find(value);
        if (found == null) {
            throw new IllegalArgumentException(value + " is no Class_");
        }
        return found;
    }

    static Class_ read(FrameReader frame, int at) {
        int value = frame.getInt(at);
        Class_ found = find(value);
        if (found == null) {
            throw frame.bad(value + " is no Class_");
        }
        return found;
    }

    private static Class_ find(int value) {
        return switch (value) {
            case 0 -> LETTER;
            case 4 -> PARCEL;
            case 5 -> FREIGHT;
            default -> null;
        };
    }
}
