package obvia;

/**
 * No process serves the name, or no process has registered the class:
 * {@link Hresult#RPC_S_SERVER_UNAVAILABLE} and {@link Hresult#REGDB_E_CLASSNOTREG}.
 */
public final class NotFoundException extends RpcException {
    private static final long serialVersionUID = 1;

    NotFoundException(int result, String message, Throwable cause) {
        super(result, message, cause);
    }
}
