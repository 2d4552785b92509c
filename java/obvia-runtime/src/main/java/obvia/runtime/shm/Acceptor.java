package obvia.runtime.shm;

import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.function.Consumer;

/** Accepts the clients that connect to a name as long as the name is served. */
public final class Acceptor implements RepeatedTask.Step {
    private final ServerSocketChannel listener;
    private final Consumer<SocketChannel> greet;

    /**
     * Starts to accept the clients of a name.
     *
     * @param what the kind of the name, for the name of the thread
     * @param isDaemon whether the process may end while the name is served
     * @param greet performs the greeting with a client, on a thread of its own
     */
    public static void start(Directory.Name name, String what, boolean isDaemon, Consumer<SocketChannel> greet) {
        RepeatedTask.start("obvia-accept-" + what, isDaemon, "accepting connections", new Acceptor(name.listener(), greet));
    }

    Acceptor(ServerSocketChannel listener, Consumer<SocketChannel> greet) {
        this.listener = listener;
        this.greet = greet;
    }

    @Override
    public boolean perform() throws Exception {
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
                Resources.close(socket);
            }
        }
        return true;
    }
}
