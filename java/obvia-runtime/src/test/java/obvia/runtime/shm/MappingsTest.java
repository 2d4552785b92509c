package obvia.runtime.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import obvia.Hresult;
import obvia.RpcException;
import obvia.Waiting;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the shares of this process's mappings. */
@Timeout(120)
class MappingsTest {
    private static final int TRIES = 1_000_000;

    @Test
    void whatFitsIsTakenWhileOthersAreRefused() {
        var mappings = new Mappings(3, "a test");
        var isOver = new AtomicBoolean();
        var other = CompletableFuture.runAsync(() -> {
            while (!isOver.get()) {
                assertEquals(Hresult.E_OUTOFMEMORY, assertThrows(RpcException.class, () -> mappings.take(4)).result());
            }
        });
        try {
            for (int i = 0; i < TRIES; i++) {
                mappings.take(3);
                mappings.giveBack(3);
            }
        } finally {
            isOver.set(true);
        }
        other.join();
    }

    @Test
    void clientsCannotUseUpTheMappingsOfConnectionsToServers() throws Exception {
        int taken = 0;
        String name = "mappings-" + ProcessHandle.current().pid();
        try (Directory.Name bound = Directory.own().bind(name)) {
            try {
                while (true) {
                    Mappings.OF_CLIENTS.take(1);
                    taken++;
                }
            } catch (RpcException e) {
                assertEquals(Hresult.E_OUTOFMEMORY, e.result());
            }
            var client = CompletableFuture.supplyAsync(() -> Window.connect(name, Waiting.BLOCK, false, Wires.patience()));
            var mappings = new Mappings(Mappings.PER_CONNECTION, "a test's connections");
            Window.accept(bound.listener().accept(), mappings, Waiting.BLOCK, Wires.patience()).close();
            client.join().close();
        } finally {
            Mappings.OF_CLIENTS.giveBack(taken);
        }
    }
}
