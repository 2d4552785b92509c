package obvia.runtime.objects;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import obvia.Guid;
import obvia.Hresult;
import obvia.RpcException;
import org.junit.jupiter.api.Test;

class FormatsTest {
    static final ObjRef SAMPLE = new ObjRef(
            Guid.of("01234567-89ab-cdef-0011-223344556677"), 5, 0x1122334455667788L, 42, 7L | 3L << 32, List.of("oxid-1122334455667788"));

    /** The bind PDU of a process in Rust: the runtime's interface, and process 7. */
    static final byte[] BIND = HexFormat.of()
            .parseHex("05000b0310000000740000000100000000000000" + "00000000" + "02000000"
                    + "00000100" + "7a0ce14bd593264f8e0b6a17d2c4f358" + "01000000" + "d2513c8f0e7a6b4db1e490c725ad6e18" + "01000000"
                    + "01000100" + "0f5e279dc314b64a0000000000000007" + "01000000" + "d2513c8f0e7a6b4db1e490c725ad6e18" + "01000000");

    @Test
    void guidsHaveTheSharedByteOrder() {
        Guid guid = Guid.of("01234567-89ab-cdef-0011-223344556677");
        assertEquals(0xcdef89ab01234567L, guid.wireHigh());
        assertEquals(0x7766554433221100L, guid.wireLow());
        assertEquals(guid, Guid.fromWire(guid.wireHigh(), guid.wireLow()));
        assertEquals("01234567-89ab-cdef-0011-223344556677", guid.toString());
        assertThrows(IllegalArgumentException.class, () -> Guid.of("1-2-3-4-5"));
    }

    @Test
    void objRefsRoundTrip() {
        assertEquals(SAMPLE, ObjRef.fromBytes(SAMPLE.toBytes()));
        byte[] longer = Arrays.copyOf(SAMPLE.toBytes(), SAMPLE.toBytes().length + 8);
        assertEquals(SAMPLE, ObjRef.fromBytes(longer));
    }

    @Test
    void truncatedObjRefsAreRefused() {
        byte[] bytes = SAMPLE.toBytes();
        for (int length = 0; length < bytes.length; length++) {
            byte[] cut = Arrays.copyOf(bytes, length);
            RpcException why = assertThrows(RpcException.class, () -> ObjRef.fromBytes(cut));
            assertEquals(Hresult.RPC_E_INVALID_OBJREF, why.result());
        }
    }

    @Test
    void bindPdusAreAcknowledged() {
        Bind.Answer answer = Bind.answer(BIND, 9);
        assertEquals(7, answer.client());
        assertEquals(12, answer.unit()[2]);
        byte[] process = HexFormat.of().parseHex("0f5e279dc314b64a0000000000000009");
        byte[] named = Arrays.copyOfRange(answer.unit(), answer.unit().length - 20, answer.unit().length - 4);
        assertArrayEquals(process, named);
    }

    @Test
    void aRefusedIntroductionIsReportedWithItsReason() {
        var flat = new Bind.Syntax(Guid.of("8f3c51d2-7a0e-4d6b-b1e4-90c725ad6e18"), 1);
        var accepted = new Bind.Outcome(0, 0, flat);
        var process = new Bind.Outcome(3, 0, Bind.Syntax.process(9));
        assertEquals(9, Bind.introduced(accepted, process));
        // The reasons in C706 12.6.3.1: not specified, unknown interface, no transfer syntax,
        // limit.
        int[] results = {
            Hresult.E_ACCESSDENIED, Hresult.RPC_E_VERSION_MISMATCH, Hresult.RPC_E_VERSION_MISMATCH, Hresult.E_OUTOFMEMORY
        };
        for (int reason = 0; reason < results.length; reason++) {
            Bind.Outcome refused = Bind.Outcome.refused(reason);
            RpcException why = assertThrows(RpcException.class, () -> Bind.introduced(accepted, refused));
            assertEquals(results[reason], why.result(), "reason " + reason);
        }
        RpcException why = assertThrows(RpcException.class, () -> Bind.introduced(Bind.Outcome.refused(1), process));
        assertEquals(Hresult.RPC_E_VERSION_MISMATCH, why.result());
    }

    /** Objects that are reached over a network have OXID 0 in this process. */
    @Test
    void noProcessHasOxidZero() {
        byte[] reference = new ObjRef(SAMPLE.iid(), 1, 0, 1, 1, SAMPLE.endpoints()).toBytes();
        assertEquals(Hresult.RPC_E_INVALID_OBJREF, assertThrows(RpcException.class, () -> ObjRef.fromBytes(reference)).result());
        var accepted = new Bind.Outcome(0, 0, Bind.Syntax.process(1));
        var process = new Bind.Outcome(3, 0, Bind.Syntax.process(0));
        RpcException why = assertThrows(RpcException.class, () -> Bind.introduced(accepted, process));
        assertEquals(Hresult.RPC_E_INVALID_DATA, why.result());
    }
}
