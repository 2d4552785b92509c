package obvia.runtime.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import obvia.AccessDeniedException;
import obvia.CallTimeoutException;
import obvia.Endpoint;
import obvia.Export;
import obvia.Hresult;
import obvia.Obvia;
import obvia.RpcException;
import obvia.Trace;
import obvia.Waiting;
import obvia.runtime.Flat;
import obvia.runtime.Proxy;
import obvia.runtime.call.CallContext;
import obvia.runtime.call.Deadline;
import obvia.runtime.shm.Window;
import obvia.runtime.shm.Wires;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the contexts of calls, and their effect in methods. */
@Timeout(120)
public class ContextTest {
    public static final Trace TRACE = new Trace("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "obvia=1");
    public static final Trace LONGEST = new Trace(TRACE.traceparent(), "s".repeat(512));
    private static final Duration TIME = Duration.ofMinutes(30);
    /**
     * The minimum remaining time that a method must see. Each test takes less than {@link #TIME}
     * minus this time.
     */
    private static final Duration LEAST = Duration.ofMinutes(20);

    private static void assertTimed(long left) {
        assertTrue(left >= LEAST.toMillis() && left <= TIME.toMillis(), left + " ms left");
    }

    /** Compares the context that the method of a calculator gets with the expected context. */
    private static void hears(ICalc there, boolean isTimed, Trace trace) {
        long left = there.about(Calcs.TIME_LEFT);
        if (isTimed) {
            assertTimed(left);
        } else {
            assertEquals(-1, left);
        }
        assertEquals(trace == null ? 0 : trace.toString().hashCode(), there.about(Calcs.TRACE));
    }

    private static void hearsAll(ICalc there) {
        for (int turn = 0; turn < 3; turn++) {
            hears(there, false, null);
            Obvia.within(TIME, () -> hears(there, true, null));
            Obvia.withTrace(TRACE, () -> hears(there, false, TRACE));
            Obvia.within(TIME, () -> {
                hears(there, true, null);
                Obvia.withTrace(TRACE, () -> Obvia.withTrace(LONGEST, () -> hears(there, true, LONGEST)));
                hears(there, true, null);
            });
            hears(there, false, null);
            // A failed call leaves no context behind.
            Obvia.within(TIME, () -> assertThrows(RpcException.class, () -> ((ICalcInfo.CalcProxy) there).call(99, 0, 0)));
        }
    }

    /** Makes calls on a virtual thread. */
    private static void onVirtual(Runnable calls) throws Exception {
        var outcome = new CompletableFuture<Void>();
        Thread.ofVirtual().start(() -> {
            try {
                calls.run();
                outcome.complete(null);
            } catch (Throwable e) {
                outcome.completeExceptionally(e);
            }
        });
        outcome.get(60, TimeUnit.SECONDS);
    }

    @Test
    void methodsSeeTheContextOfTheirCaller() throws Exception {
        try (Peer peer = Peer.calc("both");
                Export export = Obvia.export(new Calcs.Old(), ICalc.class, "context-" + peer.name);
                Endpoint loopback = Obvia.loopback()) {
            ICalc platform = Obvia.bind(ICalc.class, peer.name);
            ICalc virtual = Obvia.bind(ICalc.class, peer.name + "-virtual");
            for (ICalc there : List.of(platform, virtual, loopback.bind(ICalc.class, export.name()))) {
                hearsAll(there);
                onVirtual(() -> hearsAll(there));
            }
            // The connection moves between threads with the context of the call.
            Obvia.within(TIME, () -> Obvia.withTrace(TRACE, () -> {
                for (int turn = 0; turn < 3; turn++) {
                    hears(platform, true, TRACE);
                    hears(virtual, true, TRACE);
                }
            }));
        }
    }

    /**
     * In the first turn, the called method calls a third process. In the second turn, it calls this
     * process.
     */
    @Test
    void callsOfAMethodInheritItsContext() throws Exception {
        try (Peer peer = Peer.calc("old");
                Peer other = Peer.calc("virtual")) {
            ICalc there = Obvia.bind(ICalc.class, peer.name);
            ICalc last = Obvia.bind(ICalc.class, other.name);
            for (ICalc visited : List.of(last, new Calcs.Old())) {
                assertEquals(-1, there.visit(visited, Calcs.TIME_LEFT));
                assertTimed(Obvia.within(TIME, () -> there.visit(visited, Calcs.TIME_LEFT)));
                assertEquals(TRACE.toString().hashCode(), Obvia.withTrace(TRACE, () -> there.visit(visited, Calcs.TRACE)));
                assertEquals(0, there.visit(visited, Calcs.TRACE));
            }
        }
    }

    @Test
    void callsOfAMethodEndAtTheDeadlineOfItsCaller() throws Exception {
        try (Peer peer = Peer.calc("old")) {
            ICalc there = Obvia.bind(ICalc.class, peer.name);
            assertTrue(there.about(Calcs.HOUR_LEFT) > TIME.toMillis());
            assertTimed(Obvia.within(TIME, () -> there.about(Calcs.HOUR_LEFT)));
        }
    }

    /** The caller of a one-way call does not wait, so the caller's deadline does not apply. */
    @Test
    void oneWayMethodsSeeOnlyTheTrace() throws Exception {
        try (Peer peer = Peer.calc("old")) {
            var there = (ICalcInfo.CalcProxy) Obvia.bind(ICalc.class, peer.name);
            there.tell(4, Calcs.KEEP);
            assertEquals(-1, there.about(Calcs.KEPT_TIME_LEFT));
            assertEquals(0, there.about(Calcs.KEPT_TRACE));
            Obvia.within(TIME, () -> Obvia.withTrace(TRACE, () -> there.tell(4, Calcs.KEEP)));
            assertEquals(-1, there.about(Calcs.KEPT_TIME_LEFT));
            assertEquals(TRACE.toString().hashCode(), there.about(Calcs.KEPT_TRACE));
            Obvia.within(TIME, () -> there.tell(4, Calcs.KEEP));
            assertEquals(-1, there.about(Calcs.KEPT_TIME_LEFT));
            assertEquals(0, there.about(Calcs.KEPT_TRACE));
        }
    }

    /** Work without a context is nested in work with a context. */
    @Test
    void aNestedEmptyContextDoesNotChangeTheOuterOne() throws Exception {
        try (Peer peer = Peer.calc("old")) {
            ICalc there = Obvia.bind(ICalc.class, peer.name);
            Obvia.within(TIME, () -> {
                CallContext.NONE.during(() -> {
                    hears(there, false, null);
                    return null;
                });
                hears(there, true, null);
            });
        }
    }

    @Test
    void emptyContextsEqualNone() {
        byte[] noTrace = CallContext.NONE.of(TRACE).toBytes();
        Arrays.fill(noTrace, 8, 24, (byte) 0);
        assertSame(CallContext.NONE, CallContext.read(noTrace));
        assertSame(CallContext.NONE, CallContext.read(CallContext.NONE.toBytes()));
        assertSame(CallContext.NONE, CallContext.NONE.by(Deadline.in(TIME)).withoutTime());
    }

    /** Returns the number of messages that a call takes. */
    private static int messages(ICalc there) {
        Window window = Link.of(there).ownChannel().window();
        int before = window.nextSequence();
        assertEquals(7, there.add(3, 4));
        return window.nextSequence() - before;
    }

    @Test
    void callsWithoutContextTakeOneMessage() throws Exception {
        try (Peer peer = Peer.calc("old")) {
            ICalc there = Obvia.bind(ICalc.class, peer.name);
            assertEquals(1, messages(there));
            assertEquals(2, Obvia.within(TIME, () -> messages(there)));
            assertEquals(2, Obvia.withTrace(TRACE, () -> messages(there)));
            assertEquals(2, messages(there), "that nothing is said any more");
            assertEquals(1, messages(there));
            assertEquals(1, messages(there));
        }
    }

    @Test
    void methodsSeeTheCancellationOfTheirCall() throws Exception {
        assertFalse(Obvia.isCancelled(), "no call is performed here");
        try (Peer peer = Peer.calc("both")) {
            for (String name : List.of(peer.name, peer.name + "-virtual")) {
                ICalc there = Obvia.bind(ICalc.class, name);
                // On a busy machine the first caller may give up before its call is performed.
                for (long millis = 50; there.about(Calcs.LINGERED) == 0; millis *= 2) {
                    Duration time = Duration.ofMillis(millis);
                    assertThrows(CallTimeoutException.class, () -> Obvia.within(time, () -> there.about(Calcs.LINGER)));
                    Deadline deadline = Deadline.in(time);
                    while (there.about(Calcs.LINGERED) == 0 && !deadline.isOver()) {
                        Thread.sleep(1);
                    }
                }
            }
        }
    }

    @Test
    void callContextsDoNotRepeatTheAccessCheck() {
        var asked = new AtomicInteger();
        ICalc calc = new Calcs.Old();
        Obvia.setAccess(calc, _ -> asked.incrementAndGet() > 0);
        try (Export export = Obvia.export(calc, ICalc.class, "asked-" + ProcessHandle.current().pid());
                Endpoint loopback = Obvia.loopback()) {
            ICalc there = loopback.bind(ICalc.class, export.name());
            hears(there, false, null);
            int before = asked.get();
            assertTrue(before > 0);
            hearsAll(there);
            assertEquals(before, asked.get());
            Obvia.setAccess(calc, _ -> false);
            Obvia.within(TIME, () -> assertThrows(AccessDeniedException.class, () -> there.add(1, 2)));
        } finally {
            Obvia.clearAccess(calc);
        }
    }

    /**
     * A client whose messages the test writes. The proxy keeps the reference to the called
     * calculator: if the proxy were collected, the reference would be released.
     */
    private record Stranger(Window window, WindowChannel channel, Proxy proxy) implements AutoCloseable {
        static Stranger at(Peer peer) {
            Window window = Window.connect(peer.name, Waiting.BLOCK, false, Wires.patience());
            WindowChannel channel = new WindowChannel(null, window);
            channel.owner = Thread.currentThread();
            Bind.introduce(channel, 4711);
            return new Stranger(window, channel, (Proxy) Obvia.bind(ICalc.class, peer.name));
        }

        long target() {
            return Link.of(proxy).target(proxy);
        }

        private void write(byte[] context) {
            channel.request(context.length);
            MemorySegment.copy(MemorySegment.ofArray(context), 0, channel.memory, channel.at, context.length);
        }

        /** Sends a context as clients do: in a call without response. */
        void tell(byte[] context) {
            write(context);
            channel.oneway(0, RuntimeCalls.CONTEXT, context.length);
        }

        /** Sends a context in a call with response, and returns the HRESULT. */
        int say(byte[] context) {
            write(context);
            try {
                channel.callDirectly(0, RuntimeCalls.CONTEXT, context.length);
                return 0;
            } catch (RpcException e) {
                return e.result();
            }
        }

        long about(long target, int what) {
            channel.request(8);
            channel.memory.set(Flat.LONG, channel.at, what);
            channel.callDirectly(target, 4, 8);
            return channel.replyMemory.get(Flat.LONG, channel.replyAt);
        }

        @Override
        public void close() {
            window.close();
        }
    }

    private static byte[] with(byte[] context, int at, int value) {
        byte[] changed = context.clone();
        changed[at] = (byte) value;
        return changed;
    }

    @Test
    void malformedCallContextsAreRefused() throws Exception {
        byte[] good = CallContext.NONE.by(Deadline.in(TIME)).of(TRACE).toBytes();
        byte[] longest = CallContext.NONE.of(LONGEST).toBytes();
        assertEquals(CallContext.LENGTH_MAX, longest.length);
        try (Peer peer = Peer.calc("old");
                Stranger stranger = Stranger.at(peer)) {
            long target = stranger.target();
            assertEquals(0, stranger.say(good));
            assertEquals(TRACE.toString().hashCode(), stranger.about(target, Calcs.TRACE));
            assertEquals(0, stranger.about(target, Calcs.TRACE), "it is of one call");
            assertEquals(0, stranger.say(longest));
            assertEquals(LONGEST.toString().hashCode(), stranger.about(target, Calcs.TRACE));
            for (int length = 0; length <= CallContext.LENGTH_MAX + 64; length++) {
                assertEquals(0, stranger.say(good));
                // The state has seven characters. The padding after the state can have any length
                // below eight bytes.
                boolean isGood = length == 8 || length >= 47 && length <= 54;
                assertEquals(isGood ? 0 : Hresult.RPC_X_BAD_STUB_DATA, stranger.say(Arrays.copyOf(good, length)), length + " bytes");
                assertEquals(isGood, stranger.about(target, Calcs.TIME_LEFT) >= 0, length + " bytes after good ones");
            }
            // The offsets of reserved bytes, of the length of the state, and of the padding.
            for (int at : new int[] {33, 35, 36, 39, good.length - 1}) {
                assertEquals(Hresult.RPC_X_BAD_STUB_DATA, stranger.say(with(good, at, 1)), "byte " + at);
            }
            // A state that exceeds the maximum length.
            byte[] tooLong = with(Arrays.copyOf(longest, longest.length + 8), 34, 8);
            assertEquals(Hresult.RPC_X_BAD_STUB_DATA, stranger.say(tooLong));
            // An invalid context in a one-way call is not reported, but cancels the previous
            // context.
            for (byte[] bad : List.of(new byte[0], with(good, 33, 1), tooLong, new byte[CallContext.LENGTH_MAX + 8])) {
                stranger.tell(good);
                stranger.tell(bad);
                assertEquals(-1, stranger.about(target, Calcs.TIME_LEFT));
                assertEquals(0, stranger.about(target, Calcs.TRACE));
                stranger.tell(good);
                assertEquals(TRACE.toString().hashCode(), stranger.about(target, Calcs.TRACE));
            }
            assertEquals(-1, stranger.about(target, Calcs.TIME_LEFT));
        }
    }

    @Test
    void invalidTraceIdsAreIgnored() throws Exception {
        byte[] good = CallContext.NONE.by(Deadline.in(TIME)).of(TRACE).toBytes();
        byte[] noParent = good.clone();
        Arrays.fill(noParent, 24, 32, (byte) 0);
        try (Peer peer = Peer.calc("old");
                Stranger stranger = Stranger.at(peer)) {
            assertEquals(0, stranger.say(noParent));
            assertTrue(stranger.about(stranger.target(), Calcs.TIME_LEFT) >= 0);
            assertEquals(0, stranger.say(noParent));
            assertEquals(0, stranger.about(stranger.target(), Calcs.TRACE));
            assertEquals(0, stranger.say(with(good, 40, 7)));
            assertEquals(new Trace(TRACE.traceparent()).toString().hashCode(), stranger.about(stranger.target(), Calcs.TRACE), "nor is a state with a bell");
            // The refused call has consumed the context.
            assertEquals(0, stranger.say(good));
            assertThrows(RpcException.class, () -> stranger.about(-1, Calcs.TRACE));
            assertEquals(0, stranger.about(stranger.target(), Calcs.TRACE));
        }
    }

    @Test
    void onlyValidTraceHeadersAreAccepted() {
        assertEquals("0af7651916cd43dd8448eb211c80319c", TRACE.traceId());
        assertEquals("b7ad6b7169203331", TRACE.parentId());
        assertTrue(TRACE.isSampled());
        assertFalse(new Trace(TRACE.traceparent().replace("-01", "-fe")).isSampled());
        assertEquals("", new Trace(TRACE.traceparent(), "s".repeat(513)).tracestate());
        assertEquals("", new Trace(TRACE.traceparent(), "a=\n").tracestate());
        assertEquals("traceparent", assertThrows(NullPointerException.class, () -> new Trace(null)).getMessage());
        String good = TRACE.traceparent();
        for (String bad : List.of("", good + "0", "01" + good.substring(2), good.replace('a', 'A'), good.replace('-', '_'), "00-" + "0".repeat(32) + good.substring(35),
                good.substring(0, 36) + "0".repeat(16) + "-01", good.replace("-01", "- 1"))) {
            assertThrows(IllegalArgumentException.class, () -> new Trace(bad), bad);
        }
    }

    /** Compares the bytes of contexts with the layout in docs/flat.md. */
    @Test
    void callContextsHaveTheSharedLayout() {
        String bytes = java.util.HexFormat.of().formatHex(CallContext.NONE.of(TRACE).toBytes());
        assertEquals("ffffffffffffffff" + "0af7651916cd43dd8448eb211c80319c" + "b7ad6b7169203331" + "01" + "00" + "0700" + "00000000" + "6f627669613d31" + "00", bytes);
        assertEquals("ffffffffffffffff", java.util.HexFormat.of().formatHex(CallContext.NONE.toBytes()));
        CallContext longest = CallContext.read(new byte[] {-2, -1, -1, -1, -1, -1, -1, -1});
        assertNotEquals(null, longest);
        assertTrue(longest.during(() -> CallContext.currentDeadline().left()) > TimeUnit.DAYS.toNanos(365));
    }
}
