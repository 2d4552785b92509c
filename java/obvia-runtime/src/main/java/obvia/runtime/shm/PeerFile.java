package obvia.runtime.shm;

import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import obvia.Hresult;
import obvia.RpcException;
import obvia.runtime.call.Deadline;
import obvia.runtime.call.PeerFailure;

/**
 * A peer's file in the kernel's memory, opened by its name in {@code /proc}.
 *
 * <p>The peer may have mounted any file system under any name, even a file system that is a program
 * (FUSE) and never answers. A thread that touches a mapped page of such a file waits for ever and
 * reaches no safepoint. The next collection then stops the virtual machine. Therefore a file is
 * accepted only if the kernel's own lists show that the file is in memory. Opening the file may
 * wait for its file system, too, and therefore needs {@link #withinTime}.
 *
 * <p>The name may lead to a file that this process has locked: see {@link Lock}. Such a file is
 * refused before it is opened. After this check and before the opening, a peer can make the name
 * lead to another file. Therefore {@link #close} checks for locks once more.
 */
// Unlike a channel, the file stays open when a thread that uses it is interrupted.
final class PeerFile extends RandomAccessFile {
    /** The maximum number of threads that open files of one process at once. */
    static final int THREADS_MAX = 8;
    /** The maximum number of threads that open files of all processes at once. */
    static final int ALL_THREADS_MAX = 64;
    /**
     * The maximum number of files that stay open because they are locked. Once that number is
     * reached, no further file is opened.
     */
    private static final int KEPT_MAX = 64;

    private static final Path MAPS = Path.of("/proc/self/maps");
    /** A mapping: first and last address, rights, offset, device, inode number, possibly a name. */
    private static final Pattern MAPPING = Pattern.compile("(?s)[0-9a-f]+-[0-9a-f]+ [^ ]+ [0-9a-f]+ ([0-9a-f]+:[0-9a-f]+) ([0-9]+).*");
    /** The line with the ID of the process to which a thread belongs. */
    private static final Pattern PROCESS = Pattern.compile("Tgid:\t([0-9]+)");
    /** A file of nsfs, the kernel's internal file system of namespaces, which is mounted early. */
    private static final Path EARLY = Path.of("/proc/self/ns/mnt");

    private static final int TYPE = 0170000;
    private static final int PLAIN = 0100000;

    private static final WorkLimit<Path> LIMIT = new WorkLimit<>(THREADS_MAX, ALL_THREADS_MAX);
    /** Files that are no longer used, and stay open as long as this process has locks on them. */
    private static final Set<PeerFile> KEPT = ConcurrentHashMap.newKeySet();
    /** The devices of directories of names. */
    private static final Map<Path, Device> FOLDERS = new ConcurrentHashMap<>();

    /** The file's identity; {@code null} for an empty file, which cannot be mapped. */
    private volatile Mapping identity;

    /**
     * Whether the file is known to be in the kernel's memory. Closing the file then does not wait.
     */
    private volatile boolean isAccepted;

    private volatile boolean isClosing;

    private PeerFile(Path path, boolean isWritable) throws IOException {
        super(path.toFile(), isWritable ? "rw" : "r");
    }

    /**
     * Does work with files of a process within the usual time, and before a deadline.
     *
     * @param process the process by its folder in {@code /proc}
     */
    static <T> T withinTime(Path process, Deadline deadline, Callable<T> work) throws IOException {
        Deadline end = Deadline.in(Duration.ofNanos(Math.min(TimedWork.USUAL.toNanos(), deadline.left())));
        awaitPermit(process, end, deadline);
        TimedWork<T> timed = begin(process, end, work);
        try {
            return timed.await();
        } catch (TimedWork.LateException e) {
            timed.closeOutcome();
            deadline.check();
            throw e;
        }
    }

    private static void awaitPermit(Path process, Deadline end, Deadline deadline) throws IOException {
        try {
            if (LIMIT.begin(process, end)) {
                return;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw RpcException.of(Hresult.RPC_E_CALL_CANCELED, "the thread was interrupted", e);
        }
        deadline.check();
        throw new TimedWork.LateException("too many file systems of peers do not respond", null);
    }

    private static <T> TimedWork<T> begin(Path process, Deadline end, Callable<T> work) {
        boolean isBegun = false;
        try {
            var begun = new TimedWork<>(Duration.ofNanos(end.left()), () -> {
                try {
                    return work.call();
                } finally {
                    LIMIT.end(process);
                }
            });
            isBegun = true;
            return begun;
        } finally {
            if (!isBegun) {
                LIMIT.end(process);
            }
        }
    }

    /** Returns the folder in {@code /proc} of the process, or of the thread, that has a file. */
    private static Path folderOf(Path path) {
        return path.resolve("../..").normalize();
    }

    /**
     * Returns the folder in {@code /proc} of the process that has a file. The number in the path
     * may also be the ID of a thread, because the kernel finds threads in {@code /proc} by their
     * IDs, like processes.
     */
    static Path processOf(Path path) {
        Path named = folderOf(path);
        try (InputStream status = Files.newInputStream(named.resolve("status"))) {
            Stream<Matcher> found = Mounts.lines(status, Long.MAX_VALUE).map(PROCESS::matcher).filter(Matcher::matches);
            return found.findFirst().map(line -> named.resolveSibling(line.group(1))).orElse(named);
        } catch (IOException e) {
            // The process has ended, or this process may not read the folder. In the second case,
            // this process may not open the files of that process either.
            return named;
        }
    }

    /** Opens a file that is in memory and has at least {@code length} bytes. */
    static PeerFile open(Path path, boolean isWritable, long length) throws IOException {
        return open(path, isWritable, length, UnlinkedFile.folder());
    }

    /** Opens a file that is in memory, or in {@code folder} if segments of this host are there. */
    static PeerFile open(Path path, boolean isWritable, long length, Path folder) throws IOException {
        Path process = folderOf(path);
        checkUnopened(path, process, length, folder);
        PeerFile file = new PeerFile(path, isWritable);
        try {
            // The peer may have replaced the file since the first check. Mapping an empty file
            // would make the file longer.
            long found = file.length();
            file.identity = found == 0 ? null : Mapping.of(file);
            checkLength(length, found);
            Device device = file.identity.device;
            if (!isMemory(device, process) && !(isOfNames(folder) && device.equals(deviceOf(folder)))) {
                throw PeerFailure.broken("its segment is not a memory file");
            }
            file.isAccepted = true;
            return file;
        } finally {
            if (!file.isAccepted) {
                file.close();
            }
        }
    }

    /**
     * Checks a file before it is opened. The opening of a pipe would wait for a process at its
     * other end, and the later closing of a file would drop this process's locks on the file.
     */
    private static void checkUnopened(Path path, Path process, long length, Path folder) throws IOException {
        Map<String, Object> found = Files.readAttributes(path, "unix:mode,size,dev,ino");
        if (((Integer) found.get("mode") & TYPE) != PLAIN) {
            throw PeerFailure.broken("its segment is not a memory file, or this process may not open it");
        }
        checkLength(length, (Long) found.get("size"));
        KEPT.removeIf(PeerFile::closeUnlocked);
        if (KEPT.size() >= KEPT_MAX) {
            throw new IOException("too many files of peers are locked by this process");
        }
        Device device = Device.of((Long) found.get("dev"));
        Set<Device> locked = Locks.read().own((Long) found.get("ino"));
        boolean isLocked;
        if (isMemory(device, process)) {
            isLocked = locked.contains(device);
        } else if (isOfNames(folder) && found.get("dev").equals(Files.getAttribute(folder, "unix:dev"))) {
            // For file systems on disks, `stat` and the list of locks can show different device
            // numbers.
            isLocked = locked.contains(deviceOf(folder));
        } else {
            throw PeerFailure.broken("its segment is not a memory file");
        }
        if (isLocked) {
            throw PeerFailure.broken("its segment is a file that this process has locked");
        }
    }

    /**
     * Refuses a file that is too short, because a mapped page beyond the end of the file cannot be
     * accessed.
     */
    private static void checkLength(long wanted, long length) {
        if (wanted <= 0 || length < wanted) {
            throw PeerFailure.broken("its segment is shorter than announced");
        }
    }

    /** A mapped file: its device and inode number in the kernel's lists. */
    record Mapping(Device device, long inode) {
        /**
         * Returns the identity of an open file. Java has no call for the identity, but the kernel's
         * list of mappings shows it.
         */
        private static Mapping of(RandomAccessFile file) throws IOException {
            try (Arena arena = Arena.ofConfined();
                    InputStream list = Files.newInputStream(MAPS)) {
                Mapping found = at(file.getChannel().map(MapMode.READ_ONLY, 0, 1, arena).address(), Mounts.lines(list, Long.MAX_VALUE));
                if (found == null) {
                    throw new IOException("a mapping is not in " + MAPS);
                }
                return found;
            }
        }

        /** Finds the file that is mapped at an address; {@code null} if there is none. */
        static Mapping at(long address, Stream<String> lines) {
            return lines.filter(line -> has(line, address)).map(MAPPING::matcher).filter(Matcher::matches).map(Mapping::of).findFirst().orElse(null);
        }

        /** Whether a line contains an address. The list may have tens of thousands of lines. */
        private static boolean has(String line, long address) {
            int dash = line.indexOf('-');
            int end = line.indexOf(' ', dash);
            try {
                return dash > 0
                        && end > dash
                        && Long.compareUnsigned(Long.parseUnsignedLong(line, 0, dash, 16), address) <= 0
                        && Long.compareUnsigned(address, Long.parseUnsignedLong(line, dash + 1, end, 16)) < 0;
            } catch (NumberFormatException e) {
                return false;
            }
        }

        private static Mapping of(Matcher line) {
            return new Mapping(Device.of(line.group(1), 16), Long.parseUnsignedLong(line.group(2)));
        }
    }

    /**
     * Whether a device's files are in the kernel's memory, according to the mounts of this process
     * and of a peer.
     */
    static boolean isMemory(Device device, Path peer) throws IOException {
        // Anonymous memory files are on a file system that the kernel mounts before the file system
        // of the namespaces, and never unmounts. Therefore no file system that a user has mounted
        // has a number below the number of the namespaces' file system.
        Device early = Device.of((Long) Files.getAttribute(EARLY, "unix:dev"));
        return device.major() == 0 && early.major() == 0 && device.minor() < early.minor()
                || Mounts.hasMemory(Path.of("/proc/self"), device)
                || Mounts.hasMemory(peer, device);
    }

    /** Whether a folder for segments is the directory of names, which need not be in memory. */
    private static boolean isOfNames(Path folder) {
        return !folder.equals(UnlinkedFile.MEMORY);
    }

    /**
     * Returns the device of a folder's files. The first call for a folder creates a file in the
     * folder to learn the device.
     */
    private static Device deviceOf(Path folder) throws IOException {
        Device known = FOLDERS.get(folder);
        if (known != null) {
            return known;
        }
        try (UnlinkedFile made = UnlinkedFile.in(folder, 1);
                RandomAccessFile file = new RandomAccessFile(made.path().toFile(), "r")) {
            Device device = Mapping.of(file).device;
            FOLDERS.put(folder, device);
            return device;
        }
    }

    /** Maps the first {@code length} bytes of the file. */
    MemorySegment map(Arena arena, boolean isWritable, long length) throws IOException {
        return getChannel().map(isWritable ? MapMode.READ_WRITE : MapMode.READ_ONLY, 0, length, arena);
    }

    /** Closes the file as soon as this process has no lock on it. */
    @Override
    public void close() {
        // The channel calls this method once more while the file is being closed.
        if (!isClosing && !closeUnlocked()) {
            // The reference keeps the collector from closing the file.
            KEPT.add(this);
        }
    }

    /**
     * Closes the file unless this process has a lock on it. Returns whether the file was closed.
     */
    private boolean closeUnlocked() {
        // The file system of a file that was not accepted can be a program, which can delay the
        // close for ever. That delay must not keep this process from locking files, so such a file
        // is closed without the monitor.
        synchronized (isAccepted ? Lock.LOCKING : new Object()) {
            if (isLocked()) {
                return false;
            }
            isClosing = true;
            try {
                super.close();
            } catch (IOException e) {
                // The kernel has closed the descriptor although it reports an error.
            }
            return true;
        }
    }

    private boolean isLocked() {
        try {
            Mapping known = identity;
            return known != null && Locks.read().own(known.inode).contains(known.device);
        } catch (IOException e) {
            // The list of locks cannot be read now, so the file counts as locked.
            return true;
        }
    }
}
