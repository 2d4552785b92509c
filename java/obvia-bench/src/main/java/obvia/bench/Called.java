package obvia.bench;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import obvia.Hresult;
import obvia.RpcException;

/** The object whose calls are measured. */
final class Called implements IBench {
    // Only one connection calls this object, so only one thread changes the count.
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
    public void moveShared(MemorySegment data) {
        if (data.byteSize() > 0) {
            data.set(ValueLayout.JAVA_INT, 0, data.get(ValueLayout.JAVA_INT, 0) + 1);
        }
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
