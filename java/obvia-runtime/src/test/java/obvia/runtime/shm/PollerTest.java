package obvia.runtime.shm;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the poller, which waits for connections without a thread. */
class PollerTest {
    @Test
    @Timeout(60)
    void aClosedSocketThatWasWatchedKeepsNoDescriptor() throws Exception {
        String name = "watched-" + ProcessHandle.current().pid();
        try (Directory.Name bound = Directory.own().bind(name);
                SocketChannel client = Directory.own().connect(name, Wires.patience())) {
            var server = new ConnectionSocket(bound.listener().accept());
            var rung = new CountDownLatch(1);
            server.watch(rung::countDown);
            client.write(ByteBuffer.allocate(1));
            rung.await();
            server.close();
            // Writes of the client still succeed after a shutdown, and fail once the server's
            // descriptor is closed.
            assertTrue(hasFailed(client), "the server's descriptor is open");
        }
    }

    /** Writes until the peer's descriptor is closed, or the socket's buffer is full. */
    private static boolean hasFailed(SocketChannel client) throws InterruptedException {
        for (int left = 1_000; left > 0; left--) {
            try {
                client.write(ByteBuffer.allocate(1));
            } catch (IOException e) {
                return true;
            }
            Thread.sleep(10);
        }
        return false;
    }
}
