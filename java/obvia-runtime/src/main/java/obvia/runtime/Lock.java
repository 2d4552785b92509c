package obvia.runtime;

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
 * The lock file of a name, held: {@code crates/via/src/provider/shm/directory/lock.rs} says what it is, and which files are such.
 *
 * <p>Closing a descriptor of a file drops all locks by {@code fcntl} that this process has on the file, those of native code included. So a file that this process has locked is not opened.
 */
final class Lock implements AutoCloseable {
    private static final String MARK = "obvia";
    /** More bytes than a lock file has. */
    private static final int LENGTH_MAX = 32;
    /** A process, and what stands behind it. */
    private static final Pattern TEXT = Pattern.compile("([0-9]{1,10})\n((?s).*)");

    private static final int TYPE = 0170000;
    private static final int PLAIN = 0100000;
    private static final int SOCKET = 0140000;
    /** The mode bits that a lock file must not have: only its owner writes to it. */
    private static final int OTHERS_WRITE = 0022;
    /** Those that a lock file is made with. */
    private static final int MODE = 07777;
    private static final int MADE = 0600;

    /** The longest wait for a lock whose holder does not answer at the name. */
    private static final Duration PATIENCE = Duration.ofSeconds(3);
    /** How often a file that is no lock is looked at: a server may be about to remove it. */
    private static final int ATTEMPTS = 16;

    private static final long LOOK = 2_000_000;

    /** Those that this process holds, or is about to. */
    private static final Set<Path> OWN = ConcurrentHashMap.newKeySet();

    private final Path path;
    private final FileChannel file;
    private final Stat made;
    /** Whether the file is this process's to remove: it has made it, or written to it. */
    private boolean isOwn;

    private Lock(Path path, FileChannel file, Stat made, boolean isNew) {
        this.path = path;
        this.file = file;
        this.made = made;
        isOwn = isNew;
    }

    /** What lies somewhere, if it is not a link: its mode, its owner, how many names it has, and which file it is. */
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

        /** Whether a lock file looks so that nobody has written to yet. */
        private boolean isAsMade() {
            return (mode & MODE) == MADE;
        }

        boolean isSame(Stat other) {
            return device.equals(other.device) && number.equals(other.number);
        }
    }

    /** The user of this process. */
    static int user() throws IOException {
        return (Integer) Files.getAttribute(Path.of("/proc/self"), "unix:uid");
    }

    /** Whether a socket of this user's lies there. */
    private static boolean hasSocket(Path socket) {
        try {
            return Stat.of(socket).isOwnSocket();
        } catch (IOException e) {
            return false;
        }
    }

    /** What a lock file says; {@code null} where it is another program's file. */
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
        // The socket beside it stands for a mark.
        boolean isIt = rest.equals(MARK + "\n") || rest.isEmpty() && hasSocket;
        return isIt && pid <= 0xffff_ffffL ? new Found(pid) : null;
    }

    /** A lock file, with the process that was the last to hold it; -1 where nobody has written to it yet. */
    record Found(long pid) {
        private static final Found BLANK = new Found(-1);

        private boolean isOfTheDead() {
            return pid >= 0 && ProcessHandle.of(pid).isEmpty();
        }
    }

    private static Found read(FileChannel file, Path socket, Stat stat) throws IOException {
        ByteBuffer text = ByteBuffer.allocate(LENGTH_MAX);
        while (text.hasRemaining() && file.read(text, text.position()) > 0) {
            // Until it ends.
        }
        byte[] bytes = new byte[text.flip().remaining()];
        text.get(bytes);
        return read(bytes, hasSocket(socket), stat.isAsMade());
    }

    private static FileChannel open(Path path) throws IOException {
        return FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
    }

    /** Takes the lock of a name; {@code null} where another has it. */
    static Lock take(Path path, Path socket) throws IOException {
        // A process that lists names may hold the lock, on a busy machine for long. A server that holds it answers soon. A lock file that its last owner removes between
        // our open and our lock is no lock.
        long began = System.nanoTime();
        int foreign = 0;
        do {
            boolean isNew = make(path);
            try {
                Lock lock = tryTake(path, socket, isNew);
                if (lock != null) {
                    return lock;
                }
            } catch (NoSuchFileException e) {
                // It was removed.
            } catch (Foreign e) {
                if (++foreign == ATTEMPTS) {
                    throw refused(path, e.getMessage());
                }
            }
            LockSupport.parkNanos(LOOK);
        } while (System.nanoTime() - began < PATIENCE.toNanos() && !Directory.isServed(socket));
        return null;
    }

    /** Makes a lock file where there is no file, and says whether it did. */
    private static boolean make(Path path) throws IOException {
        try {
            Files.createFile(path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            return true;
        } catch (FileAlreadyExistsException e) {
            // As left behind.
            return false;
        }
    }

    /** Takes the lock, if nobody has it. */
    static Lock tryTake(Path path, Path socket, boolean isNew) throws IOException, Foreign {
        if (!OWN.add(path)) {
            return null;
        }
        FileChannel file = null;
        boolean isOurs = false;
        try {
            Stat before = Stat.of(path);
            if (!before.mayBeLock()) {
                throw new Foreign("it is no plain file that is this user's alone");
            }
            if (Locks.read().haveOwn(before.number())) {
                return null;
            }
            file = open(path);
            checkText(file, socket, before);
            if (file.tryLock() == null || !Stat.of(path).isSame(before) || Locks.read().haveFlock(before.number())) {
                return null;
            }
            // The text may have changed meanwhile. A blank file that this process has locked belongs to no other, whether this attempt made the file or a failed one did.
            boolean isBlank = checkText(file, socket, before).equals(Found.BLANK);
            isOurs = true;
            return new Lock(path, file, before, isNew || isBlank);
        } catch (OverlappingFileLockException e) {
            // Another class loader's.
            return null;
        } finally {
            if (!isOurs) {
                Directory.close(file);
                OWN.remove(path);
            }
        }
    }

    private static Found checkText(FileChannel file, Path socket, Stat stat) throws IOException, Foreign {
        Found found = read(file, socket, stat);
        if (found == null) {
            throw new Foreign("what it says no lock of a name does");
        }
        return found;
    }

    /** A file of another program's. */
    static final class Foreign extends Exception {
        private static final long serialVersionUID = 1;

        private Foreign(String why) {
            super(why, null, false, false);
        }
    }

    static RpcException refused(Path path, String why) {
        return RpcException.of(Hresult.E_INVALIDARG, path + " is another program's: " + why + ". Choose another name, or another OBVIA_RUNTIME_DIR");
    }

    /** Writes this process into it. */
    void mark() throws IOException {
        String text = ProcessHandle.current().pid() + "\n" + MARK + "\n";
        isOwn = true;
        file.truncate(0).write(ByteBuffer.wrap(text.getBytes(StandardCharsets.ISO_8859_1)));
    }

    /** Removes the socket of the name, at which nobody listens: a file that is none is refused. */
    static void removeDead(Path socket) throws IOException {
        try {
            if (!Stat.of(socket).isOwnSocket()) {
                throw refused(socket, "it is no socket of this user's");
            }
            Files.deleteIfExists(socket);
        } catch (NoSuchFileException e) {
            // As it should be.
        }
    }

    /**
     * Removes the files of a name whose server ended without doing so, and says whether it did. Nothing is removed, nor locked, that may be anybody else's.
     *
     * @param locks the locks of a moment before
     */
    static boolean sweep(Path path, Path socket, Locks locks) throws IOException {
        Stat before = Stat.of(path);
        if (!before.mayBeLock() || locks.haveOwn(before.number()) || !OWN.add(path)) {
            return false;
        }
        try (FileChannel file = open(path)) {
            if (!isOfTheDead(file, socket, before) || file.tryLock() == null || !Stat.of(path).isSame(before)) {
                return false;
            }
            // Who has taken the name since has written to the lock, holds it by the other call, or answers.
            if (!isOfTheDead(file, socket, before) || Locks.read().haveFlock(before.number())) {
                return false;
            }
            removeDead(socket);
            Files.deleteIfExists(path);
            return true;
        } catch (OverlappingFileLockException e) {
            // Another class loader's.
            return false;
        } finally {
            OWN.remove(path);
        }
    }

    private static boolean isOfTheDead(FileChannel file, Path socket, Stat stat) throws IOException {
        Found found = read(file, socket, stat);
        return found != null && found.isOfTheDead() && !Directory.answers(socket);
    }

    /** Removes the file, if it is still this one, and this process's; and lets it go. */
    @Override
    public void close() {
        if (isOwn) {
            remove(path, made);
        }
        Directory.close(file);
        OWN.remove(path);
    }

    /** Removes what this process has made. */
    static void remove(Path path, Stat made) {
        try {
            if (Stat.of(path).isSame(made)) {
                Files.deleteIfExists(path);
            }
        } catch (IOException e) {
            // It is gone; or the next server of the name finds that nobody answers.
        }
    }
}
