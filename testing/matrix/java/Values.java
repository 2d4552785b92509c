package matrix;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;
import java.util.Collections;
import obvia.Guid;
import obvia.Hresult;
import obvia.Remote;
import obvia.RpcException;
import obvia.Shorts;
import values.IValues;
import values.Line;
import values.Mode;
import values.Point;

/** An object that returns its arguments, each with a change. */
final class Values implements IValues {
    /** The number in place of which {@link #negate} returns null, although it must not. */
    static final int VANISHES = 0x1234567;

    /** The number with which {@link #negate} returns a point in place of null. */
    static final int APPEARS = 0x2345678;

    @Override
    public IntegersResult integers(byte a, short b, int c, long d) {
        return new IntegersResult((byte) ~a, (short) ~b, ~c, ~d);
    }

    @Override
    public UnsignedResult unsigned(byte a, short b, int c, long d) {
        return new UnsignedResult((byte) ~a, (short) ~b, ~c, ~d);
    }

    @Override
    public OthersResult others(boolean a, byte b, char c, float d, double e, int f, Guid g) {
        return new OthersResult(!a, (byte) ~b, (char) ~c, -d, -e, ~f, new Guid(~g.high(), ~g.low()));
    }

    @Override
    public Line structure(Line given, Line pointed, Line maybe) {
        long id = given.id() + pointed.id() + (maybe == null ? 0 : maybe.id());
        float width = maybe == null ? 0 : maybe.width();
        return new Line(given.ends(), given.key(), id, width, given.s(), given.w());
    }

    @Override
    public void modes(Mode[] modes, Mode[] turned) {
        Arrays.setAll(turned, i -> modes[modes.length - 1 - i]);
    }

    @Override
    public void lines(Line[] lines) {
        Collections.reverse(Arrays.asList(lines));
        for (int i = 0; i < lines.length; i++) {
            Line line = lines[i];
            Point[] ends = {line.ends()[1], line.ends()[0]};
            lines[i] = new Line(ends, line.key(), line.id(), line.width(), line.s(), line.w());
        }
    }

    @Override
    public int[] matrix(int[] m) {
        int[] turned = new int[6];
        for (int row = 0; row < 3; row++) {
            for (int column = 0; column < 2; column++) {
                turned[column * 3 + row] = m[row * 2 + column];
            }
        }
        return turned;
    }

    @Override
    public int fill(int first, short[] values) {
        int used = Math.min(values.length, 10);
        for (int i = 0; i < used; i++) {
            values[i] = (short) (first + i);
        }
        return used;
    }

    @Override
    public double[] made(int n) {
        double[] made = new double[Math.max(n, 0)];
        Arrays.setAll(made, i -> i / 2.0);
        return made;
    }

    @Override
    public long expression(int rows, int columns, byte[] cells) {
        long sum = rows - columns;
        for (byte cell : cells) {
            sum += Byte.toUnsignedInt(cell);
        }
        return sum;
    }

    @Override
    public TextsResult texts(String narrow, String wide, String maybe) {
        return new TextsResult(narrow + "|" + wide + "|" + (maybe == null ? "-" : maybe), "");
    }

    @Override
    public int ranged(int digit) {
        // The square of 5 is replaced by a value outside of the declared range.
        return digit == 5 ? 101 : digit * digit;
    }

    @Override
    public Remote same(Guid iid, Remote object) {
        if (object == null) {
            throw new RpcException(Hresult.E_POINTER);
        }
        return object;
    }

    @Override
    public void fail(int code) {
        throw new RpcException(code, "as it was told");
    }

    @Override
    public GreetResult greet(String name, String title) {
        return new GreetResult(result(name, title == null ? name : title + " " + name), name.getBytes(UTF_8).length);
    }

    @Override
    public String sign(String text, Remote by) {
        return result(text, text);
    }

    @Override
    public int caption(char[] wide, int m, byte[] narrow, char fill) {
        if (fill == '-') {
            return m;
        }
        Arrays.fill(wide, fill);
        Arrays.fill(narrow, (byte) fill);
        // A string without its end is refused.
        if (fill != 'x' && wide.length > 0) {
            wide[wide.length - 1] = 0;
        }
        if (fill != 'x' && narrow.length > 0) {
            narrow[narrow.length - 1] = 0;
        }
        return Math.max(m - 1, 0);
    }

    @Override
    public NegateResult negate(Integer one, Point point) {
        int given = (one == null ? 0 : 1) + (point == null ? 0 : 1);
        if (one != null && one == VANISHES) {
            return new NegateResult(null, point, given);
        } else if (one != null && one == APPEARS) {
            return new NegateResult(one, new Point(0, (short) 0, Mode.FAST, true, new byte[3]), given);
        }
        Point turned = point == null ? null : new Point(-point.x(), (short) -point.y(), point.mode(), point.on(), point.raw());
        return new NegateResult(one == null ? null : Integer.valueOf(-one), turned, given);
    }

    @Override
    public HalveResult halve(Shorts values, boolean given) {
        if (values == null) {
            return new HalveResult(null, false);
        }
        short[] halves = values.toArray();
        for (int i = 0; i < halves.length; i++) {
            halves[i] /= 2;
        }
        return new HalveResult(Shorts.of(halves), true);
    }

    /** Returns the text, or a string that has no form in UTF-8 if the argument is "wrong". */
    private static String result(String argument, String text) {
        return argument.equals("wrong") ? "\ud800" : text;
    }
}
