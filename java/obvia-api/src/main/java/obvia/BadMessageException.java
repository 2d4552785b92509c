package obvia;

/**
 * A message of the peer violates the rules of the connection, the transfer syntax or the interface.
 */
public final class BadMessageException extends RpcException {
    private static final long serialVersionUID = 1;

    /**
     * Creates an exception with a message.
     *
     * @param message the description of the violation
     */
    public BadMessageException(String message) {
        super(Hresult.RPC_E_INVALID_DATA, message);
    }

    /**
     * Creates an exception with a message and a cause.
     *
     * @param message the description of the violation
     * @param cause the exception that revealed the violation
     */
    public BadMessageException(String message, Throwable cause) {
        super(Hresult.RPC_E_INVALID_DATA, message, cause);
    }
}
