package obvia;

/**
 * The HRESULTs of COM's methods; negative HRESULTs are failures. All languages use the same
 * numbers.
 */
public final class Hresult {
    /** Success. */
    public static final int S_OK = 0;
    /** Not implemented. */
    public static final int E_NOTIMPL = 0x80004001;
    /** The object lacks the interface. */
    public static final int E_NOINTERFACE = 0x80004002;
    /** A required pointer is null. */
    public static final int E_POINTER = 0x80004003;
    /** An unspecified failure. */
    public static final int E_FAIL = 0x80004005;
    /** An unexpected failure: an internal error. */
    public static final int E_UNEXPECTED = 0x8000ffff;
    /** Access is denied. */
    public static final int E_ACCESSDENIED = 0x80070005;
    /** Memory is exhausted. */
    public static final int E_OUTOFMEMORY = 0x8007000e;
    /** An argument is invalid. */
    public static final int E_INVALIDARG = 0x80070057;
    /** The class is not registered. */
    public static final int REGDB_E_CLASSNOTREG = 0x80040154;
    /** The server of a class could not be started. */
    public static final int CO_E_SERVER_EXEC_FAILURE = 0x80080005;
    /** An OBJREF was already unmarshaled or released, or its object is gone. */
    public static final int CO_E_OBJNOTCONNECTED = 0x800401fd;
    /** No process serves the name, or the object's process cannot be reached. */
    public static final int RPC_S_SERVER_UNAVAILABLE = 0x800706ba;
    /** Another process serves the name. */
    public static final int RPC_S_DUPLICATE_ENDPOINT = 0x800706cc;
    /** The stub data violates the rules of the transfer syntax. */
    public static final int RPC_X_BAD_STUB_DATA = 0x800706f7;
    /** The call was cancelled. */
    public static final int RPC_E_CALL_CANCELED = 0x80010002;
    /** A message of the peer is malformed. */
    public static final int RPC_E_INVALID_DATA = 0x8001000f;
    /** The server failed during the call. */
    public static final int RPC_E_SERVERFAULT = 0x80010105;
    /** The object or its process is gone. */
    public static final int RPC_E_DISCONNECTED = 0x80010108;
    /** Client and server have different versions of an interface. */
    public static final int RPC_E_VERSION_MISMATCH = 0x80010110;
    /** An object reference (OBJREF) is malformed. */
    public static final int RPC_E_INVALID_OBJREF = 0x8001011d;
    /** The deadline expired. */
    public static final int RPC_E_TIMEOUT = 0x8001011f;
    /** The process has no proxy for the interface. */
    public static final int REGDB_E_IIDNOTREG = 0x80040155;

    private Hresult() {}

    /**
     * Formats an HRESULT: {@code 0x80004005}.
     *
     * @param result the HRESULT
     * @return the text
     */
    public static String text(int result) {
        return String.format("0x%08x", result);
    }
}
