package obvia.runtime.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import obvia.Hresult;
import obvia.RpcException;
import org.junit.jupiter.api.Test;

/** Tests the table of objects that other processes reference. */
class ExportsTest {
    private static final long CLIENT = 7;
    private static final long OTHER = 8;

    private static long add(Exports exports, long client, Object object) {
        return exports.add(object, ITestInfo.INFO, client, 1, false).target();
    }

    private static void assertFull(Runnable adding) {
        assertEquals(Hresult.E_OUTOFMEMORY, assertThrows(RpcException.class, adding::run).result());
    }

    @Test
    void oneClientHasNoMoreInterfacePointersThanItsLimit() {
        var exports = new Exports();
        List<Long> targets = new ArrayList<>();
        for (int i = 0; i < 1 << 16; i++) {
            targets.add(add(exports, CLIENT, new Peer.Subject()));
        }
        var further = new Peer.Subject();
        assertFull(() -> add(exports, CLIENT, further));
        assertFalse(exports.has(further));
        // Further references to the same interface pointers, and references of other clients, are
        // counted.
        exports.addTo(targets.getFirst(), CLIENT, 1);
        long others = add(exports, OTHER, further);
        assertFull(() -> exports.addTo(others, CLIENT, 1));
        exports.release(CLIENT, targets.getFirst(), 1);
        assertFull(() -> exports.addTo(others, CLIENT, 1));
        exports.release(CLIENT, targets.getFirst(), 1);
        exports.addTo(others, CLIENT, 1);
        exports.drop(CLIENT);
        assertEquals(1, exports.count());
        assertFalse(exports.isHolder(CLIENT));
        assertTrue(exports.isHolder(OTHER, others));
    }

    @Test
    void theObjectsAndTheClientsOfAllAreLimited() {
        var exports = new Exports(new Exports.Limits(10, 3, 2));
        List<Long> targets = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            targets.add(add(exports, CLIENT, new Peer.Subject()));
        }
        assertFull(() -> add(exports, CLIENT, new Peer.Subject()));
        exports.addTo(targets.get(0), OTHER, 1);
        assertFull(() -> exports.addTo(targets.get(0), 9, 1));
        assertEquals(3, exports.count());
        exports.drop(CLIENT);
        assertEquals(1, exports.count());
        exports.addTo(targets.get(0), 9, 1);
        add(exports, 9, new Peer.Subject());
        assertEquals(2, exports.count());
    }

    @Test
    void aClientLeavesTheReferencesOfOthers() {
        var exports = new Exports();
        Object shared = new Peer.Subject();
        long target = add(exports, CLIENT, shared);
        assertEquals(target, add(exports, OTHER, shared));
        long own = add(exports, CLIENT, new Peer.Subject());
        exports.drop(CLIENT);
        assertEquals(target, exports.get(target).target());
        assertThrows(RpcException.class, () -> exports.get(own));
        exports.drop(CLIENT);
        exports.release(OTHER, target, -1);
        assertFalse(exports.has(shared));
        assertFalse(exports.isHolder(OTHER));
    }
}
