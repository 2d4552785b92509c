package obvia.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import obvia.Guid;
import obvia.Hresult;
import obvia.RpcException;
import obvia.runtime.call.CallContext;
import obvia.runtime.call.Deadline;
import org.junit.jupiter.api.Test;
import trees.ITrees;
import trees.ITreesInfo;

/** Tests frames with several references, some of which cannot be unmarshaled. */
class ReceivedReferencesTest {
    private static final Guid UNKNOWN = Guid.of("5d2f0c18-93a1-4c5e-8b0e-61f7c2d4e9ab");

    private final List<String> adopted = new ArrayList<>();
    private final Set<Deadline> deadlines = new HashSet<>();

    /** Notes a reference. Fails to unmarshal the reference if its interface is IUnknown. */
    private Object adopt(byte[] reference, InterfaceInfo<?> info) {
        adopted.add(reference[0] + " " + info.name());
        deadlines.add(CallContext.currentDeadline());
        if (info.iid().equals(Guid.IUNKNOWN)) {
            throw RpcException.of(Hresult.RPC_E_INVALID_OBJREF);
        }
        return null;
    }

    @Test
    void referencesAfterOneThatFailsAreGivenBackUnderOneDeadline() {
        byte[][] rest = {null, {1}, {2}};
        assertThrows(RpcException.class, () -> CallContext.NONE.during(() -> Marshal.object(new byte[] {0}, Interfaces.UNKNOWN, this::adopt, rest)));
        assertEquals(2, deadlines.size(), "that of the call, and that of the others");
        for (Object type : new Object[] {UNKNOWN, Interfaces.UNKNOWN}) {
            adopted.clear();
            assertThrows(RpcException.class, () -> Marshal.object(new byte[] {0}, type, this::adopt, rest));
            assertEquals(List.of("0 IUnknown", "1 IUnknown", "2 IUnknown"), adopted);
        }
        adopted.clear();
        Marshal.object(new byte[] {0}, InterfaceInfo.of(ITrees.class).iid(), this::adopt, rest);
        assertEquals(List.of("0 ITrees"), adopted);
    }

    @Test
    void referencesBesideOneToAnUnknownInterfaceAreUnmarshaledUnderOneDeadline() {
        GraphWriter writer = GraphWriter.of(GraphKinds.EVERY, 24);
        for (int number = 0; number < 3; number++) {
            writer.reference(8 * number, new byte[] {(byte) number});
        }
        writer.finishHere();
        byte[] frame = new byte[writer.length()];
        writer.copyTo(MemorySegment.ofArray(frame), 0);
        writer.close();
        GraphReader reader = GraphReader.of(MemorySegment.ofArray(frame), 0, frame.length, 24, GraphKinds.EVERY, "the frame");
        reader.checkReference(0, ITreesInfo.INFO);
        reader.checkReference(8, UNKNOWN);
        reader.checkReference(16, ITreesInfo.INFO);
        reader.verify();
        int result = assertThrows(RpcException.class, () -> reader.resolve(this::adopt)).result();
        reader.close();
        assertEquals(Hresult.E_NOINTERFACE, result);
        assertEquals(List.of("0 ITrees", "1 IUnknown", "2 ITrees"), adopted);
        assertEquals(1, deadlines.size());
    }

    /** A transport that counts how often references are taken back. */
    private static final class Sending extends Transport {
        private int takenBack;

        @Override
        protected Channel channel() {
            throw new AssertionError();
        }

        @Override
        protected long oxid() {
            return 1;
        }

        @Override
        protected byte[] reference(long through, Object object, InterfaceInfo<?> info) {
            return new byte[0];
        }

        @Override
        protected void takeBackUnsent() {
            takenBack++;
        }

        @Override
        protected <T> T object(long through, byte[] reference, InterfaceInfo<T> info) {
            throw new AssertionError();
        }

        @Override
        protected <T> T query(long through, long oid, InterfaceInfo<T> info) {
            throw new AssertionError();
        }

        @Override
        protected void releaseLater(long target, int refs) {}

        private Proxy proxy() {
            return (Proxy) proxy(Interfaces.UNKNOWN, 1, 1, 1);
        }
    }

    @Test
    void aReferenceToAnUnknownInterfaceTakesEarlierOnesBack() {
        Sending transport = new Sending();
        Proxy through = transport.proxy();
        Object object = new Object();
        assertEquals(0, Marshal.reference(through, object, Guid.IUNKNOWN).length);
        assertEquals(0, transport.takenBack);
        int result = assertThrows(RpcException.class, () -> Marshal.reference(through, object, UNKNOWN)).result();
        assertEquals(Hresult.E_NOINTERFACE, result);
        assertEquals(1, transport.takenBack);
    }
}
