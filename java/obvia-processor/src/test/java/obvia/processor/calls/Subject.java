package obvia.processor.calls;

import java.rmi.RemoteException;
import java.util.Arrays;
import obvia.Hresult;
import obvia.Remote;
import obvia.RpcException;

/** The exported object. */
final class Subject implements Account, Remote {
    @Override
    public int add(int a, int b) {
        return a + b;
    }

    @Override
    public int add(int a, int b, int c) {
        return a + b + c;
    }

    @Override
    public double mix(byte b, short s, char c, long l, float f, double d, boolean hyper) {
        return hyper ? b + s + c + l + f + d : -1;
    }

    @Override
    public int[] reverse(int[] values) {
        return Arrays.stream(values).boxed().toList().reversed().stream().mapToInt(value -> value).toArray();
    }

    @Override
    public boolean[] invert(boolean[] flags, byte[] target, long[] longs, char[] i, double[] d, short[] e, float[] f) {
        boolean[] inverse = new boolean[flags.length];
        for (int at = 0; at < flags.length; at++) {
            inverse[at] = !flags[at];
        }
        boolean isWell = target[0] == -1 && longs[1] == Long.MIN_VALUE && i[0] == 'x' && d[0] == 0.5 && e.length == 0 && f[2] == 3;
        return isWell ? inverse : null;
    }

    @Override
    public String join(String call, char object, String result) {
        return call == null ? null : call + object + result;
    }

    @Override
    public Color next(Color color) {
        return Color.values()[(color.ordinal() + 1) % 3];
    }

    @Override
    public Color[] others(Color[] colors) {
        return Arrays.stream(Color.values()).filter(color -> !Arrays.asList(colors).contains(color)).toArray(Color[]::new);
    }

    @Override
    public int visit(Calc other) throws RemoteException {
        return other == null ? -1 : other.add(20, 3) + 1;
    }

    @Override
    public Calc make(boolean isNew) {
        return isNew ? new Subject() : this;
    }

    @Override
    public Remote any(Remote any) {
        return any;
    }

    @Override
    public Calc asCalc() {
        return this;
    }

    @Override
    public void withdraw(int how) throws RemoteException, Overdrawn, Broken {
        switch (how) {
            case 0 -> throw new Overdrawn("too much");
            case 1 -> throw new Broken();
            case 2 -> throw new RemoteException("of the method's own");
            case 3 -> throw new RpcException(Hresult.E_ACCESSDENIED);
            default -> {}
        }
    }

    @Override
    public void fail(int how) {
        throw how == 0 ? new IllegalStateException("of the method's own") : new RpcException(how);
    }

    @Override
    public void say(String words) {
        throw new RpcException(Hresult.E_FAIL, words);
    }
}
