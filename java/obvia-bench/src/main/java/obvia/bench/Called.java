package obvia.bench;

import java.util.concurrent.atomic.LongAdder;

/** The object that is called. */
final class Called implements IBench {
    private final LongAdder calls = new LongAdder();

    @Override
    public void null_() {
        calls.increment();
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
    public long calls() {
        return calls.sum();
    }
}
