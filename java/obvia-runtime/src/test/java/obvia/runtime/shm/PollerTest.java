package obvia.runtime.shm;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import obvia.RpcException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the poller, which waits on behalf of connections without a thread. */
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

    /** Another thread can close a socket at the moment at which its thread begins to wait. */
    @Test
    @Timeout(60)
    void aWaitForAClosedSocketKeepsNoDescriptor() throws Exception {
        String name = "closed-" + ProcessHandle.current().pid();
        try (Directory.Name bound = Directory.own().bind(name);
                SocketChannel client = Directory.own().connect(name, Wires.patience());
                SocketChannel socket = bound.listener().accept()) {
            var server = new ConnectionSocket(socket);
            Resources.close(socket);
            assertThrows(RpcException.class, () -> server.nap(1));
            long before = polls();
            for (int turn = 0; turn < 100; turn++) {
                assertThrows(RpcException.class, () -> server.nap(1));
            }
            // Other threads may poll as well.
            long more = polls() - before;
            assertTrue(more < 50, more + " descriptors stay open");
            assertTrue(client.isOpen());
        }
    }

    /** Returns the number of this process's descriptors with which the kernel polls. */
    private static long polls() throws IOException {
        long count = 0;
        try (var all = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path one : all) {
                try {
                    count += Files.readSymbolicLink(one).toString().contains("eventpoll") ? 1 : 0;
                } catch (NoSuchFileException e) {
                    // The descriptor was closed meanwhile.
                }
            }
        }
        return count;
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
