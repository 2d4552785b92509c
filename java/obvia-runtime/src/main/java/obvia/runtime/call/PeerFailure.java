package obvia.runtime.call;

import java.io.IOException;
import obvia.BadMessageException;
import obvia.Hresult;
import obvia.RpcException;

/** The exceptions for peers that have ended or break the protocol. */
public final class PeerFailure {
    private PeerFailure() {}

    /** Returns the exception for a peer that has ended. */
    public static RpcException ended(IOException why) {
        return RpcException.of(Hresult.RPC_E_DISCONNECTED, "the peer has ended", why);
    }

    /** Returns the exception for a peer that breaks the protocol. */
    public static BadMessageException broken(String what) {
        return new BadMessageException("the peer broke the protocol: " + what);
    }

    /**
     * Converts the exception of an access to memory that the peer has truncated or this side has
     * closed.
     */
    public static RpcException of(Throwable why) {
        if (why instanceof RpcException known) {
            return known;
        }
        if (why instanceof IllegalStateException) {
            return ended(null);
        }
        return new BadMessageException("the peer broke the protocol: its memory was truncated", why);
    }
}
