package obvia.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.foreign.Arena;
import obvia.Hresult;
import obvia.RpcException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import trees.ITrees;
import trees.ITreesInfo;

class ChannelTest {
    /** A channel whose calls fail. */
    private static class Failing extends Channel {
        int ends;
        int calls;

        Failing(Transport transport) {
            super(transport);
        }

        @Override
        protected Channel request(int length) {
            return this;
        }

        @Override
        protected int exchange(long target, int opnum, int length) {
            calls++;
            return Hresult.E_FAIL;
        }

        @Override
        protected void oneway(long target, int opnum, int length) {
            calls++;
        }

        @Override
        protected RpcException failure(int result) {
            throw new StackOverflowError();
        }

        @Override
        public void end() {
            ends++;
        }
    }

    /** A channel whose memory is closed after each successful call. */
    private static final class Closed extends Failing {
        Closed(Transport transport) {
            super(transport);
            try (Arena arena = Arena.ofConfined()) {
                memory = arena.allocate(64);
                replyMemory = memory;
            }
        }

        @Override
        protected int exchange(long target, int opnum, int length) {
            calls++;
            this.length = 8;
            return Hresult.S_OK;
        }

        @Override
        public RpcException failed(Throwable why) {
            assertInstanceOf(IllegalStateException.class, why);
            return RpcException.of(Hresult.RPC_E_DISCONNECTED);
        }
    }

    @Test
    void proxiesReportFailedAccessesToFramesAsErrorsOfTheCall() {
        var transport = new Numbered();
        transport.channel = new Closed(transport);
        ITrees trees = ITreesInfo.INFO.proxy().apply(new Reference(transport, 7, 7, 1));
        for (Executable call : new Executable[] {trees::noted, () -> trees.note(null)}) {
            int result = assertThrows(RpcException.class, call).result();
            assertEquals(Hresult.RPC_E_DISCONNECTED, result);
        }
        assertEquals(1, transport.channel.calls, "the second request is not sent");
    }

    @Test
    void failedCallsEndEvenWithoutMemoryForTheirException() {
        Failing channel = new Failing(null);
        assertThrows(StackOverflowError.class, () -> channel.call(1, 3, 0));
        assertEquals(1, channel.ends);
    }

    private static final class Numbered extends Transport {
        private Failing channel = new Failing(this);

        @Override
        protected Channel channel() {
            return channel;
        }

        @Override
        protected long oxid() {
            return 1;
        }

        @Override
        protected byte[] reference(long through, Object object, InterfaceInfo<?> info) {
            throw new UnsupportedOperationException();
        }

        @Override
        protected <T> T object(long through, byte[] reference, InterfaceInfo<T> info) {
            throw new UnsupportedOperationException();
        }

        @Override
        protected <T> T query(long through, long oid, InterfaceInfo<T> info) {
            throw new UnsupportedOperationException();
        }

        @Override
        protected void releaseLater(long target, int refs) {}
    }

    /** A proxy that makes its calls on a channel of another proxy. */
    private static final class Mistaken extends Proxy {
        Mistaken(Transport transport) {
            super(new Reference(transport, 7, 7, 1));
        }

        void callOn(Mistaken other) {
            call(other.begin(8), 3, 8);
        }

        void onewayOn(Mistaken other) {
            oneway(other.begin(8), 3, 8);
        }
    }

    /**
     * On a channel of another transport, the number of an interface pointer means another object.
     */
    @Test
    void channelsOfOtherTransportsAreRefused() {
        var here = new Numbered();
        var there = new Numbered();
        var proxy = new Mistaken(here);
        var other = new Mistaken(there);
        assertThrows(IllegalArgumentException.class, () -> proxy.callOn(other));
        assertThrows(IllegalArgumentException.class, () -> proxy.onewayOn(other));
        assertEquals(0, there.channel.calls);
        proxy.onewayOn(new Mistaken(here));
        assertEquals(1, here.channel.calls);
    }
}
