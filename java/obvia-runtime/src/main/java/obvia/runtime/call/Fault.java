package obvia.runtime.call;

import obvia.Hresult;
import obvia.RpcException;

/** The status codes of faults (C706, MS-RPCE) and their HRESULTs. */
public final class Fault {
    /** The interface lacks the method. */
    public static final int OP_RANGE = 0x1c010002;
    /** The server did not expect the PDU. */
    public static final int PROTOCOL_ERROR = 0x1c01000b;
    /** The server lacks memory for the call. */
    public static final int NO_MEMORY = 0x1c00001b;
    /** The arguments do not match the interface. */
    public static final int BAD_STUB_DATA = 0x000006f7;
    /** The object does not exist. */
    public static final int OBJECT_NOT_FOUND = 0x80010108;
    /** The caller is not permitted to make the call. */
    public static final int ACCESS_DENIED = 5;
    private static final int CANCELLED = 0x1c00000d;

    private Fault() {}

    /** The exception by which a stub rejects a call with a fault before the method is called. */
    public static final class Refused extends RuntimeException {
        private static final long serialVersionUID = 1;

        private final int status;

        /** Creates an exception for a call that is answered with this status. */
        public Refused(int status) {
            super("the call is refused", null, false, false);
            this.status = status;
        }

        /** Returns the status of the fault. */
        public int status() {
            return status;
        }
    }

    /** Returns the answer to a call that is rejected: the status, with bit 32 set. */
    public static long answer(int status) {
        return 1L << 32 | Integer.toUnsignedLong(status);
    }

    /**
     * Whether the fault was raised before the server read the arguments. Then the server has not
     * taken over the references in the arguments.
     */
    public static boolean isBeforeArguments(int status) {
        return status == OP_RANGE || status == PROTOCOL_ERROR || status == OBJECT_NOT_FOUND || status == ACCESS_DENIED;
    }

    /** Returns the exception for a caller who receives a fault with this status. */
    public static RpcException toException(int status) {
        int result = switch (status) {
            case BAD_STUB_DATA -> Hresult.RPC_X_BAD_STUB_DATA;
            case NO_MEMORY -> Hresult.E_OUTOFMEMORY;
            case ACCESS_DENIED -> Hresult.E_ACCESSDENIED;
            case CANCELLED -> Hresult.RPC_E_CALL_CANCELED;
            default -> status < 0 ? status : Hresult.RPC_E_SERVERFAULT;
        };
        String meaning = switch (status) {
            case OP_RANGE -> "the interface has no such method";
            case PROTOCOL_ERROR -> "an unexpected protocol data unit arrived";
            case NO_MEMORY -> "the server has no memory left for the call";
            case BAD_STUB_DATA -> "the arguments do not match the interface";
            case OBJECT_NOT_FOUND -> "the object no longer exists";
            case ACCESS_DENIED -> "the caller has no permission, or its authentication failed";
            case CANCELLED -> "the call was cancelled";
            default -> "status " + Hresult.text(status);
        };
        return RpcException.of(result, "the server answered with a fault: " + meaning);
    }
}
