package obvia;

/**
 * Why a call has no results: an HRESULT, and words where there are any: COM's error information, which reaches callers in any language.
 *
 * <p>Failures that programs tell apart are classes of their own: {@link CallTimeoutException}, {@link CallCanceledException}, {@link DisconnectedException},
 * {@link AccessDeniedException}, {@link NotFoundException} and {@link BadMessageException}. Whatever the runtime throws is of the class that {@link #of(int, String)} chooses.
 */
public class RpcException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** The HRESULT. */
    private final int result;

    /** What says so. */
    private String source;

    /** Where more is said. */
    private String helpFile;

    /** The place there. */
    private int helpContext;

    /**
     * A failure.
     *
     * @param result the HRESULT, a negative number
     * @param message what it means here; {@code null} where the number says all about it
     */
    public RpcException(int result, String message) {
        this(result, message, null);
    }

    /**
     * A failure with its cause.
     *
     * @param result the HRESULT, a negative number
     * @param message what it means here
     * @param cause what was thrown before, or {@code null}
     */
    public RpcException(int result, String message, Throwable cause) {
        super(message, cause);
        this.result = result;
    }

    /**
     * A failure that its number says all about.
     *
     * @param result the HRESULT, a negative number
     */
    public RpcException(int result) {
        this(result, null);
    }

    /**
     * A failure, of the class that its HRESULT has.
     *
     * @param result the HRESULT, a negative number
     * @param message what it means here
     * @return the exception, to be thrown
     */
    public static RpcException of(int result, String message) {
        return of(result, message, null);
    }

    /**
     * The same with its cause.
     *
     * @param result the HRESULT, a negative number
     * @param message what it means here
     * @param cause what was thrown before, or {@code null}
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
     * The same for a number that says all about it.
     *
     * @param result the HRESULT, a negative number
     * @return the exception, to be thrown
     */
    public static RpcException of(int result) {
        return of(result, null);
    }

    /**
     * The same failure with the name of the object or component that says so.
     *
     * @param source the name
     * @return this
     */
    public RpcException withSource(String source) {
        this.source = source;
        return this;
    }

    /**
     * The same failure with the place in a help file where more is said.
     *
     * @param file the help file's name
     * @param context the place in it
     * @return this
     */
    public RpcException withHelp(String file, int context) {
        helpFile = file;
        helpContext = context;
        return this;
    }

    /**
     * Which failure it is.
     *
     * @return the HRESULT: see {@link Hresult}
     */
    public int result() {
        return result;
    }

    /**
     * What it means: the description, or the HRESULT where there is none.
     */
    @Override
    public String getMessage() {
        String description = description();
        return description == null ? "the call failed with " + Hresult.text(result) : description;
    }

    /**
     * What it means here, where somebody has said so.
     *
     * @return the words, or {@code null}
     */
    public String description() {
        return super.getMessage();
    }

    /**
     * What says so.
     *
     * @return the name of an object or a component, or {@code null}
     */
    public String source() {
        return source;
    }

    /**
     * Where more is said.
     *
     * @return the name of a help file, or {@code null}
     */
    public String helpFile() {
        return helpFile;
    }

    /**
     * The place in the help file.
     *
     * @return its number there
     */
    public int helpContext() {
        return helpContext;
    }
}
