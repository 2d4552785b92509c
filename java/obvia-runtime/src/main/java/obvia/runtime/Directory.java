package obvia.runtime;

import java.io.IOException;
import java.net.ConnectException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import jdk.net.ExtendedSocketOptions;
import obvia.Hresult;
import obvia.RpcException;

/**
 * Where the names of this user's servers are: a socket for each, as {@code crates/via/src/provider/shm/directory.rs} has it.
 *
 * <p>Servers in other languages hold a lock by {@code flock}, for which this virtual machine has no call. So a name belongs to a server as long as the server's socket answers. The lock that
 * this virtual machine takes keeps two processes from taking a name at once, and the kernel's list of locks shows locks by {@code flock}. Files are removed or written to only if they belong to
 * this user, and are known to be the lock or the socket of a name.
 */
final class Directory {
    private static final int PATH_MAX = 107;
    private static final int OTHERS_WRITE = 0022;
    /** Directories that are being opened. */
    private static final Map<Path, Patience<Directory>> OPENING = new ConcurrentHashMap<>();
    /** How the sockets and locks of names end, whatever listens behind them. Those that virtual machines serve are the first. */
    private static final Map<String, String> ENDINGS = Map.of(".lock", ".sock", ".vi-lock", ".vi-sock", ".lrpc-lock", ".lrpc-sock");
    /** Dead names that one look at the directory removes; the next look removes more. */
    private static final int SWEPT_MAX = 16;
    /** Nanoseconds between two looks: a process that takes many names does not look at all of them for each. */
    private static final long SWEEP = 1_000_000_000;

    private final Path path;
    private final UserPrincipal user;
    private final AtomicLong swept = new AtomicLong(System.nanoTime() - SWEEP);

    private Directory(Path path, UserPrincipal user) {
        this.path = path;
        this.user = user;
    }

    /** The one of this process's user, made when it is missing. */
    static Directory ofUser() {
        int user;
        try {
            user = Lock.user();
        } catch (IOException e) {
            throw RpcException.of(Hresult.E_FAIL, "looking for the directory for names: " + e, e);
        }
        return at(place(user));
    }

    /**
     * One of the caller's choice, made when it is missing.
     *
     * <p>Another thread opens the directory, as its file system may never answer. Later callers share that thread: a file system that does not answer takes one thread, and once the
     * time is over no caller waits for it.
     */
    static Directory at(Path chosen) {
        return at(chosen, Patience.USUAL, () -> open(chosen));
    }

    /** The same with another way to open it. */
    static Directory at(Path chosen, Duration time, Callable<Directory> open) {
        Patience<Directory> opening = OPENING.computeIfAbsent(chosen, path -> new Patience<>(time, open));
        try {
            return opening.await();
        } catch (IOException e) {
            throw failed(chosen, e);
        } finally {
            if (opening.isDone()) {
                OPENING.remove(chosen, opening);
            }
        }
    }

    private static Directory open(Path chosen) throws IOException {
        Path path = plain(chosen.toAbsolutePath());
        try {
            Files.createDirectories(path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        } catch (FileAlreadyExistsException e) {
            // The check below says what the file is.
        }
        Directory opened = new Directory(path, Files.getOwner(Path.of("/proc/self")));
        String why = opened.danger();
        if (why != null) {
            throw RpcException.of(Hresult.E_ACCESSDENIED, "the directory for names, " + path + ": " + why);
        }
        return opened;
    }

    private static RpcException failed(Path chosen, IOException why) {
        return RpcException.of(Hresult.E_FAIL, "making the directory for names, " + chosen + ": " + why, why);
    }

    /** A path without dots, at the end of which a link would be followed. */
    private static Path plain(Path absolute) {
        Path plain = absolute.getRoot();
        for (Path name : absolute) {
            plain = name.toString().equals(".") ? plain : plain.resolve(name);
        }
        return plain;
    }

    private static Path place(int uid) {
        String own = System.getenv("OBVIA_RUNTIME_DIR");
        if (own != null && !own.isEmpty()) {
            return Path.of(own);
        }
        String xdg = System.getenv("XDG_RUNTIME_DIR");
        if (xdg != null && !xdg.isEmpty()) {
            return Path.of(xdg, "obvia");
        }
        Path run = Path.of("/run/user", Integer.toString(uid));
        return Files.isDirectory(run) ? run.resolve("obvia") : Path.of("/tmp/obvia-" + uid);
    }

    /** Says why the directory is not to be used; {@code null} where it is. */
    private String danger() throws IOException {
        int mode = (Integer) Files.getAttribute(path, "unix:mode", LinkOption.NOFOLLOW_LINKS);
        if (!Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
            return "it is not a directory";
        }
        if (!isTrusted(Files.getOwner(path, LinkOption.NOFOLLOW_LINKS))) {
            return "it belongs to another user";
        }
        if ((mode & OTHERS_WRITE) != 0) {
            return "others may write to it";
        }
        return Mounts.isInUserSpace(path.toRealPath()) ? "its file system is a program (FUSE), which may never answer" : null;
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
        String why = flaw(name);
        if (why == null && socket.toString().getBytes().length > PATH_MAX) {
            why = "with its directory it is longer than the 107 bytes of a socket's path";
        }
        if (why != null) {
            throw RpcException.of(Hresult.E_INVALIDARG, "`" + name + "`: " + why);
        }
        return socket;
    }

    /** Why something is no name; {@code null} where it is one. */
    private static String flaw(String name) {
        if (name.isEmpty() || name.startsWith(".")) {
            return "a name has at least one character and does not begin with a dot";
        }
        boolean isOdd = name.chars().anyMatch(c -> c == '/' || Character.isWhitespace(c) || Character.isISOControl(c));
        return isOdd ? "a name has no slash, space or control character" : null;
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
            } catch (Nobody e) {
                throw RpcException.of(Hresult.RPC_S_SERVER_UNAVAILABLE, "nobody serves the name `" + name + "`", e);
            } catch (IOException e) {
                throw RpcException.of(Hresult.E_FAIL, "connecting to the server of `" + name + "`: " + e, e);
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
     * @throws Nobody where nobody listens
     * @throws IOException where there is no file left to open
     */
    private static SocketChannel knock(Path socket) throws IOException {
        SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
        boolean isConnected = false;
        try {
            channel.configureBlocking(false);
            isConnected = channel.connect(UnixDomainSocketAddress.of(socket));
            return isConnected ? channel : null;
        } catch (IOException e) {
            if (e instanceof ConnectException || Files.notExists(socket)) {
                throw new Nobody(e);
            }
            return null;
        } finally {
            if (!isConnected) {
                close(channel);
            }
        }
    }

    /** Nobody listens at a socket. */
    private static final class Nobody extends IOException {
        private static final long serialVersionUID = 1;

        private Nobody(IOException why) {
            super(why.getMessage(), why);
        }
    }

    /** Refuses a peer of another user, as the kernel recorded it at connect. */
    void checkPeer(SocketChannel channel) throws IOException {
        UserPrincipal peer = channel.getOption(ExtendedSocketOptions.SO_PEERCRED).user();
        if (!isTrusted(peer)) {
            throw RpcException.of(Hresult.E_ACCESSDENIED, "the peer runs as another user, " + peer.getName());
        }
    }

    /**
     * Takes a name.
     *
     * @throws RpcException with RPC_S_DUPLICATE_ENDPOINT when another process serves it, E_INVALIDARG when a file of another program's lies where one of its would
     */
    Name bind(String name) {
        Path socket = socket(name);
        Lock lock = null;
        ServerSocketChannel listener = null;
        Lock.Stat made = null;
        boolean isDone = false;
        try {
            sweepSometimes();
            lock = isServed(socket) ? null : Lock.take(path.resolve(name + ".lock"), socket);
            // Who has taken the name since has let the lock go, or answers.
            if (lock == null || isServed(socket)) {
                throw RpcException.of(Hresult.RPC_S_DUPLICATE_ENDPOINT, "another process serves the name `" + name + "`");
            }
            // Nobody answered there, so whoever made this file is dead.
            Lock.removeDead(socket);
            listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
            listener.bind(UnixDomainSocketAddress.of(socket), 128);
            made = Lock.Stat.of(socket);
            // Now that it answers: who waits for the name looks when its files change.
            lock.mark();
            isDone = true;
            return new Name(listener, socket, made, lock);
        } catch (IOException e) {
            throw RpcException.of(Hresult.E_FAIL, "serving the name `" + name + "`: " + e, e);
        } finally {
            if (!isDone && made != null) {
                Lock.remove(socket, made);
            }
            if (!isDone) {
                close(lock);
                close(listener);
            }
        }
    }

    /** Has a process that takes a name, which is a good moment, look for what dead servers left behind. */
    private void sweepSometimes() {
        long now = System.nanoTime();
        long before = swept.get();
        if (now - before >= SWEEP && swept.compareAndSet(before, now)) {
            sweep();
        }
    }

    /** Removes what dead servers left behind, whatever listened behind their names. Where that cannot be done nobody is harmed. */
    void sweep() {
        int swept = 0;
        try (DirectoryStream<Path> files = Files.newDirectoryStream(path, "*lock")) {
            Locks locks = Locks.read();
            for (Path file : files) {
                String text = file.getFileName().toString();
                int dot = text.lastIndexOf('.');
                String ending = dot < 0 ? null : ENDINGS.get(text.substring(dot));
                if (ending != null && flaw(text.substring(0, dot)) == null && swept < SWEPT_MAX) {
                    swept += sweep(file, path.resolve(text.substring(0, dot) + ending), locks) ? 1 : 0;
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            // The next look finds it.
        }
    }

    private static boolean sweep(Path lock, Path socket, Locks locks) {
        try {
            return Lock.sweep(lock, socket, locks);
        } catch (IOException | RpcException e) {
            // It is gone, or is another program's.
            return false;
        }
    }

    /**
     * Whether a server listens at a socket, which takes this process for a client that disconnects at once. A server whose queue is full listens as well.
     *
     * @throws IOException where this process cannot look, such as without a free descriptor
     */
    static boolean isServed(Path socket) throws IOException {
        try {
            close(knock(socket));
            return true;
        } catch (Nobody e) {
            return false;
        }
    }

    /** Whether a server may listen at a socket: true as well where this process cannot look. */
    static boolean answers(Path socket) {
        try {
            return isServed(socket);
        } catch (IOException e) {
            return true;
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

    /** A name that is served, by the socket that was made for it. */
    record Name(ServerSocketChannel listener, Path socket, Lock.Stat made, Lock lock) implements AutoCloseable {
        @Override
        public void close() {
            // While the name is still held, so that no other server's files are removed.
            Lock.remove(socket, made);
            lock.close();
            Directory.close(listener);
        }
    }
}
