package obvia.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import obvia.Hresult;
import obvia.RpcException;
import org.junit.jupiter.api.Test;

class ChannelTest {
    /** A channel whose calls fail. */
    private static final class Failing extends Channel {
        private int ends;
        private int calls;

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

    @Test
    void failedCallsEndEvenWithoutMemoryForTheirException() {
        Failing channel = new Failing(null);
        assertThrows(StackOverflowError.class, () -> channel.call(1, 3, 0));
        assertEquals(1, channel.ends);
    }

    private static final class Numbered extends Transport {
        private final Failing channel = new Failing(this);

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

    /** On a channel of another transport, the same number means another object. */
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
