package obvia.runtime.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import obvia.BadMessageException;
import obvia.Hresult;
import obvia.RpcException;
import obvia.Waiting;
import org.junit.jupiter.api.Test;

/** Tests the refusal by a server whose system is at a limit. */
class RefusalTest {
    private static final int OPEN_FILES = 24;
    /** The error of an invalid argument, which is no limit. */
    private static final int INVALID = 22;

    private static ByteBuffer refusal(int error) {
        var bytes = ByteBuffer.allocate(24).order(ByteOrder.LITTLE_ENDIAN);
        return bytes.putInt(0x4956424f).putInt(2).putInt(0).putInt(error).putLong(0).flip();
    }

    /**
     * Returns the failure of a client whose server sends a refusal. If {@code hasHungUp}, the
     * server has hung up before the client greets.
     */
    private static RpcException refused(int error, boolean hasHungUp) throws Exception {
        String name = "full-" + ProcessHandle.current().pid();
        try (Directory.Name bound = Directory.own().bind(name);
                var client = new ConnectionSocket(Directory.own().connect(name, Wires.patience()));
                SocketChannel server = bound.listener().accept()) {
            server.write(refusal(error));
            if (hasHungUp) {
                server.shutdownInput().shutdownOutput();
            }
            return assertThrows(RpcException.class, () -> Segments.request(client, Waiting.ADAPTIVE, false, Wires.patience()));
        }
    }

    @Test
    void clientsOfServersAtALimitLearnTheLimit() throws Exception {
        for (int error : new int[] {11, 12, 23, OPEN_FILES, 28}) {
            RpcException refused = refused(error, false);
            assertEquals(Hresult.E_OUTOFMEMORY, refused.result(), refused.toString());
            assertTrue(refused.getMessage().contains("error " + error + "."), refused.getMessage());
        }
        assertInstanceOf(BadMessageException.class, refused(INVALID, false));
    }

    @Test
    void clientsThatAreRefusedBeforeTheyGreetLearnTheLimit() throws Exception {
        assertEquals(Hresult.E_OUTOFMEMORY, refused(OPEN_FILES, true).result());
        assertEquals(Hresult.RPC_E_DISCONNECTED, refused(INVALID, true).result());
    }

    @Test
    void clientsRefuseNoServers() throws Exception {
        String name = "full-" + ProcessHandle.current().pid();
        try (Directory.Name bound = Directory.own().bind(name);
                SocketChannel client = Directory.own().connect(name, Wires.patience());
                var server = new ConnectionSocket(bound.listener().accept())) {
            client.write(refusal(OPEN_FILES));
            assertThrows(BadMessageException.class, () -> Segments.accept(server, Waiting.ADAPTIVE, Wires.patience()));
        }
    }

    @Test
    void clientsOfServersWithoutMappingsLearnTheLimitAndLaterOnesAreServed() throws Exception {
        var mappings = new Mappings(Mappings.PER_CONNECTION, "a test's connections");
        String name = "full-" + ProcessHandle.current().pid();
        try (Directory.Name bound = Directory.own().bind(name)) {
            var first = CompletableFuture.supplyAsync(() -> Window.connect(name, Waiting.BLOCK, false, Wires.patience()));
            Window served = Window.accept(bound.listener().accept(), mappings, Waiting.BLOCK, Wires.patience());
            var second = CompletableFuture.supplyAsync(() -> Window.connect(name, Waiting.BLOCK, false, Wires.patience()));
            SocketChannel socket = bound.listener().accept();
            RpcException refusing = assertThrows(RpcException.class, () -> Window.accept(socket, mappings, Waiting.BLOCK, Wires.patience()));
            assertEquals(Hresult.E_OUTOFMEMORY, refusing.result());
            RpcException refused = assertInstanceOf(RpcException.class, assertThrows(CompletionException.class, second::join).getCause());
            assertEquals(Hresult.E_OUTOFMEMORY, refused.result());
            assertTrue(refused.getMessage().contains("error 12."), refused.getMessage());
            served.close();
            served.close();
            first.join().close();
            var third = CompletableFuture.supplyAsync(() -> Window.connect(name, Waiting.BLOCK, false, Wires.patience()));
            Window.accept(bound.listener().accept(), mappings, Waiting.BLOCK, Wires.patience()).close();
            third.join().close();
        }
    }
}
