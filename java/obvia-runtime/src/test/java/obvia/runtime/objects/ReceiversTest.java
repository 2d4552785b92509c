package obvia.runtime.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests the table of processes to which references were passed and that are not connected. */
class ReceiversTest {
    @Test
    void theReceiversOfOneGiverAndOfAllAreLimited() {
        Receivers receivers = new Receivers();
        for (int i = 0; i < Receivers.MAX_PER_GIVER; i++) {
            assertTrue(receivers.add(i, 1, 0));
        }
        assertFalse(receivers.add(-1, 1, 0));
        assertTrue(receivers.add(0, 1, 0), "a known receiver");
        for (int i = Receivers.MAX_PER_GIVER; i < Receivers.MAX; i++) {
            assertTrue(receivers.add(i, 2 + i / Receivers.MAX_PER_GIVER, 0));
        }
        assertFalse(receivers.add(-1, 99, 0));
        receivers.remove(0);
        assertTrue(receivers.add(-1, 1, 0));
    }

    @Test
    void receiversExpireAfterTheirTime() {
        Receivers receivers = new Receivers();
        receivers.add(7, 1, 0);
        receivers.add(8, 1, 10);
        assertEquals(List.of(), receivers.expired(Receivers.LIMIT - 1));
        assertEquals(List.of(7L), receivers.expired(Receivers.LIMIT));
        assertTrue(receivers.add(7, 1, 20), "its time begins anew");
        assertFalse(receivers.removeExpired(7, Receivers.LIMIT + 10));
        assertEquals(List.of(8L), receivers.expired(Receivers.LIMIT + 10));
        assertTrue(receivers.removeExpired(8, Receivers.LIMIT + 10));
        assertEquals(List.of(7L), receivers.expired(Receivers.LIMIT + 20));
        // A receiver may be added after another receiver to which references were sent later.
        assertTrue(receivers.add(9, 1, 5));
        assertEquals(List.of(9L), receivers.expired(Receivers.LIMIT + 5));
        assertEquals(5, receivers.remove(9));
        assertNull(receivers.remove(9));
    }

    @Test
    void aReceiverCanBeCountedForAnotherGiver() {
        Receivers receivers = new Receivers();
        assertTrue(receivers.add(-1, 2, 7));
        for (int i = 0; i < Receivers.MAX_PER_GIVER; i++) {
            assertTrue(receivers.add(i, 1, 0));
        }
        assertFalse(receivers.charge(-1, 1));
        assertTrue(receivers.charge(-1, 2), "it is counted for that one");
        receivers.remove(0);
        assertTrue(receivers.charge(-1, 1));
        assertFalse(receivers.add(0, 1, 0));
        assertEquals(7, receivers.remove(-1), "its time stays");
        assertTrue(receivers.add(0, 1, 0));
    }
}
