package obvia.runtime.shm;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.AccessDeniedException;
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
import obvia.runtime.call.Deadline;

/**
 * The directory of the names of this user's servers: a socket for each name, as in
 * {@code crates/via/src/provider/shm/directory.rs}.
 *
 * <p>Servers in other languages hold a lock by {@code flock}, for which this virtual machine has no
 * call. So a name belongs to a server as long as the server's socket answers. The lock that this
 * virtual machine takes keeps two processes from taking a name at once. This virtual machine finds
 * locks by {@code flock} in the kernel's list of locks. This class removes or writes only files
 * that belong to this user and are known to be the lock or the socket of a name.
 */
public final class Directory {
    private static final int PATH_MAX = 107;
    private static final int OTHERS_WRITE = 0022;
    /** Directories that are being opened. */
    private static final Map<Path, TimedWork<Directory>> OPENING = new ConcurrentHashMap<>();
    /**
     * The endings of the files of names: a lock, and the socket beside it. Virtual machines serve
     * only names with {@code .lock} and {@code .sock}.
     */
    private static final Map<String, String> ENDINGS = Map.of(".lock", ".sock", ".vi-lock", ".vi-sock", ".lrpc-lock", ".lrpc-sock");
    /** The maximum number of dead names that one sweep removes; the next sweep removes more. */
    private static final int SWEPT_MAX = 16;
    /**
     * The minimum interval between two sweeps in nanoseconds, so that a process that takes many
     * names does not sweep for each name.
     */
    private static final long SWEEP = 1_000_000_000;

    /** The opened directory of this process's user. */
    private static volatile Directory own;

    private final Path path;
    private final UserPrincipal user;
    private final AtomicLong swept = new AtomicLong(System.nanoTime() - SWEEP);

    /** Creates the directory of a user. Nothing is checked. */
    Directory(Path path, UserPrincipal user) {
        this.path = path;
        this.user = user;
    }

    /** Returns the directory of this process's user; creates it if it is missing. */
    public static Directory own() {
        Directory known = own;
        if (known == null) {
            known = ofUser();
            own = known;
        }
        return known;
    }

    private static Directory ofUser() {
        int user;
        try {
            user = Lock.user();
        } catch (IOException e) {
            throw RpcException.of(Hresult.E_FAIL, "finding the directory for names: " + e, e);
        }
        return at(place(user));
    }

    /**
     * Opens a directory of the caller's choice; creates it if it is missing.
     *
     * <p>If a file system on the path might never answer, another thread opens the directory. Later
     * callers wait for the same thread. No caller waits after the time limit of that thread.
     */
    static Directory at(Path chosen) {
        try {
            if (Mounts.own().isReachedAtOnce(plain(chosen.toAbsolutePath()), Lock.user())) {
                return open(chosen);
            }
        } catch (IOException e) {
            throw failed(chosen, e);
        }
        return at(chosen, TimedWork.USUAL, () -> open(chosen));
    }

    /** Opens a directory by {@code open}, on another thread, within {@code time}. */
    static Directory at(Path chosen, Duration time, Callable<Directory> open) {
        TimedWork<Directory> opening = OPENING.compute(chosen, (path, begun) -> begun == null || begun.isStale() ? new TimedWork<>(time, open) : begun);
        boolean isOver = true;
        try {
            return opening.await();
        } catch (TimedWork.LateException e) {
            // The work stays in the map. A later caller gets the work's outcome, if the work is
            // done and the outcome is not stale.
            isOver = false;
            throw failed(chosen, e);
        } catch (IOException e) {
            throw failed(chosen, e);
        } finally {
            if (isOver) {
                OPENING.remove(chosen, opening);
            }
        }
    }

    private static Directory open(Path chosen) throws IOException {
        Path path = plain(chosen.toAbsolutePath());
        try {
            Files.createDirectories(path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        } catch (FileAlreadyExistsException e) {
            // The path exists already. The check below finds out what kind of file it is.
        }
        Directory opened = new Directory(path, Files.getOwner(Path.of("/proc/self")));
        String why = opened.danger();
        if (why != null) {
            throw RpcException.of(Hresult.E_ACCESSDENIED, "the directory " + path + " cannot be trusted: " + why);
        }
        return opened;
    }

    private static RpcException failed(Path chosen, IOException why) {
        return RpcException.of(Hresult.E_FAIL, "creating the directory for names " + chosen + ": " + why, why);
    }

    /**
     * Returns the path without {@code .} components. At the end of a path such a component would
     * make the kernel follow a symbolic link.
     */
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

    /** Returns the reason why the directory must not be used; {@code null} if it may be used. */
    private String danger() throws IOException {
        int mode = (Integer) Files.getAttribute(path, "unix:mode", LinkOption.NOFOLLOW_LINKS);
        if (!Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
            return "it is a file or a link, not a directory";
        }
        if (!isTrusted(Files.getOwner(path, LinkOption.NOFOLLOW_LINKS))) {
            return "it belongs to another user";
        }
        if ((mode & OTHERS_WRITE) != 0) {
            return "other users may write to it";
        }
        return Mounts.own().isInUserSpace(path.toRealPath()) ? "its file system is a program (FUSE), which may never respond" : null;
    }

    /**
     * Whether the other user is the user of this process or the superuser. Both users have full
     * control of this process in any case.
     */
    private boolean isTrusted(UserPrincipal other) {
        return other.equals(user) || other.getName().equals("root") || other.getName().equals("0");
    }

    /** Returns the path of the directory. This process may place private files there. */
    Path path() {
        return path;
    }

    private Path socket(String name) {
        Path socket = path.resolve(name + ".sock");
        String why = flaw(name);
        if (why == null && socket.toString().getBytes().length > PATH_MAX) {
            why = "with its directory it does not fit the 107 bytes of a socket's path";
        }
        if (why != null) {
            throw RpcException.of(Hresult.E_INVALIDARG, "`" + name + "`: " + why);
        }
        return socket;
    }

    /** Returns the reason why a name is invalid; {@code null} if it is valid. */
    private static String flaw(String name) {
        if (name.isEmpty() || name.startsWith(".")) {
            return "a name must have at least one character and must not begin with a dot";
        }
        boolean isOdd = name.chars().anyMatch(c -> c == '/' || Character.isWhitespace(c) || Character.isISOControl(c));
        return isOdd ? "a name must not contain a slash, a space or a control character" : null;
    }

    /**
     * Connects to the server of a name and verifies its user.
     *
     * @throws RpcException with RPC_S_SERVER_UNAVAILABLE if no process serves the name,
     *     E_ACCESSDENIED if the server belongs to another user or does not admit this user,
     *     RPC_E_TIMEOUT if the queue of the server stays full until the deadline
     */
    SocketChannel connect(String name, Deadline deadline) {
        SocketChannel channel = reach(name, deadline);
        try {
            checkPeer(channel);
            return channel;
        } catch (IOException | RpcException e) {
            Resources.close(channel);
            throw e instanceof RpcException known ? known : RpcException.of(Hresult.E_FAIL, "checking the server of `" + name + "`: " + e, e);
        }
    }

    private SocketChannel reach(String name, Deadline deadline) {
        Path socket = socket(name);
        while (true) {
            try {
                SocketChannel channel = NamedSocket.connect(socket);
                if (channel != null) {
                    return channel;
                }
                // The server is alive and soon accepts another connection from its queue.
            } catch (NamedSocket.NoServerException e) {
                throw RpcException.of(Hresult.RPC_S_SERVER_UNAVAILABLE, "no process serves the name `" + name + "`", e);
            } catch (AccessDeniedException e) {
                String text = "connecting to " + socket + ": permission denied. The server belongs to another user, and does not admit other users";
                throw RpcException.of(Hresult.E_ACCESSDENIED, text, e);
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
     * Refuses a peer of another user, according to the credentials that the kernel recorded when
     * the peer connected. Returns true for a process of this process's user, and false for a
     * process of the superuser.
     */
    boolean checkPeer(SocketChannel channel) throws IOException {
        UserPrincipal peer = channel.getOption(ExtendedSocketOptions.SO_PEERCRED).user();
        if (!isTrusted(peer)) {
            throw RpcException.of(Hresult.E_ACCESSDENIED, "the peer runs as user " + peer.getName() + ", and that user has no access");
        }
        return peer.equals(user);
    }

    /**
     * Takes a name.
     *
     * @throws RpcException with RPC_S_DUPLICATE_ENDPOINT if another process serves the name,
     *     E_INVALIDARG if the name is invalid, or if a file of another program has the path of the
     *     lock or the socket
     */
    public Name bind(String name) {
        Path socket = socket(name);
        Lock lock = null;
        ServerSocketChannel listener = null;
        Lock.Stat made = null;
        boolean isDone = false;
        try {
            sweepSometimes();
            lock = NamedSocket.isServed(socket) ? null : Lock.take(path.resolve(name + ".lock"), socket);
            // If a server has taken the name since the first look, it either has ended and released
            // the lock, or it answers now.
            if (lock == null || NamedSocket.isServed(socket)) {
                throw RpcException.of(Hresult.RPC_S_DUPLICATE_ENDPOINT, "the name `" + name + "` is served by another process");
            }
            // The socket did not answer, so the process that created its file is dead.
            Lock.removeDead(socket);
            listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
            listener.bind(UnixDomainSocketAddress.of(socket), 128);
            made = Lock.Stat.of(socket);
            // A process that waits for a server of this name tries again whenever a file in the
            // directory is created or written. The lock file is therefore written only now, when
            // the socket answers.
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
                Resources.close(lock);
                Resources.close(listener);
            }
        }
    }

    /** Removes files of dead servers when a process takes a name, at most once per interval. */
    private void sweepSometimes() {
        long now = System.nanoTime();
        long before = swept.get();
        if (now - before >= SWEEP && swept.compareAndSet(before, now)) {
            sweep();
        }
    }

    /** Removes files of dead servers of any kind. Failures do no harm. */
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
            // The next sweep finds the remaining files.
        }
    }

    private static boolean sweep(Path lock, Path socket, Locks locks) {
        try {
            return Lock.sweep(lock, socket, locks);
        } catch (IOException | RpcException e) {
            // The file is gone, or belongs to another program.
            return false;
        }
    }

    /** A name that is served, with the socket that was created for it. */
    public static final class Name implements AutoCloseable {
        private final ServerSocketChannel listener;
        private final Path socket;
        private final Lock.Stat made;
        private final Lock lock;

        private Name(ServerSocketChannel listener, Path socket, Lock.Stat made, Lock lock) {
            this.listener = listener;
            this.socket = socket;
            this.made = made;
            this.lock = lock;
        }

        /** Returns the socket on which clients connect. */
        ServerSocketChannel listener() {
            return listener;
        }

        /** Whether the name is still served. */
        public boolean isServed() {
            return listener.isOpen();
        }

        @Override
        public void close() {
            // The lock is still held, so the files belong to no other server.
            Lock.remove(socket, made);
            lock.close();
            Resources.close(listener);
        }
    }
}
