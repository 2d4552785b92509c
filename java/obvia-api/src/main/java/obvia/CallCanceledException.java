package obvia;

/** A call was cancelled, as its thread was interrupted: {@link Hresult#RPC_E_CALL_CANCELED}. Nobody knows whether the method was called. */
public final class CallCanceledException extends RpcException {
    private static final long serialVersionUID = 1;

    CallCanceledException(int result, String message, Throwable cause) {
        super(result, message, cause);
    }
}
