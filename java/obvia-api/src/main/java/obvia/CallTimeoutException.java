package obvia;

/** The deadline of a call passed: {@link Hresult#RPC_E_TIMEOUT}. Nobody knows whether the method was called. */
public final class CallTimeoutException extends RpcException {
    private static final long serialVersionUID = 1;

    CallTimeoutException(int result, String message, Throwable cause) {
        super(result, message, cause);
    }
}
