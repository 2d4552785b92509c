package obvia.processor.calls;

import java.io.IOException;
import java.rmi.Remote;
import java.rmi.RemoteException;

/**
 * An interface that passes each kind of value, and has names that the generated code uses itself.
 */
public interface Calc extends Remote {
    int add(int a, int b) throws RemoteException;

    int add(int a, int b, int c) throws RemoteException;

    double mix(byte b, short s, char c, long l, float f, double d, boolean hyper) throws IOException;

    int[] reverse(int[] values) throws RemoteException;

    boolean[] invert(boolean[] flags, byte[] target, long[] longs, char[] i, double[] d, short[] e, float[] f);

    String join(String call, char object, String result);

    Color next(Color color);

    Color[] others(Color[] colors);

    int visit(Calc other) throws RemoteException;

    Calc make(boolean isNew);

    obvia.Remote any(obvia.Remote any);

    void withdraw(int how) throws RemoteException, Overdrawn, Broken;

    void fail(int how);

    void say(String words);

    /** Doubles a number in the caller's process, because this method is a default method. */
    default int twice(int a) throws RemoteException {
        return add(a, a);
    }

    enum Color {
        RED,
        GREEN,
        BLUE
    }

    class Overdrawn extends Exception {
        private static final long serialVersionUID = 1;

        public Overdrawn(String message) {
            super(message);
        }
    }

    final class Broken extends Overdrawn {
        private static final long serialVersionUID = 1;

        Broken() {
            super("broken");
        }
    }
}
