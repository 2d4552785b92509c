package obvia.processor.calls;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.rmi.RemoteException;
import obvia.Hresult;
import obvia.Obvia;
import obvia.RpcException;
import obvia.processor.calls.Calc.Color;
import obvia.runtime.InterfaceInfo;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class CallsTest {
    private static Peer peer;
    private static Account there;

    @BeforeAll
    static void start() throws Exception {
        peer = new Peer();
        there = Obvia.bind(Account.class, peer.name);
    }

    @AfterAll
    static void stop() {
        peer.close();
    }

    @Test
    void valuesArePassedInBothDirections() throws Exception {
        assertEquals(7, there.add(3, 4));
        assertEquals(12, there.add(3, 4, 5), "an overload");
        assertEquals(-1 - 2 + 'x' + (1L << 20) + 0.25 + 0.5, there.mix((byte) -1, (short) -2, 'x', 1L << 20, 0.25f, 0.5, true));
        assertEquals(16, there.twice(8), "a default method runs here");
        assertEquals(Color.RED, there.next(Color.BLUE));
    }

    @Test
    void arraysAreCopied() throws Exception {
        assertArrayEquals(new int[] {3, 2, 1}, there.reverse(new int[] {1, 2, 3}));
        assertArrayEquals(new int[0], there.reverse(new int[0]));
        assertEquals(100_000, there.reverse(new int[100_000]).length);
        var target = new byte[] {-1};
        var inverse = there.invert(
                new boolean[] {true, false, true}, target, new long[] {0, Long.MIN_VALUE}, new char[] {'x'}, new double[] {0.5}, new short[0], new float[] {1, 2, 3});
        assertArrayEquals(new boolean[] {false, true, false}, inverse);
        assertArrayEquals(new Color[] {Color.GREEN}, there.others(new Color[] {Color.RED, Color.BLUE}));
        assertThrows(NullPointerException.class, () -> there.reverse(null));
        assertThrows(NullPointerException.class, () -> there.others(new Color[1]));
    }

    @Test
    void stringsMayBeNull() {
        assertEquals("ä\ud83d-null", there.join("ä\ud83d", '-', null));
        assertNull(there.join(null, ' ', ""));
    }

    @Test
    void remoteObjectsArePassedByReference() throws Exception {
        Subject own = new Subject();
        assertEquals(24, there.visit(own));
        assertEquals(24, there.visit(there));
        assertEquals(-1, there.visit(null));
        assertSame(own, there.any(own));
        assertEquals(there, there.any((obvia.Remote) there));
        Calc made = there.make(true);
        assertEquals(5, made.add(2, 3));
        assertNotEquals(there, made);
        assertEquals(there, there.make(false));
        assertEquals(9, Obvia.as(made, Account.class).asCalc().add(4, 5));
    }

    @Test
    void exceptionsReachTheCaller() throws Exception {
        there.withdraw(9);
        var overdrawn = assertThrows(Calc.Overdrawn.class, () -> there.withdraw(0));
        assertSame(Calc.Overdrawn.class, overdrawn.getClass());
        assertEquals("too much", overdrawn.getMessage());
        assertThrows(Calc.Broken.class, () -> there.withdraw(1));
        for (int how = 2; how < 4; how++) {
            int given = how;
            var wrapped = assertThrows(RemoteException.class, () -> there.withdraw(given));
            var cause = assertInstanceOf(RpcException.class, wrapped.getCause());
            assertEquals(how == 2 ? "of the method's own" : "the call failed with 0x80070005", cause.getMessage());
            assertEquals(how == 2 ? Hresult.RPC_E_SERVERFAULT : Hresult.E_ACCESSDENIED, cause.result());
        }
        var unchecked = assertThrows(RpcException.class, () -> there.fail(0));
        assertEquals(Hresult.RPC_E_SERVERFAULT, unchecked.result());
        assertEquals("the method threw java.lang.IllegalStateException: of the method's own", unchecked.getMessage());
        String longest = "ä\ud83d\ude00".repeat(4000);
        there.add(1, 2);
        // A pair consists of a character of two bytes and a character of four bytes. The limit of
        // 16 KiB has room for 2730 pairs, and for one more character of two bytes.
        assertEquals(longest.substring(0, 3 * 2730 + 1), assertThrows(RpcException.class, () -> there.say(longest)).getMessage());
        assertEquals("the call failed with 0x80004005", assertThrows(RpcException.class, () -> there.say(null)).getMessage());
        assertEquals(7, there.add(3, 4), "results come after failures");
        assertEquals(Hresult.E_NOTIMPL, assertThrows(RpcException.class, () -> there.fail(Hresult.E_NOTIMPL)).result());
    }

    @Test
    void interfaceInfoMatchesTheDeclaration() {
        var calc = InterfaceInfo.of(Calc.class);
        assertEquals(8, calc.iid().high() >>> 12 & 0xf, "a UUID of version 8");
        assertEquals(2, calc.iid().low() >>> 62);
        var account = InterfaceInfo.of(Account.class);
        assertEquals("5bd1a9a5-9c4c-4c5a-8a7b-3f1f0f5f2f10", account.iid().toString());
        assertSame(calc, account.base());
    }
}
