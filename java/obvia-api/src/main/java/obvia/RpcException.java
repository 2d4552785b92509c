package obvia;

/** Why a call has no results: an HRESULT, and words where there are any. */
public class RpcException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final int result;

    /**
     * A failure.
     *
     * @param result the HRESULT, a negative number
     * @param message what it means here
     */
    public RpcException(int result, String message) {
        super(message);
        this.result = result;
    }

    /** A failure with its cause. */
    public RpcException(int result, String message, Throwable cause) {
        super(message, cause);
        this.result = result;
    }

    /** A failure that its number says all about. */
    public RpcException(int result) {
        this(result, "the call failed with " + Hresult.text(result));
    }

    /** The HRESULT: see {@link Hresult}. */
    public int result() {
        return result;
    }
}
