package obvia.runtime;

import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.function.Consumer;

/** Accepts the clients that connect to a name as long as the name is served. */
final class Acceptor implements Rounds.Turn {
    private final ServerSocketChannel listener;
    private final Consumer<SocketChannel> greet;

    /**
     * Creates an acceptor for a listener.
     *
     * @param greet performs the greeting with a client, on a thread of its own
     */
    Acceptor(ServerSocketChannel listener, Consumer<SocketChannel> greet) {
        this.listener = listener;
        this.greet = greet;
    }

    @Override
    public boolean take() throws Exception {
        SocketChannel socket;
        try {
            socket = listener.accept();
        } catch (ClosedChannelException e) {
            return false;
        }
        boolean isGreeted = false;
        try {
            greet.accept(socket);
            isGreeted = true;
        } finally {
            if (!isGreeted) {
                // The client sees the closed connection at once and may retry.
                Directory.close(socket);
            }
        }
        return true;
    }
}
