// Made by obvia-idl 0.1.0 from post.idl. Change the IDL, not this.
package post;

import java.util.List;
import obvia.runtime.InterfaceInfo;

/** What post.idl declares beside types. */
public final class PostIdl {
    /** {@code WEIGHT_MAX} */
    public static final int WEIGHT_MAX = 20000;

    /** {@code TOWN} */
    public static final String TOWN = "Obvia \"by the sea\"";

    private PostIdl() {}

    /** Every interface of this file and of those that it imports. */
    public static List<InterfaceInfo<?>> interfaces() {
        return List.of(IReaderInfo.INFO, IOfficeInfo.INFO);
    }
}
