package obvia.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.List;
import obvia.Export;
import obvia.Threading;
import obvia.Waiting;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** References in one-way calls that a server refuses. */
@Timeout(120)
class OwedTest {
    /** A target that leads to no object. */
    private static final long NONE = 0x7fff_ffff_0000_7fffL;

    private static final InterfaceInfo<ITest> TEST = Known.of(ITest.class);

    private final ProcessRuntime server = new ProcessRuntime();
    private final ProcessRuntime client = new ProcessRuntime();

    private Export export() {
        return server.export(new Peer.Subject(), ITest.class, "owed-" + Long.toHexString(server.oxid()), Threading.PLATFORM);
    }

    /** Returns the target of a new object of the client, with references counted for the server. */
    private long give() {
        return client.marshalOwn(new Peer.Subject(), TEST, server.oxid(), false).target();
    }

    /** Makes a call that is refused, and lists references. */
    private static void list(WindowChannel channel, long target) {
        channel.request(0);
        channel.oneway(NONE, 3, 0);
        byte[] list = RuntimeCalls.listed(List.of(new RuntimeCalls.Returned(target, RuntimeCalls.REFS_PER_QUERY)));
        channel.request(list.length);
        MemorySegment.copy(MemorySegment.ofArray(list), 0, channel.memory, channel.at, list.length);
        channel.oneway(0, RuntimeCalls.GIVEN, list.length);
    }

    private void awaitReturn(long target) throws Exception {
        ProcessesTest.await("the references are given back", () -> client.exports().find(target) == null);
    }

    @Test
    void listedReferencesAreGivenBack() throws Exception {
        try (Export export = export()) {
            WindowChannel channel = client.linkAt(export.name()).ownChannel();
            long early = give();
            list(channel, early);
            RuntimeCalls.resolve(client.linkAt(export.name()), export.name(), TEST);
            assertNotNull(client.exports().find(early), "the server has no connection to the client");
            server.linkAt(Link.endpoint(client.oxid()));
            awaitReturn(early);
            long late = give();
            list(channel, late);
            awaitReturn(late);
        }
    }

    @Test
    void anotherProcessMakesTheServerGiveNothingBack() throws Exception {
        try (Export export = export();
                Window window = Window.connect(ProcessRuntime.directory(), Link.endpoint(server.oxid()), Waiting.ADAPTIVE, false, Wires.patience())) {
            long held = give();
            server.linkAt(Link.endpoint(client.oxid()));
            WindowChannel channel = client.linkAt(export.name()).ownChannel();
            var impostor = new WindowChannel(null, window);
            impostor.owner = Thread.currentThread();
            assertEquals(server.oxid(), Bind.introduce(impostor, client.oxid()));
            list(impostor, held);
            // The answer to a call on the connection shows that the list was received.
            Bind.alter(impostor, TEST);
            for (int round = 0; round < 2; round++) {
                long given = give();
                list(channel, given);
                awaitReturn(given);
            }
            assertNotNull(client.exports().find(held));
        }
    }

    @Test
    void aClientIsOwedALimitedNumber() {
        var owed = new Owed();
        for (int target = 0; target < 2 * Owed.MAX; target++) {
            owed.add(new Owed.Entry(null, new RuntimeCalls.Returned(target, 1)));
        }
        List<Owed.Entry> taken = owed.take();
        assertEquals(Owed.MAX, taken.size());
        assertEquals(Owed.MAX - 1, taken.getLast().refs().target(), "the first ones");
        assertTrue(owed.take().isEmpty());
        owed.add(taken.getFirst());
        assertFalse(owed.take().isEmpty());
    }
}
