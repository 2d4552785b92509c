package obvia.runtime.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.function.Function;
import obvia.Guid;
import obvia.Hresult;
import obvia.RpcException;
import obvia.runtime.InterfaceInfo;
import obvia.runtime.Reference;
import obvia.runtime.shm.Wires;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests received references for which no proxy can be created. */
@Timeout(120)
class RefusedReferencesTest {
    private static final InterfaceInfo<ITest> TEST = InterfaceInfo.of(ITest.class);
    private static final Guid OTHER = Guid.of("0c9be5c2-7a0f-4f0e-9d55-3b1f6a2e7d41");

    private final ProcessRuntime server = new ProcessRuntime();
    private final ProcessRuntime client = new ProcessRuntime();

    /**
     * Returns a reference to a new object of the server. The reference is counted for the client.
     */
    private ObjRef give() {
        return server.marshalOwn(new Peer.Subject(), TEST, client.oxid(), false);
    }

    private static ObjRef with(ObjRef reference, Guid iid, int refs, List<String> endpoints) {
        return new ObjRef(iid, refs, reference.oxid(), reference.oid(), reference.target(), endpoints);
    }

    private static ObjRef forged(ObjRef reference, Guid iid) {
        return with(reference, iid, Integer.MAX_VALUE, reference.endpoints());
    }

    private static InterfaceInfo<ITest> info(long fingerprint, Function<Reference, ITest> proxy) {
        return new InterfaceInfo<>(ITest.class, TEST.name(), TEST.iid(), TEST.version(), fingerprint, TEST.fingerprintLow(), null, proxy, TEST.stub(), "", List::of);
    }

    private ITest adopt(ObjRef reference, InterfaceInfo<ITest> info) {
        return client.adopt(reference, info, null, server.oxid());
    }

    private void refuse(int result, ObjRef reference, InterfaceInfo<ITest> info) {
        assertEquals(result, assertThrows(RpcException.class, () -> adopt(reference, info)).result());
    }

    private boolean isHeld(ObjRef reference) {
        return server.exports().find(reference.target()) != null;
    }

    private void awaitReturn(ObjRef reference) throws Exception {
        Wires.await("the reference is given back", () -> !isHeld(reference));
    }

    /** Sends the releases that the client has queued, and waits for them. */
    private void flush() throws Exception {
        ObjRef last = give();
        client.release(adopt(last, TEST));
        awaitReturn(last);
    }

    @Test
    void referencesToAnotherInterfaceAreGivenBack() throws Exception {
        ObjRef given = give();
        refuse(Hresult.RPC_E_INVALID_OBJREF, with(given, OTHER, given.refs(), given.endpoints()), TEST);
        awaitReturn(given);
    }

    @Test
    void referencesToAnotherVersionAreGivenBack() throws Exception {
        ObjRef given = give();
        refuse(Hresult.RPC_E_VERSION_MISMATCH, given, info(1, TEST.proxy()));
        awaitReturn(given);
    }

    @Test
    void referencesWithoutAProxyAreGivenBack() throws Exception {
        ObjRef first = give();
        ObjRef second = give();
        InterfaceInfo<ITest> failing = info(TEST.fingerprintHigh(), reference -> {
            throw new IllegalStateException();
        });
        assertThrows(IllegalStateException.class, () -> adopt(first, failing));
        awaitReturn(first);
        assertNull(adopt(second, info(TEST.fingerprintHigh(), reference -> null)));
        awaitReturn(second);
    }

    @Test
    void refusedReferencesToOwnObjectsAreReleased() {
        ObjRef given = give();
        ObjRef other = with(given, OTHER, given.refs(), given.endpoints());
        assertThrows(RpcException.class, () -> server.adopt(other, TEST, null, client.oxid()));
        assertNull(server.exports().find(given.target()));
    }

    /** Receives a reference whose process cannot be reached. */
    private void receiveUnreached(ObjRef reference, int refs) {
        refuse(Hresult.RPC_S_SERVER_UNAVAILABLE, with(reference, TEST.iid(), refs, List.of("elsewhere")), TEST);
        assertTrue(isHeld(reference));
    }

    @Test
    void theNextLinkGivesUnreachedReferencesBack() throws Exception {
        ObjRef given = give();
        receiveUnreached(given, given.refs());
        client.links().linkToName(ObjRef.endpoint(server.oxid()));
        awaitReturn(given);
    }

    @Test
    void unreachedReferencesDoNotEndTheProxyWhoseReferenceOpensTheLink() throws Exception {
        ObjRef given = give();
        ObjRef other = give();
        receiveUnreached(given, Integer.MAX_VALUE);
        receiveUnreached(other, other.refs());
        ITest proxy = adopt(given, TEST);
        awaitReturn(other);
        assertEquals(3, proxy.add(1, 2));
        client.release(proxy);
        awaitReturn(given);
    }

    private static RuntimeCalls.CountedReference counted(long target, long refs) {
        return new RuntimeCalls.CountedReference(target, refs);
    }

    @Test
    void referencesWaitForTheLastProxyOfTheirTarget() {
        var releases = new Releases();
        releases.giveBack(1, 1);
        releases.giveBack(2, 2);
        releases.addProxy(1);
        releases.addProxy(1);
        assertEquals(List.of(counted(2, 2)), releases.next());
        releases.giveBack(1, 3);
        releases.removeProxy(1, 5);
        assertTrue(releases.isEmpty());
        releases.removeProxy(1, 5);
        assertEquals(List.of(counted(1, 14)), releases.next());
        releases.giveBack(1, Long.MAX_VALUE);
        releases.giveBack(1, 1);
        assertEquals(List.of(counted(1, Long.MAX_VALUE)), releases.next());
        for (int target = 0; target <= RuntimeCalls.RELEASES_MAX; target++) {
            releases.giveBack(target, 1);
        }
        assertEquals(RuntimeCalls.RELEASES_MAX, releases.next().size());
        assertEquals(List.of(counted(RuntimeCalls.RELEASES_MAX, 1)), releases.next());
        assertTrue(releases.isEmpty());
    }

    @Test
    void inventedCountsDoNotEndAProxy() throws Exception {
        ObjRef given = give();
        ITest proxy = adopt(given, TEST);
        refuse(Hresult.RPC_E_INVALID_OBJREF, forged(given, OTHER), TEST);
        client.release(adopt(forged(given, TEST.iid()), TEST));
        flush();
        assertEquals(3, proxy.add(1, 2));
        client.release(proxy);
        awaitReturn(given);
    }

    @Test
    void unreachedReferencesAreLimitedAndExpire() {
        var unreached = new UnreachedReferences();
        long limit = UnreachedReferences.LIMIT;
        for (int i = 0; i < 2 * UnreachedReferences.MAX; i++) {
            unreached.add(new ObjRef(TEST.iid(), 5, i % 4, 1, 1, List.of()), 0);
        }
        assertEquals(UnreachedReferences.MAX / 4, unreached.take(1, limit - 1).size());
        assertEquals(0, unreached.take(1, limit - 1).size(), "taken before");
        assertEquals(0, unreached.take(2, limit).size(), "too old");
        unreached.add(new ObjRef(TEST.iid(), 5, 5, 1, 1, List.of()), limit);
        assertEquals(0, unreached.take(3, 0).size(), "replaced");
        assertEquals(1, unreached.take(5, limit).size());
    }
}
