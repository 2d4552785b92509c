// Made by obvia-idl 0.1.0 from forms.idl. Change the IDL, not this.
package forms;

import java.util.List;
import obvia.runtime.InterfaceInfo;

/** What forms.idl declares beside types. */
public final class FormsIdl {
    /** {@code ROOM} */
    public static final int ROOM = -1;

    /** {@code FAR} */
    public static final long FAR = 1099511627776L;

    /** {@code YES} */
    public static final boolean YES = true;

    /** {@code QUOTED} */
    public static final String QUOTED = "a \"b\" \\ c";

    /** {@code HALF} */
    public static final double HALF = 0.5;

    private FormsIdl() {}

    /** Every interface of this file and of those that it imports. */
    public static List<InterfaceInfo<?>> interfaces() {
        return List.of(IBaseInfo.INFO, IFormsInfo.INFO);
    }
}
