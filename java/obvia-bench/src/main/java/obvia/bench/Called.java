package obvia.bench;

import obvia.Hresult;
import obvia.RpcException;

/** The object that is called. */
final class Called implements IBench {
    // One connection calls, so one thread counts.
    private long calls;

    @Override
    public void null_() {
        calls++;
    }

    @Override
    public int pfsOpen(int client, int fobj, int flags, int mode) {
        return client + fobj + flags + mode;
    }

    @Override
    public void moveData(int[] data) {
        if (data.length > 0) {
            data[0]++;
        }
    }

    @Override
    public void moveShared(int[] data) {
        moveData(data);
    }

    @Override
    public void visit(IBench visitor) {
        if (visitor == null) {
            throw new RpcException(Hresult.E_POINTER);
        }
        calls++;
    }

    @Override
    public long calls() {
        return calls;
    }
}
