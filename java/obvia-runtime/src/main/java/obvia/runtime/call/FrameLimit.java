package obvia.runtime.call;

import obvia.Hresult;
import obvia.RpcException;

/** The limit of frames in the memory of a connection. */
public final class FrameLimit {
    /** The maximum length of a frame in bytes. */
    public static final long BYTES = 256L << 20;

    private FrameLimit() {}

    /** Returns the exception for a frame that is longer than the limit. */
    public static RpcException exceeded(long length) {
        return RpcException.of(Hresult.E_OUTOFMEMORY, "a frame of " + length + " bytes is longer than the limit of " + BYTES + " bytes");
    }
}
