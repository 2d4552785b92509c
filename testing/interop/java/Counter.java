package interop;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import obvia.Caller;
import obvia.Hresult;
import obvia.Obvia;
import obvia.RpcException;
import objects.ICounter;
import objects.INamed;

/** A counter, which can create and call other counters. */
final class Counter implements ICounter, INamed {
    private static final List<WeakReference<Counter>> MADE = new ArrayList<>();

    /** Whether a counter returns the name of its caller as its own name. */
    static volatile boolean tellsCaller;

    private int sum;

    Counter() {
        synchronized (MADE) {
            MADE.add(new WeakReference<>(this));
        }
    }

    /** Returns the number of counters that are still referenced. */
    static int living() {
        System.gc();
        synchronized (MADE) {
            MADE.removeIf(made -> made.refersTo(null));
            return MADE.size();
        }
    }

    @Override
    public synchronized int add(int number) {
        if (number == 0) {
            throw new RpcException(Hresult.E_INVALIDARG, "nothing is added");
        }
        sum += number;
        return sum;
    }

    @Override
    public long mixed(byte narrow, long wide, String text) {
        return wide + Byte.toUnsignedLong(narrow) + text.length();
    }

    @Override
    public ICounter make() {
        return new Counter();
    }

    @Override
    public int addTo(ICounter other, int number) {
        if (other == null) {
            throw new RpcException(Hresult.E_POINTER);
        }
        return other.add(number);
    }

    @Override
    public void moveData(int[] data) {
        for (int i = 0; i < data.length; i++) {
            data[i]++;
        }
    }

    @Override
    public String name() {
        if (!tellsCaller) {
            return "a counter";
        }
        if (!Obvia.isCalled()) {
            return "nobody";
        }
        Caller caller = Obvia.caller();
        return caller.domain() + "/" + caller.user() + " " + caller.level();
    }
}
