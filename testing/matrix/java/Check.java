package matrix;

import java.util.Objects;
import obvia.Hresult;
import obvia.RpcException;

/** What the checks of the matrix are written with. */
final class Check {
    private Check() {}

    /** Ends the program where two values differ. */
    static void same(Object found, Object meant) {
        if (!Objects.deepEquals(found, meant)) {
            throw new AssertionError(found + " where " + meant + " is meant");
        }
    }

    /** Ends the program where a call does not fail, or otherwise. */
    static void fails(int result, Runnable call) {
        try {
            call.run();
        } catch (RpcException e) {
            same(Hresult.text(e.result()), Hresult.text(result));
            return;
        }
        throw new AssertionError("a call went well that must fail with " + Hresult.text(result));
    }
}
