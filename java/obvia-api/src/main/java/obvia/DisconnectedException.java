package obvia;

/**
 * The object or its process is gone, or the reference was released:
 * {@link Hresult#RPC_E_DISCONNECTED} and {@link Hresult#CO_E_OBJNOTCONNECTED}.
 */
public final class DisconnectedException extends RpcException {
    private static final long serialVersionUID = 1;

    DisconnectedException(int result, String message, Throwable cause) {
        super(result, message, cause);
    }
}
