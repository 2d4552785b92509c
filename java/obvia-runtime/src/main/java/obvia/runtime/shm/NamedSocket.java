package obvia.runtime.shm;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The sockets of names, and whether servers listen at them. */
final class NamedSocket {
    private NamedSocket() {}

    /**
     * Connects a socket without waiting. Returns {@code null} if the listener's queue is full, or
     * if connecting fails for a reason other than a missing listener or a lack of permission.
     *
     * <p>A socket that found the queue full never enters the queue, so the next attempt needs a new
     * socket.
     *
     * @throws NoServerException if no process listens
     * @throws AccessDeniedException without permission for the socket or its folder
     * @throws IOException if the limit of open files is reached
     */
    static SocketChannel connect(Path socket) throws IOException {
        SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
        boolean isConnected = false;
        try {
            channel.configureBlocking(false);
            isConnected = channel.connect(UnixDomainSocketAddress.of(socket));
            return isConnected ? channel : null;
        } catch (IOException e) {
            if (e instanceof ConnectException || Files.notExists(socket)) {
                throw new NoServerException(e);
            }
            // The virtual machine throws this exception for EACCES, although nothing is bound.
            if (e instanceof BindException) {
                throw (IOException) new AccessDeniedException(socket.toString()).initCause(e);
            }
            return null;
        } finally {
            if (!isConnected) {
                Resources.close(channel);
            }
        }
    }

    /**
     * Whether a server listens at a socket. To the server, this process looks like a client that
     * disconnects at once. The answer is also true if {@link #connect} returns {@code null}, or
     * throws an {@link AccessDeniedException}.
     *
     * @throws IOException if this process cannot try to connect, for example without a free
     *     descriptor
     */
    static boolean isServed(Path socket) throws IOException {
        try {
            Resources.close(connect(socket));
            return true;
        } catch (NoServerException e) {
            return false;
        } catch (AccessDeniedException e) {
            return true;
        }
    }

    /**
     * Whether a server listens at a socket. If this process cannot find out, the answer is true.
     */
    static boolean answers(Path socket) {
        try {
            return isServed(socket);
        } catch (IOException e) {
            return true;
        }
    }

    /** Signals that no process listens at a socket. */
    static final class NoServerException extends IOException {
        private static final long serialVersionUID = 1;

        private NoServerException(IOException why) {
            super(why.getMessage(), why);
        }
    }
}
