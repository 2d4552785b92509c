package matrix;

import java.util.Objects;
import obvia.Hresult;
import obvia.RpcException;

/** The assertions of the matrix's checks. */
final class Check {
    private Check() {}

    /** Fails if two values differ. */
    static void same(Object found, Object meant) {
        if (!Objects.deepEquals(found, meant)) {
            throw new AssertionError(found + " where " + meant + " is meant");
        }
    }

    /** Fails if a call succeeds, or fails with another HRESULT. */
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
