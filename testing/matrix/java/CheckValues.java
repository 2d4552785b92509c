package matrix;

import static matrix.Check.fails;
import static matrix.Check.same;

import deep.IPeer;
import java.util.Arrays;
import obvia.Guid;
import obvia.Hresult;
import obvia.RpcException;
import obvia.Shorts;
import obvia.runtime.InterfaceInfo;
import values.IBaseValues.IntegersResult;
import values.IBaseValues.OthersResult;
import values.IBaseValues.UnsignedResult;
import values.IValues;
import values.IValues.GreetResult;
import values.IValues.HalveResult;
import values.IValues.NegateResult;
import values.IValues.TextsResult;
import values.Line;
import values.Mode;
import values.Point;

/**
 * Checks how values are passed. The same checks run with an object of this virtual machine, where
 * the calls are plain Java calls, and with objects of other processes.
 */
final class CheckValues {
    private static final Guid KEY = Guid.of("0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a10");

    private CheckValues() {}

    static void check(IValues values, boolean isElsewhere) {
        integersArePassedUpToTheirLimits(values);
        valuesOfOtherBaseTypesArePassedExactly(values);
        structuresArePassedByValueReferenceAndOptionally(values);
        arraysHaveTheStatedLengths(values, isElsewhere);
        passedStringsEndWithAZero(values);
        stringsWithUtf8AreChecked(values, isElsewhere);
        rangesAreCheckedForArgumentsAndResults(values, isElsewhere);
        stringsAreWrittenToArraysOfTheCaller(values, isElsewhere);
        valuesThatMayBeNullAreChanged(values);
        objectsHaveTheInterfaceNamedByTheirIid(values);
        fails(0x81234567, () -> values.fail(0x81234567));
    }

    private static void integersArePassedUpToTheirLimits(IValues values) {
        same(values.integers((byte) 0, (short) 0, 0, 0), new IntegersResult((byte) -1, (short) -1, -1, -1));
        same(
                values.integers(Byte.MAX_VALUE, Short.MAX_VALUE, Integer.MAX_VALUE, Long.MAX_VALUE),
                new IntegersResult(Byte.MIN_VALUE, Short.MIN_VALUE, Integer.MIN_VALUE, Long.MIN_VALUE));
        same(values.unsigned((byte) 1, (short) 2, -1, Long.MIN_VALUE), new UnsignedResult((byte) 254, (short) 65533, 0, Long.MAX_VALUE));
    }

    private static void valuesOfOtherBaseTypesArePassedExactly(IValues values) {
        same(
                values.others(true, (byte) 'x', '\ud83d', Float.MIN_NORMAL, Double.POSITIVE_INFINITY, 7, KEY),
                new OthersResult(
                        false, (byte) ~'x', (char) ~0xd83d, -Float.MIN_NORMAL, Double.NEGATIVE_INFINITY, -8, new Guid(~KEY.high(), ~KEY.low())));
        OthersResult nothing = values.others(false, (byte) 0, '\0', Float.NaN, -0.0, 0, new Guid(0, 0));
        same(Float.isNaN(nothing.d2()), true);
        same(nothing.e2(), 0.0);
    }

    private static Line line(long id) {
        boolean isEven = id % 2 == 0;
        Point fast = new Point(0.5, (short) -7, Mode.FAST, isEven, new byte[] {1, 2, 3});
        Point slow = new Point(-0.5, (short) -7, Mode.SLOW, isEven, new byte[] {1, 2, 3});
        return new Line(new Point[] {fast, slow}, KEY, id, 0.25f, (byte) -1, '\u20ac');
    }

    private static void samePoint(Point found, Point meant) {
        same(found.x(), meant.x());
        same(found.y(), meant.y());
        same(found.mode(), meant.mode());
        same(found.on(), meant.on());
        same(found.raw(), meant.raw());
    }

    private static void sameLine(Line found, Line meant) {
        samePoint(found.ends()[0], meant.ends()[0]);
        samePoint(found.ends()[1], meant.ends()[1]);
        same(found.key(), meant.key());
        same(found.id(), meant.id());
        same(found.width(), meant.width());
        same(found.s(), meant.s());
        same(found.w(), meant.w());
    }

    private static void structuresArePassedByValueReferenceAndOptionally(IValues values) {
        Line one = line(1);
        sameLine(values.structure(one, line(20), line(300)), new Line(one.ends(), KEY, 321, 0.25f, (byte) -1, '\u20ac'));
        sameLine(values.structure(one, line(20), null), new Line(one.ends(), KEY, 21, 0, (byte) -1, '\u20ac'));
    }

    private static void arraysHaveTheStatedLengths(IValues values, boolean isElsewhere) {
        for (int count : new int[] {0, 1, 5, 5000}) {
            Mode[] modes = new Mode[count];
            Arrays.setAll(modes, i -> Mode.values()[i % 3]);
            Mode[] turned = new Mode[count];
            values.modes(modes, turned);
            for (int i = 0; i < count; i++) {
                same(turned[i], modes[count - 1 - i]);
            }
        }
        Line[] lines = new Line[100];
        Arrays.setAll(lines, CheckValues::line);
        values.lines(lines);
        same(lines[0].id(), 99L);
        same(lines[99].id(), 0L);
        same(lines[99].ends()[0].mode(), Mode.SLOW);
        same(values.matrix(new int[] {1, 2, 3, 4, 5, 6}), new int[] {1, 3, 5, 2, 4, 6});
        for (int room : new int[] {0, 3, 10, 200}) {
            short[] filled = new short[room];
            same(values.fill(5, filled), Math.min(room, 10));
            for (int i = 0; i < Math.min(room, 10); i++) {
                same(filled[i], (short) (5 + i));
            }
        }
        same(values.made(5), new double[] {0, 0.5, 1, 1.5, 2});
        same(values.made(0), new double[0]);
        same(values.expression(2, 3, new byte[] {1, 1, 1, 1, 1, 1, 1}), 6L);
        same(values.expression(-1, 3, new byte[] {9}), 5L);
        if (isElsewhere) {
            fails(Hresult.E_INVALIDARG, () -> values.modes(new Mode[] {Mode.FAST}, new Mode[0]));
            fails(Hresult.E_INVALIDARG, () -> values.expression(2, 3, new byte[6]));
        }
    }

    private static void passedStringsEndWithAZero(IValues values) {
        same(values.texts("ab", "cd", "ef"), new TextsResult("ab|cd|ef", ""));
        same(values.texts("", "", null), new TextsResult("||-", ""));
        same(values.texts("\u00e4 \ud83d\ude00", "wide", null), new TextsResult("\u00e4 \ud83d\ude00|wide|-", ""));
    }

    private static void stringsWithUtf8AreChecked(IValues values, boolean isElsewhere) {
        same(values.greet("\u00c9va", "Dr \u20ac"), new GreetResult("Dr \u20ac \u00c9va", 4));
        same(values.greet("", null), new GreetResult("", 0));
        same(values.sign("\ud83e\udd80", null), "\ud83e\udd80");
        if (isElsewhere) {
            fails(Hresult.E_INVALIDARG, () -> values.greet("\ud800", null));
            fails(Hresult.E_INVALIDARG, () -> values.sign("\udc00", null));
            refusesResult(() -> values.greet("wrong", null));
            refusesResult(() -> values.sign("wrong", null));
        }
        same(values.greet("a", null), new GreetResult("a", 1));
    }

    /** Checks that a server refuses the result of its method, or that this client refuses it. */
    private static void refusesResult(Runnable call) {
        try {
            call.run();
        } catch (RpcException e) {
            if (e.result() == Hresult.E_INVALIDARG || e.result() == Hresult.RPC_E_INVALID_DATA) {
                return;
            }
            throw e;
        }
        throw new AssertionError("a string that is not in UTF-8 was returned");
    }

    private static void rangesAreCheckedForArgumentsAndResults(IValues values, boolean isElsewhere) {
        same(values.ranged(-4), 16);
        if (isElsewhere) {
            fails(Hresult.E_INVALIDARG, () -> values.ranged(6));
            fails(Hresult.RPC_E_INVALID_DATA, () -> values.ranged(5));
        }
        same(values.ranged(3), 9);
    }

    private static void stringsAreWrittenToArraysOfTheCaller(IValues values, boolean isElsewhere) {
        for (int room : new int[] {1, 2, 100, 5000}) {
            char[] wide = new char[room];
            byte[] narrow = new byte[room + 1];
            same(values.caption(wide, room + 1, narrow, 'a'), room);
            same(new String(wide), "a".repeat(room - 1) + "\0");
            same(narrow[room - 1], (byte) 'a');
            same(narrow[room], (byte) 0);
            if (isElsewhere) {
                fails(Hresult.E_INVALIDARG, () -> values.caption(wide, 0, new byte[0], 'x'));
                fails(Hresult.E_INVALIDARG, () -> values.caption(new char[0], room + 1, narrow, 'x'));
                // The string of a method that writes none is empty.
                same(values.caption(wide, room + 1, narrow, '-'), room + 1);
                same(wide[0], '\0');
                same(narrow[0], (byte) 0);
            }
        }
        same(values.caption(new char[0], 0, new byte[0], 'x'), 0);
    }

    private static void valuesThatMayBeNullAreChanged(IValues values) {
        Point point = line(1).ends()[0];
        NegateResult both = values.negate(5, point);
        same(both.one(), -5);
        same(both.given(), 2);
        samePoint(both.point(), new Point(-0.5, (short) 7, point.mode(), point.on(), point.raw()));
        same(values.negate(null, point).one(), null);
        same(values.negate(-7, null), new NegateResult(7, null, 1));
        same(values.negate(null, null), new NegateResult(null, null, 0));
        for (int count : new int[] {1, 3, 5000}) {
            short[] halves = new short[count];
            Arrays.fill(halves, (short) -7);
            HalveResult halved = values.halve(Shorts.of(halves), false);
            same(halved.given(), true);
            Arrays.fill(halves, (short) -3);
            same(halved.values().toArray(), halves);
        }
        same(values.halve(null, true), new HalveResult(null, false));
    }

    private static void objectsHaveTheInterfaceNamedByTheirIid(IValues values) {
        Guid iid = InterfaceInfo.of(IPeer.class).iid();
        IPeer peer = new Peer(5);
        same(values.same(iid, peer) == peer, true);
        fails(Hresult.E_POINTER, () -> values.same(iid, null));
    }
}
