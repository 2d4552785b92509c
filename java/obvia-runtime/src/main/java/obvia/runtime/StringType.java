package obvia.runtime;

import java.util.Arrays;
import java.util.function.IntFunction;

/**
 * The type of strings, which has no number in an interface; only pointers to strings have types.
 *
 * <p>Generated classes extend {@link GraphType}. A public member class there would hide structures
 * of its name, so strings have a class outside of it.
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
