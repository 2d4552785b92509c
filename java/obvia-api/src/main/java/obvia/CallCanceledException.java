package obvia;

/**
 * A call was cancelled because its thread was interrupted: {@link Hresult#RPC_E_CALL_CANCELED}. The
 * server may or may not have performed the call.
 */
public final class CallCanceledException extends RpcException {
    private static final long serialVersionUID = 1;

    CallCanceledException(int result, String message, Throwable cause) {
        super(result, message, cause);
    }
}
