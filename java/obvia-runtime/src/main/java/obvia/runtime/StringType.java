package obvia.runtime;

import java.util.Arrays;
import java.util.function.IntFunction;

/**
 * The types of pointers to strings. Strings themselves have no type number in an interface, and
 * therefore no {@link GraphType}.
 *
 * <p>Generated classes extend {@link GraphType}. A public member class of {@code GraphType} would
 * hide structures with the same name in generated classes, so this class is not a member of
 * {@code GraphType}.
 */
public final class StringType {
    private final GraphType[] pointers = new GraphType[3];

    StringType(IntFunction<GraphType> make) {
        Arrays.setAll(pointers, make);
    }

    /** Returns the type of array elements that are pointers to such strings. */
    public GraphType pointer(int pointer) {
        return pointers[pointer];
    }
}
