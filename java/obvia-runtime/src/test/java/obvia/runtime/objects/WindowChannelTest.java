package obvia.runtime.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import obvia.Waiting;
import obvia.runtime.shm.Window;
import obvia.runtime.shm.WindowTest;
import obvia.runtime.shm.Wires;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class WindowChannelTest {
    @Test
    void recentlyAnsweredChannelsAreReusedWithoutASystemCall() throws Exception {
        for (boolean isAnswered : new boolean[] {true, false}) {
            try (Wires.Pair pair = Wires.pair(Waiting.BLOCK, Waiting.BLOCK)) {
                var channel = new WindowChannel(null, pair.client());
                long now = System.nanoTime();
                int callId = pair.client().nextSequence();
                WindowTest.send(pair.client(), isAnswered ? Window.REQUEST : Window.ONEWAY, 8, 1);
                if (isAnswered) {
                    WindowTest.receive(pair.server(), Window.REQUEST, 8, 1);
                    pair.server().takenAll();
                    WindowTest.send(pair.server(), Window.RESPONSE, 8, 1);
                    WindowTest.receive(pair.client(), Window.RESPONSE, 8, 1);
                    pair.client().takenThrough(callId);
                }
                channel.rest(now);
                assertFalse(channel.isSpent(now + WindowChannel.FRESH), "the connection has not ended");
                pair.server().close();
                assertEquals(!isAnswered, channel.isSpent(now + WindowChannel.FRESH - 1));
                assertEquals(!isAnswered, channel.isKnownClosed());
                assertTrue(channel.isSpent(now + WindowChannel.FRESH));
                assertTrue(channel.isKnownClosed());
            }
        }
    }
}
