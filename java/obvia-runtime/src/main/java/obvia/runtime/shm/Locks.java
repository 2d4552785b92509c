package obvia.runtime.shm;

import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The kernel's list of file locks. Locks of processes in other containers are missing from the
 * list.
 *
 * <p>The list has locks of every user, and inode numbers are unique only within one device.
 *
 * @param own the process ID of this process in the list
 */
record Locks(long own, List<Entry> entries) {
    private static final Path LIST = Path.of("/proc/locks");
    /**
     * The line of a lock that is held. Lines of waiting processes have an arrow after the first
     * number.
     */
    private static final Pattern LINE = Pattern.compile("[0-9]+: (POSIX|FLOCK) .* ([0-9]+) ([0-9a-f]+:[0-9a-f]+):([0-9]+) .*");

    /**
     * One lock.
     *
     * @param isFlock whether the holder used {@code flock}, for which virtual machines have no
     *     call, instead of {@code fcntl}
     */
    record Entry(boolean isFlock, long pid, Device device, long inode) {
        private static Entry of(Matcher line) {
            return new Entry(line.group(1).equals("FLOCK"), Long.parseLong(line.group(2)), Device.of(line.group(3), 16), Long.parseUnsignedLong(line.group(4)));
        }
    }

    /** The open list. Reading it again takes no further descriptor. */
    record Source(FileChannel file) implements AutoCloseable {
        Locks read() throws IOException {
            if (file == null) {
                return new Locks(0, List.of());
            }
            file.position(0);
            return of(self(), new String(Channels.newInputStream(file).readAllBytes(), StandardCharsets.ISO_8859_1).lines());
        }

        @Override
        public void close() {
            Resources.close(file);
        }
    }

    /**
     * Opens the list. If the system has no list, or hides it, the returned list is empty.
     *
     * @throws IOException if this process cannot open the list, for example without a free
     *     descriptor
     */
    static Source open() throws IOException {
        try {
            return new Source(FileChannel.open(LIST));
        } catch (NoSuchFileException | AccessDeniedException e) {
            return new Source(null);
        }
    }

    /** Reads the list once. */
    static Locks read() throws IOException {
        try (Source list = open()) {
            return list.read();
        }
    }

    /**
     * Returns the ID of this process in {@code /proc}. If {@code /proc} belongs to an outer PID
     * namespace, the process has another ID there.
     */
    static long self() throws IOException {
        return Long.parseLong(Files.readSymbolicLink(Path.of("/proc/self")).toString());
    }

    static Locks of(long own, Stream<String> lines) {
        return new Locks(own, lines.map(LINE::matcher).filter(Matcher::matches).map(Entry::of).toList());
    }

    /**
     * Returns the devices on which this process holds a lock by {@code fcntl} on a file with this
     * inode number. Closing any descriptor of such a file drops the lock.
     */
    Set<Device> own(long inode) {
        Stream<Entry> found = entries.stream().filter(entry -> !entry.isFlock && entry.inode == inode && entry.pid == own);
        return found.map(Entry::device).collect(Collectors.toSet());
    }

    /**
     * Whether any process holds a lock by {@code flock} on the file with this inode number. This
     * process must hold a lock by {@code fcntl} on the file, because the device is taken from the
     * entry of that lock.
     */
    boolean haveFlock(long inode) {
        Set<Device> own = own(inode);
        return entries.stream().anyMatch(entry -> entry.isFlock && entry.inode == inode && own.contains(entry.device));
    }
}
