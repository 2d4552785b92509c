package obvia;

/**
 * The failure of a call: an HRESULT and an optional description. Callers in all languages receive
 * both, as COM's error information.
 *
 * <p>Failures that programs distinguish have classes of their own: {@link CallTimeoutException},
 * {@link CallCanceledException}, {@link DisconnectedException}, {@link AccessDeniedException},
 * {@link NotFoundException} and {@link BadMessageException}. The runtime's exceptions are of the
 * class that {@link #of(int, String)} chooses.
 */
public class RpcException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** The HRESULT of the failure. */
    private final int result;

    /** The name of the object or component that reports the failure. */
    private String source;

    /** The name of the help file that explains the failure. */
    private String helpFile;

    /** The number of the topic in the help file. */
    private int helpContext;

    /**
     * Creates a failure with a description.
     *
     * @param result the HRESULT, a negative number
     * @param message the description; {@code null} if the HRESULT says enough
     */
    public RpcException(int result, String message) {
        this(result, message, null);
    }

    /**
     * Creates a failure with a description and a cause.
     *
     * @param result the HRESULT, a negative number
     * @param message the description
     * @param cause the exception that caused the failure, or {@code null}
     */
    public RpcException(int result, String message, Throwable cause) {
        super(message, cause);
        this.result = result;
    }

    /**
     * Creates a failure without a description.
     *
     * @param result the HRESULT, a negative number
     */
    public RpcException(int result) {
        this(result, null);
    }

    /**
     * Creates a failure of the class that belongs to its HRESULT.
     *
     * @param result the HRESULT, a negative number
     * @param message the description
     * @return the exception, to be thrown
     */
    public static RpcException of(int result, String message) {
        return of(result, message, null);
    }

    /**
     * Creates a failure of the class that belongs to its HRESULT, with a cause.
     *
     * @param result the HRESULT, a negative number
     * @param message the description
     * @param cause the exception that caused the failure, or {@code null}
     * @return the exception, to be thrown
     */
    public static RpcException of(int result, String message, Throwable cause) {
        return switch (result) {
            case Hresult.RPC_E_TIMEOUT -> new CallTimeoutException(result, message, cause);
            case Hresult.RPC_E_CALL_CANCELED -> new CallCanceledException(result, message, cause);
            case Hresult.RPC_E_DISCONNECTED, Hresult.CO_E_OBJNOTCONNECTED -> new DisconnectedException(result, message, cause);
            case Hresult.E_ACCESSDENIED -> new AccessDeniedException(result, message, cause);
            case Hresult.RPC_S_SERVER_UNAVAILABLE, Hresult.REGDB_E_CLASSNOTREG -> new NotFoundException(result, message, cause);
            default -> new RpcException(result, message, cause);
        };
    }

    /**
     * Creates a failure of the class that belongs to its HRESULT, without a description.
     *
     * @param result the HRESULT, a negative number
     * @return the exception, to be thrown
     */
    public static RpcException of(int result) {
        return of(result, null);
    }

    /**
     * Sets the name of the object or component that reports the failure.
     *
     * @param source the name
     * @return this exception
     */
    public RpcException withSource(String source) {
        this.source = source;
        return this;
    }

    /**
     * Sets the place of an explanation in a help file.
     *
     * @param file the name of the help file
     * @param context the number of the topic
     * @return this exception
     */
    public RpcException withHelp(String file, int context) {
        helpFile = file;
        helpContext = context;
        return this;
    }

    /**
     * Returns the HRESULT.
     *
     * @return the HRESULT: see {@link Hresult}
     */
    public int result() {
        return result;
    }

    /** Returns the description, or the HRESULT as text if there is no description. */
    @Override
    public String getMessage() {
        String description = description();
        return description == null ? "the call failed with " + Hresult.text(result) : description;
    }

    /**
     * Returns the description.
     *
     * @return the description, or {@code null}
     */
    public String description() {
        return super.getMessage();
    }

    /**
     * Returns the name of the object or component that reports the failure.
     *
     * @return the name, or {@code null}
     */
    public String source() {
        return source;
    }

    /**
     * Returns the name of the help file.
     *
     * @return the name, or {@code null}
     */
    public String helpFile() {
        return helpFile;
    }

    /**
     * Returns the topic in the help file.
     *
     * @return the number of the topic
     */
    public int helpContext() {
        return helpContext;
    }
}
