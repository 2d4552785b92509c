package obvia.runtime;

import java.util.Arrays;
import java.util.function.IntFunction;

/**
 * The type of strings, which has no number in an interface; only pointers to strings have types.
 *
 * <p>This class is no member of {@link GraphType}, because generated classes extend
 * {@code GraphType}: the name of a public member class would hide a structure of the same name.
 */
public final class StringType {
    private final GraphType[] pointers = new GraphType[3];

    StringType(IntFunction<GraphType> make) {
        Arrays.setAll(pointers, make);
    }

    /** Returns the type of pointers to such strings, as elements of arrays. */
    public GraphType pointer(int pointer) {
        return pointers[pointer];
    }
}
