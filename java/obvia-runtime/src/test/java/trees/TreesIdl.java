// Made by obvia-idl 0.1.0 from trees.idl. Change the IDL, not this.
package trees;

import java.util.List;
import obvia.runtime.InterfaceInfo;

/** What trees.idl declares beside types. */
public final class TreesIdl {
    private TreesIdl() {}

    /** Every interface of this file and of those that it imports. */
    public static List<InterfaceInfo<?>> interfaces() {
        return List.of(ITreesInfo.INFO);
    }
}
