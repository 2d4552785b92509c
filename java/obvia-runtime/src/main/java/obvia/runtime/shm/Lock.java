package obvia.runtime.shm;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import obvia.Hresult;
import obvia.RpcException;

/**
 * The lock file of a name, held by this process.
 * {@code crates/via/src/provider/shm/directory/lock.rs} specifies its content and the files that
 * count as locks.
 *
 * <p>Closing a descriptor of a file drops all locks by {@code fcntl} that this process has on the
 * file, including locks of native code. Therefore this class does not open a file that this process
 * has locked.
 */
final class Lock implements AutoCloseable {
    private static final String MARK = "obvia";
    /** A length in bytes that exceeds the length of any lock file. */
    private static final int LENGTH_MAX = 32;
    /** The text of a lock file: a process ID, followed by a mark. */
    private static final Pattern TEXT = Pattern.compile("([0-9]{1,10})\n((?s).*)");

    private static final int TYPE = 0170000;
    private static final int PLAIN = 0100000;
    private static final int SOCKET = 0140000;
    /** The mode bits that a lock file must not have: only its owner may write to it. */
    private static final int OTHERS_WRITE = 0022;
    /** The mask of the mode bits of a file. */
    private static final int MODE = 07777;
    /** The mode bits of a new lock file. */
    private static final int MADE = 0600;

    /** The longest wait for a lock whose holder does not answer at the name. */
    private static final Duration PATIENCE = Duration.ofSeconds(3);
    /**
     * The number of attempts before a file that is no lock is refused. Several attempts are made
     * because a server may be about to remove the file.
     */
    private static final int ATTEMPTS = 16;

    /** The time between two attempts in nanoseconds. */
    private static final long LOOK = 2_000_000;

    /**
     * The monitor that the runtime holds while it locks a file, and while it closes a peer's file
     * that was unlocked at the last check. Known limit: code outside the runtime does not hold this
     * monitor. If such code locks the same file, for example by {@code FileChannel.lock}, between
     * the check and the close, that code loses its lock: when a process closes any descriptor of a
     * file, the kernel releases all of the process's locks on the file.
     */
    static final Object LOCKING = new Object();

    /** The locks that this process holds or is about to take. */
    private static final Set<Path> OWN = ConcurrentHashMap.newKeySet();

    private final Path path;
    private final FileChannel file;
    private final Stat made;
    /**
     * Whether this process may remove the file, because it has created the file or written to it.
     */
    private boolean isOwn;

    private Lock(Path path, FileChannel file, Stat made, boolean isNew) {
        this.path = path;
        this.file = file;
        this.made = made;
        isOwn = isNew;
    }

    /**
     * The attributes of a file, without following links: its mode, owner, number of links, and
     * identity.
     */
    record Stat(int mode, int uid, int links, Object device, Long number) {
        static Stat of(Path path) throws IOException {
            Map<String, Object> found = Files.readAttributes(path, "unix:mode,uid,nlink,dev,ino", LinkOption.NOFOLLOW_LINKS);
            return new Stat((Integer) found.get("mode"), (Integer) found.get("uid"), (Integer) found.get("nlink"), found.get("dev"), (Long) found.get("ino"));
        }

        private boolean isOwn(int type) throws IOException {
            return (mode & TYPE) == type && uid == user();
        }

        boolean isOwnSocket() throws IOException {
            return isOwn(SOCKET);
        }

        private boolean mayBeLock() throws IOException {
            return isOwn(PLAIN) && links == 1 && (mode & OTHERS_WRITE) == 0;
        }

        /** Whether the mode is the mode of a lock file that was never written to. */
        private boolean isAsMade() {
            return (mode & MODE) == MADE;
        }

        boolean isSame(Stat other) {
            return device.equals(other.device) && number.equals(other.number);
        }
    }

    /** Returns the user of this process. */
    static int user() throws IOException {
        return (Integer) Files.getAttribute(Path.of("/proc/self"), "unix:uid");
    }

    /** Whether the path is a socket of this user. */
    private static boolean hasSocket(Path socket) {
        try {
            return Stat.of(socket).isOwnSocket();
        } catch (IOException e) {
            return false;
        }
    }

    /**
     * Parses the contents of a lock file; returns {@code null} for another program's file.
     * {@code hasSocket} says whether the socket of the name exists, and {@code isAsMade} whether
     * the file has the mode of a file that was never written to.
     */
    static Found read(byte[] text, boolean hasSocket, boolean isAsMade) {
        if (text.length == 0) {
            return isAsMade ? Found.BLANK : null;
        }
        Matcher matcher = TEXT.matcher(new String(text, StandardCharsets.ISO_8859_1));
        if (!matcher.matches()) {
            return null;
        }
        long pid = Long.parseLong(matcher.group(1));
        String rest = matcher.group(2);
        // A file without the mark is also a lock if the socket of the name exists.
        boolean isIt = rest.equals(MARK + "\n") || rest.isEmpty() && hasSocket;
        return isIt && pid <= 0xffff_ffffL ? new Found(pid) : null;
    }

    /**
     * A lock file, with the ID of the process that held the lock last; -1 if the file was never
     * written to.
     */
    record Found(long pid) {
        private static final Found BLANK = new Found(-1);

        private boolean isOfTheDead() {
            return pid >= 0 && ProcessHandle.of(pid).isEmpty();
        }
    }

    private static Found read(FileChannel file, Path socket, Stat stat) throws IOException {
        ByteBuffer text = ByteBuffer.allocate(LENGTH_MAX);
        while (text.hasRemaining() && file.read(text, text.position()) > 0) {
            // Reads to the end of the file.
        }
        byte[] bytes = new byte[text.flip().remaining()];
        text.get(bytes);
        return read(bytes, hasSocket(socket), stat.isAsMade());
    }

    private static FileChannel open(Path path) throws IOException {
        return FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
    }

    /**
     * Locks a file unless another process has locked it. Returns whether this process locked it.
     */
    private static boolean tryLock(FileChannel file) throws IOException {
        synchronized (LOCKING) {
            return file.tryLock() != null;
        }
    }

    /** Takes the lock of a name; returns {@code null} if another process has the lock. */
    static Lock take(Path path, Path socket) throws IOException {
        // A process that lists names may hold the lock, on a busy machine for a long time. A server
        // that holds the lock answers soon. The last owner may remove the file after this process
        // has opened it. A lock on the removed file is void, so this process then tries again.
        long began = System.nanoTime();
        int foreign = 0;
        do {
            try {
                Lock lock = tryTake(path, socket);
                if (lock != null) {
                    return lock;
                }
            } catch (NoSuchFileException e) {
                // The file was removed.
            } catch (Foreign e) {
                if (++foreign == ATTEMPTS) {
                    throw refused(path, e.getMessage());
                }
            }
            LockSupport.parkNanos(LOOK);
        } while (System.nanoTime() - began < PATIENCE.toNanos() && !NamedSocket.isServed(socket));
        return null;
    }

    /**
     * Whether this process holds a lock by {@code fcntl} on a file, according to a list of locks.
     */
    static boolean haveOwn(Locks locks, Path path, Stat stat) throws IOException {
        Set<Device> devices = locks.own(stat.number());
        if (devices.isEmpty()) {
            return false;
        }
        Mounts.Mount mount = Mounts.own().holding(path.getParent().toRealPath());
        return mount == null || devices.contains(mount.device());
    }

    /** Creates the lock file unless a file exists. Returns whether it was created. */
    private static boolean make(Path path) throws IOException {
        try {
            Files.createFile(path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            return true;
        } catch (FileAlreadyExistsException e) {
            // A former owner of the name may have left the file.
            return false;
        }
    }

    /**
     * Takes the lock if it is free, else returns {@code null}. Creates the file if it is missing.
     */
    static Lock tryTake(Path path, Path socket) throws IOException, Foreign {
        if (!OWN.add(path)) {
            return null;
        }
        FileChannel file = null;
        boolean isOurs = false;
        // The list stays open, so that the second reading needs no further descriptor. Without a
        // free descriptor, the second reading would fail after the file was created, and a blank
        // file would remain.
        try (Locks.Source list = Locks.open()) {
            Locks locks = list.read();
            boolean isNew = make(path);
            Stat before = Stat.of(path);
            if (!before.mayBeLock()) {
                throw new Foreign("it is not a regular file that only this user can write");
            }
            if (haveOwn(locks, path, before)) {
                return null;
            }
            file = open(path);
            checkText(file, socket, before);
            if (!tryLock(file) || !Stat.of(path).isSame(before) || list.read().haveFlock(before.number())) {
                return null;
            }
            // The text may have changed since the first check. A blank file that this process has
            // locked belongs to no other process: this attempt or an earlier, failed one has
            // created it.
            boolean isBlank = checkText(file, socket, before).equals(Found.BLANK);
            isOurs = true;
            return new Lock(path, file, before, isNew || isBlank);
        } catch (OverlappingFileLockException e) {
            // The lock belongs to another class loader of this process.
            return null;
        } finally {
            if (!isOurs) {
                Resources.close(file);
                OWN.remove(path);
            }
        }
    }

    private static Found checkText(FileChannel file, Path socket, Stat stat) throws IOException, Foreign {
        Found found = read(file, socket, stat);
        if (found == null) {
            throw new Foreign("its contents are not those of a lock");
        }
        return found;
    }

    /** Signals a file of another program. */
    static final class Foreign extends Exception {
        private static final long serialVersionUID = 1;

        private Foreign(String why) {
            super(why, null, false, false);
        }
    }

    static RpcException refused(Path path, String why) {
        return RpcException.of(Hresult.E_INVALIDARG, path + " belongs to another program: " + why + ". Choose another name, or another OBVIA_RUNTIME_DIR");
    }

    /** Writes the ID of this process to the file. */
    void mark() throws IOException {
        String text = ProcessHandle.current().pid() + "\n" + MARK + "\n";
        isOwn = true;
        file.truncate(0).write(ByteBuffer.wrap(text.getBytes(StandardCharsets.ISO_8859_1)));
    }

    /** Removes the dead socket of the name. A file that is no socket is refused. */
    static void removeDead(Path socket) throws IOException {
        try {
            if (!Stat.of(socket).isOwnSocket()) {
                throw refused(socket, "it is not a socket of this user");
            }
            Files.deleteIfExists(socket);
        } catch (NoSuchFileException e) {
            // The socket does not exist.
        }
    }

    /**
     * Removes the files of a name whose server ended without removing them. Returns whether they
     * were removed. Files that may belong to another process are neither removed nor locked.
     *
     * @param locks the kernel's list of locks, which was read before this call
     */
    static boolean sweep(Path path, Path socket, Locks locks) throws IOException {
        Stat before = Stat.of(path);
        if (!before.mayBeLock() || haveOwn(locks, path, before) || !OWN.add(path)) {
            return false;
        }
        try (FileChannel file = open(path)) {
            if (!isOfTheDead(file, socket, before) || !tryLock(file) || !Stat.of(path).isSame(before)) {
                return false;
            }
            // A server that has taken the name since the first look has written to the file, holds
            // a lock by flock, or answers.
            if (!isOfTheDead(file, socket, before) || Locks.read().haveFlock(before.number())) {
                return false;
            }
            removeDead(socket);
            Files.deleteIfExists(path);
            return true;
        } catch (OverlappingFileLockException e) {
            // The lock belongs to another class loader of this process.
            return false;
        } finally {
            OWN.remove(path);
        }
    }

    private static boolean isOfTheDead(FileChannel file, Path socket, Stat stat) throws IOException {
        Found found = read(file, socket, stat);
        return found != null && found.isOfTheDead() && !NamedSocket.answers(socket);
    }

    /** Removes the file if it is unchanged and belongs to this process, and releases the lock. */
    @Override
    public void close() {
        if (isOwn) {
            remove(path, made);
        }
        Resources.close(file);
        OWN.remove(path);
    }

    /** Removes a file that this process has created, unless its path leads to another file now. */
    static void remove(Path path, Stat made) {
        try {
            if (Stat.of(path).isSame(made)) {
                Files.deleteIfExists(path);
            }
        } catch (IOException e) {
            // The file is gone, or stays. A file that stays does no harm: the next server of the
            // name finds that the socket does not answer.
        }
    }
}
