package obvia;

/**
 * The deadline of a call expired: {@link Hresult#RPC_E_TIMEOUT}. The server may or may not have
 * performed the call.
 */
public final class CallTimeoutException extends RpcException {
    private static final long serialVersionUID = 1;

    CallTimeoutException(int result, String message, Throwable cause) {
        super(result, message, cause);
    }
}
