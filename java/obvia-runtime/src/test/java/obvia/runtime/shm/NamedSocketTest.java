package obvia.runtime.shm;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import obvia.CallTimeoutException;
import obvia.Hresult;
import obvia.RpcException;
import obvia.runtime.call.Deadline;
import obvia.runtime.objects.Peer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests connecting to the sockets of names. */
@Timeout(120)
public class NamedSocketTest {
    @TempDir
    private Path folder;

    private Directory names;
    private Path socket;

    @BeforeEach
    void makeNames() {
        names = Directory.at(folder.resolve("n"));
        socket = names.path().resolve("it.sock");
    }

    @Test
    void clientsWithoutPermissionFailAtOnce() throws Exception {
        try (ServerSocketChannel listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            listener.bind(UnixDomainSocketAddress.of(socket));
            Files.setPosixFilePermissions(socket, PosixFilePermissions.fromString("---------"));
            try (Peer peer = Peer.unprivileged(socket)) {
                peer.awaitWord(Integer.toHexString(Hresult.E_ACCESSDENIED) + " true true");
            }
        }
    }

    /**
     * Returns a text that says how connecting to a socket without permission fails: the HRESULT,
     * whether that happens before the deadline, and whether the message names the socket and the
     * remedy. The method runs in peers, which have no JUnit.
     */
    public static String denied(Path socket) throws IOException {
        Deadline deadline = Wires.patience();
        try {
            Directory.at(socket.getParent()).connect("it", deadline).close();
            return "connected";
        } catch (RpcException e) {
            boolean isHelpful = e.getMessage().startsWith("connecting to " + socket + ": ") && e.getMessage().endsWith("does not admit other users");
            return Integer.toHexString(e.result()) + " " + !deadline.isOver() + " " + isHelpful;
        }
    }

    @Test
    void clientsWaitForRoomInTheQueue() throws Exception {
        List<SocketChannel> queue = new ArrayList<>();
        try (ServerSocketChannel listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            listener.bind(UnixDomainSocketAddress.of(socket), 1);
            SocketChannel waiting = NamedSocket.connect(socket);
            while (waiting != null) {
                queue.add(waiting);
                waiting = NamedSocket.connect(socket);
            }
            Deadline over = Deadline.in(Duration.ZERO);
            assertThrows(CallTimeoutException.class, () -> names.connect("it", over));
            assertTrue(NamedSocket.isServed(socket));
            listener.accept().close();
            names.connect("it", Wires.patience()).close();
        } finally {
            queue.forEach(Resources::close);
        }
    }
}
