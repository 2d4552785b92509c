package obvia.runtime.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Tests the order in which the janitor serves peers that do not answer. */
class SilentPeersTest {
    private static SilentPeers<String> of(String... peers) {
        var silent = new SilentPeers<String>();
        for (String peer : peers) {
            silent.add(peer, 0);
        }
        return silent;
    }

    @Test
    void aRoundServesFewSilentPeersAndAllHaveTheirTurn() {
        SilentPeers<String> silent = of("a", "b", "c", "d", "e");
        assertEquals(List.of("a", "b"), silent.next(peer -> true));
        assertEquals(List.of("c", "d"), silent.next(peer -> true));
        assertEquals(List.of("e", "a"), silent.next(peer -> true));
        assertEquals(List.of("d"), silent.next("d"::equals));
        assertEquals(List.of("b", "c"), silent.next(peer -> true));
    }

    @Test
    void anAnswerDoesNotEndTheSilenceAtOnce() {
        SilentPeers<String> silent = of("a", "b");
        silent.next(peer -> true);
        silent.retain(Set.of("a", "b"), SilentPeers.LASTING - 1);
        assertTrue(silent.has("a"));
        silent.add("b", 1);
        silent.retain(Set.of("a", "b"), SilentPeers.LASTING);
        assertFalse(silent.has("a"));
        assertTrue(silent.has("b"));
    }

    @Test
    void endedPeersAreForgotten() {
        SilentPeers<String> silent = of("a", "b");
        silent.retain(Set.of("b"), 0);
        assertEquals(List.of("b"), silent.next(peer -> true));
        assertFalse(silent.has("a"));
    }
}
