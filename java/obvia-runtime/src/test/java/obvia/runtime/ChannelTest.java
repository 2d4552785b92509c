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

        @Override
        protected Channel request(int length) {
            return this;
        }

        @Override
        protected int exchange(long target, int opnum, int length) {
            return Hresult.E_FAIL;
        }

        @Override
        protected void oneway(long target, int opnum, int length) {}

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
        Failing channel = new Failing();
        assertThrows(StackOverflowError.class, () -> channel.call(1, 3, 0));
        assertEquals(1, channel.ends);
    }
}
