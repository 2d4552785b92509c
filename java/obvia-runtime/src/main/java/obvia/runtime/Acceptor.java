package obvia.runtime;

import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.function.Consumer;

/** Takes whoever connects to a name, as long as the name is served. */
final class Acceptor implements Rounds.Turn {
    private final ServerSocketChannel listener;
    private final Consumer<SocketChannel> greet;

    /**
     * One for a listener.
     *
     * @param greet goes on with a client, on a thread of its own
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
                // The client is told at once, and may come again.
                Directory.close(socket);
            }
        }
        return true;
    }
}
