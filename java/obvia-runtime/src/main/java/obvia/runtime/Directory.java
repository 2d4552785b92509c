package obvia.runtime;

import java.io.IOException;
import java.net.ConnectException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import jdk.net.ExtendedSocketOptions;
import obvia.Hresult;
import obvia.RpcException;

/**
 * Where the names of this user's servers are: a socket for each, as {@code crates/via/src/provider/shm/directory.rs} has it.
 *
 * <p>Servers in other languages hold a lock that this virtual machine has no call for. So a name here is somebody's as long as its socket answers; the lock that
 * is taken beside it keeps two processes from taking a name at once.
 */
final class Directory {
    private static final int PATH_MAX = 107;
    private static final int OTHERS_WRITE = 0022;
    /** The longest wait for a lock whose holder does not answer at the name. */
    private static final Duration LOCK_PATIENCE = Duration.ofSeconds(3);

    private final Path path;
    private final UserPrincipal user;

    private Directory(Path path, UserPrincipal user) {
        this.path = path;
        this.user = user;
    }

    /** The one of this process's user, made when it is missing. */
    static Directory ofUser() {
        try {
            Path self = Path.of("/proc/self");
            UserPrincipal user = Files.getOwner(self);
            Path path = place((Integer) Files.getAttribute(self, "unix:uid"));
            try {
                Files.createDirectories(path.getParent());
                var mode = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
                Files.createDirectory(path, mode);
            } catch (FileAlreadyExistsException e) {
                // As it mostly is.
            }
            return new Directory(path, user).checked();
        } catch (IOException e) {
            throw RpcException.of(Hresult.E_FAIL, "making the directory for names: " + e, e);
        }
    }

    private static Path place(int uid) {
        String own = System.getenv("OBVIA_RUNTIME_DIR");
        if (own != null && !own.isEmpty()) {
            return Path.of(own).toAbsolutePath();
        }
        String xdg = System.getenv("XDG_RUNTIME_DIR");
        if (xdg != null && !xdg.isEmpty()) {
            return Path.of(xdg, "obvia").toAbsolutePath();
        }
        Path run = Path.of("/run/user", Integer.toString(uid));
        return Files.isDirectory(run) ? run.resolve("obvia") : Path.of("/tmp/obvia-" + uid);
    }

    private Directory checked() throws IOException {
        int mode = (Integer) Files.getAttribute(path, "unix:mode", LinkOption.NOFOLLOW_LINKS);
        UserPrincipal owner = Files.getOwner(path, LinkOption.NOFOLLOW_LINKS);
        String why = !Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)
                ? "it is not a directory"
                : !isTrusted(owner)
                        ? "it belongs to another user"
                        : (mode & OTHERS_WRITE) != 0 ? "others may write to it" : null;
        if (why != null) {
            throw RpcException.of(Hresult.E_ACCESSDENIED, "the directory for names, " + path + ": " + why);
        }
        return this;
    }

    /** Whether a user could do to this process whatever it likes anyway: its own, and the superuser. */
    private boolean isTrusted(UserPrincipal other) {
        return other.equals(user) || other.getName().equals("root") || other.getName().equals("0");
    }

    /** Where files of this process may be that nobody else is to see. */
    Path path() {
        return path;
    }

    private Path socket(String name) {
        Path socket = path.resolve(name + ".sock");
        String why = null;
        if (name.isEmpty() || name.startsWith(".")) {
            why = "a name has at least one character and does not begin with a dot";
        } else if (name.chars().anyMatch(c -> c == '/' || Character.isWhitespace(c) || Character.isISOControl(c))) {
            why = "a name has no slash, space or control character";
        } else if (socket.toString().getBytes().length > PATH_MAX) {
            why = "with its directory it is longer than the 107 bytes of a socket's path";
        }
        if (why != null) {
            throw RpcException.of(Hresult.E_INVALIDARG, "`" + name + "`: " + why);
        }
        return socket;
    }

    /**
     * A socket that is connected to the server of a name, who is somebody to talk to.
     *
     * @throws RpcException with RPC_S_SERVER_UNAVAILABLE when nobody serves it
     */
    SocketChannel connect(String name, Deadline deadline) {
        SocketChannel channel = reach(name, deadline);
        try {
            checkPeer(channel);
            return channel;
        } catch (IOException | RpcException e) {
            close(channel);
            throw e instanceof RpcException known ? known : RpcException.of(Hresult.E_FAIL, "asking who serves `" + name + "`: " + e, e);
        }
    }

    private SocketChannel reach(String name, Deadline deadline) {
        Path socket = socket(name);
        while (true) {
            try {
                SocketChannel channel = knock(socket);
                if (channel != null) {
                    return channel;
                }
                // The server is there, and somebody else's connection is accepted soon.
            } catch (IOException e) {
                throw RpcException.of(Hresult.RPC_S_SERVER_UNAVAILABLE, "nobody serves the name `" + name + "`", e);
            }
            deadline.check();
            if (Thread.currentThread().isInterrupted()) {
                throw RpcException.of(Hresult.RPC_E_CALL_CANCELED, "the thread was interrupted");
            }
            LockSupport.parkNanos(1_000_000);
        }
    }

    /**
     * A socket that is connected, without waiting; {@code null} where the queue of who listens there is full.
     *
     * <p>Such a socket is in no queue, and never will be: the one that finds a place is another.
     *
     * @throws IOException where nobody listens
     */
    private static SocketChannel knock(Path socket) throws IOException {
        SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
        boolean isConnected = false;
        try {
            channel.configureBlocking(false);
            isConnected = channel.connect(UnixDomainSocketAddress.of(socket));
            return isConnected ? channel : null;
        } catch (IOException e) {
            if (e instanceof ConnectException || !Files.exists(socket)) {
                throw e;
            }
            return null;
        } finally {
            if (!isConnected) {
                close(channel);
            }
        }
    }

    /** Refuses a peer of another user, as the kernel recorded it at connect. */
    void checkPeer(SocketChannel channel) throws IOException {
        UserPrincipal peer = channel.getOption(ExtendedSocketOptions.SO_PEERCRED).user();
        if (!isTrusted(peer)) {
            throw RpcException.of(Hresult.E_ACCESSDENIED, "the peer runs as another user, " + peer.getName());
        }
    }

    /** Takes a name. */
    Name bind(String name) {
        Path socket = socket(name);
        Path lockPath = path.resolve(name + ".lock");
        FileChannel lock = null;
        ServerSocketChannel listener = null;
        boolean isDone = false;
        try {
            lock = answers(socket) ? null : lock(lockPath, socket);
            // Who has taken the name since has let the lock go, or answers.
            if (lock == null || answers(socket)) {
                throw RpcException.of(Hresult.RPC_S_DUPLICATE_ENDPOINT, "another process serves the name `" + name + "`");
            }
            // Nobody answered there, so whoever made this file is dead.
            Files.deleteIfExists(socket);
            listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
            listener.bind(UnixDomainSocketAddress.of(socket), 128);
            // Now that it answers: who waits for the name looks when its files change.
            lock.truncate(0).write(ByteBuffer.wrap((ProcessHandle.current().pid() + "\n").getBytes()));
            isDone = true;
            return new Name(listener, socket, lock, lockPath);
        } catch (IOException e) {
            throw RpcException.of(Hresult.E_FAIL, "serving the name `" + name + "`: " + e, e);
        } finally {
            if (!isDone) {
                close(listener);
                close(lock);
            }
        }
    }

    /** Takes the lock of a name; {@code null} where another has it. */
    private static FileChannel lock(Path path, Path socket) throws IOException {
        // A process that lists names may hold the lock, on a busy machine for long. A server that holds it answers soon. A lock file that its last owner removes between
        // our open and our lock is no lock.
        long began = System.nanoTime();
        do {
            FileChannel file = null;
            boolean isOurs = false;
            try {
                Object before = made(path);
                file = FileChannel.open(path, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
                if (file.tryLock() != null) {
                    isOurs = key(path).equals(before);
                }
            } catch (NoSuchFileException e) {
                // It was removed.
            } catch (OverlappingFileLockException e) {
                return null;
            } finally {
                if (!isOurs) {
                    close(file);
                }
            }
            if (isOurs) {
                return file;
            }
            LockSupport.parkNanos(2_000_000);
        } while (System.nanoTime() - began < LOCK_PATIENCE.toNanos() && !answers(socket));
        return null;
    }

    /** Makes a file where there is none, and says which one is there. */
    private static Object made(Path path) throws IOException {
        try {
            Files.createFile(path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        } catch (FileAlreadyExistsException e) {
            // As left behind.
        }
        return key(path);
    }

    /** Which file it is. Opening it once more would end its lock when that is closed. */
    private static Object key(Path path) throws IOException {
        return Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS).fileKey();
    }

    /** Whether somebody listens there, and takes us for a client that has thought better of it. */
    private static boolean answers(Path socket) {
        try {
            // Who has a full queue is there as well.
            close(knock(socket));
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    static void close(AutoCloseable what) {
        try {
            if (what != null) {
                what.close();
            }
        } catch (Exception e) {
            // There is nobody whom it would help.
        }
    }

    /** A name that is served. */
    record Name(ServerSocketChannel listener, Path socket, FileChannel lock, Path lockPath) implements AutoCloseable {
        @Override
        public void close() {
            try {
                // While the name is still held, so that no other server's files are removed.
                Files.deleteIfExists(socket);
                Files.deleteIfExists(lockPath);
            } catch (IOException e) {
                // The next server of the name finds that nobody answers.
            }
            Directory.close(listener);
            Directory.close(lock);
        }
    }
}
