package obvia.runtime.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import obvia.Hresult;
import obvia.RpcException;
import obvia.runtime.call.Mutations;
import org.junit.jupiter.api.Test;

/** Tests the parsers of a peer's bytes: see {@link Mutations}. */
class FuzzTest {
    @Test
    void randomBindsAreAnsweredOrRefused() {
        Mutations.of(FormatsTest.BIND).feed(bytes -> {
            Bind.Answer answer = Bind.answer(bytes, 9);
            assertTrue(answer.unit().length <= 0x4000 && answer.unit()[2] == (bytes[2] == 11 ? 12 : 15));
        });
    }

    @Test
    void randomBindResponsesAreReadOrRefused() {
        byte[] bound = Bind.answer(FormatsTest.BIND, 9).unit();
        int callId = ByteBuffer.wrap(bound).order(ByteOrder.LITTLE_ENDIAN).getInt(12);
        Mutations.of(bound).feed(bytes -> assertEquals(2, Bind.outcomes(bytes, 12, callId, 2).size()));
    }

    @Test
    void randomObjRefsAreReadOrRefused() {
        ObjRef other = new ObjRef(FormatsTest.SAMPLE.iid(), 1, 9, 8, 7, List.of("a", "oxid-0000000000000009", "b"));
        Mutations.of(FormatsTest.SAMPLE.toBytes(), other.toBytes()).feed(bytes -> {
            try {
                ObjRef read = ObjRef.fromBytes(bytes);
                assertEquals(read, ObjRef.fromBytes(read.toBytes()));
            } catch (RpcException e) {
                assertTrue(e.result() == Hresult.RPC_E_INVALID_OBJREF || e.result() == Hresult.REGDB_E_CLASSNOTREG, e.toString());
            }
        });
    }
}
