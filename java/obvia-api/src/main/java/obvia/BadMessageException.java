package obvia;

/** What a peer sent breaks the rules: of the connection, of the transfer syntax, or of the interface. */
public final class BadMessageException extends RpcException {
    private static final long serialVersionUID = 1;

    /**
     * What is wrong, for people.
     *
     * @param message the words
     */
    public BadMessageException(String message) {
        super(Hresult.RPC_E_INVALID_DATA, message);
    }

    /**
     * The same with what was noticed first.
     *
     * @param message the words
     * @param cause what was noticed
     */
    public BadMessageException(String message, Throwable cause) {
        super(Hresult.RPC_E_INVALID_DATA, message, cause);
    }
}
