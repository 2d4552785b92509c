package obvia;

/** Access is denied: {@link Hresult#E_ACCESSDENIED}. */
public final class AccessDeniedException extends RpcException {
    private static final long serialVersionUID = 1;

    AccessDeniedException(int result, String message, Throwable cause) {
        super(result, message, cause);
    }
}
