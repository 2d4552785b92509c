package obvia.runtime.call;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class LimitedLogTest {
    @Test
    void warningsPerPeerAreLimited() {
        LimitedLog log = new LimitedLog(0);
        for (int i = 0; i < LimitedLog.BURST; i++) {
            assertEquals(0, log.take(i));
        }
        for (int i = 0; i < 1000; i++) {
            assertEquals(-1, log.take(i));
        }
        assertEquals(1000, log.take(1_000_001_000L), "those that were left out are counted");
        assertEquals(-1, log.take(1_000_001_001L));
        assertEquals(1, log.take(60_000_000_000L));
        for (int i = 1; i < LimitedLog.BURST; i++) {
            assertEquals(0, log.take(60_000_000_000L));
        }
        assertEquals(-1, log.take(60_000_000_000L), "a quiet hour allows no more at once");
    }
}
