package obvia.runtime;

import java.io.IOException;
import java.io.UncheckedIOException;
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
 * The kernel's list of file locks. Locks of processes in other containers are missing from the list.
 *
 * <p>The list has locks of every user, and inode numbers are unique only within one device. The device in the list may differ from that of {@code stat}. So entries are compared with entries of
 * this process.
 */
record Locks(List<Entry> entries) {
    private static final Path LIST = Path.of("/proc/locks");
    /** A lock that is held; lines of waiting processes have an arrow behind the first number. */
    private static final Pattern LINE = Pattern.compile("[0-9]+: (POSIX|FLOCK) .* ([0-9]+) ([0-9a-f]+:[0-9a-f]+:([0-9]+)) .*");

    /**
     * One lock.
     *
     * @param isFlock whether the holder used {@code flock}, for which virtual machines have no call, instead of {@code fcntl}
     * @param file the device and the inode number, as the list spells them
     */
    record Entry(boolean isFlock, long pid, String file, long inode) {
        private static Entry of(Matcher line) {
            return new Entry(line.group(1).equals("FLOCK"), Long.parseLong(line.group(2)), line.group(3), Long.parseUnsignedLong(line.group(4)));
        }

        /** Whether this process holds the lock by {@code fcntl}: closing any descriptor of the file drops such a lock. */
        private boolean isOwn(long number) {
            return !isFlock && inode == number && pid == ProcessHandle.current().pid();
        }
    }

    /**
     * Reads the list. The list is empty on systems that have none, or hide it.
     *
     * @throws IOException where this process cannot look, such as without a free descriptor
     */
    static Locks read() throws IOException {
        try (Stream<String> lines = Files.lines(LIST, StandardCharsets.ISO_8859_1)) {
            return of(lines);
        } catch (NoSuchFileException | AccessDeniedException e) {
            return new Locks(List.of());
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    static Locks of(Stream<String> lines) {
        return new Locks(lines.map(LINE::matcher).filter(Matcher::matches).map(Entry::of).toList());
    }

    /** Whether this process holds a lock by {@code fcntl} on a file with this inode number. */
    boolean haveOwn(long inode) {
        return entries.stream().anyMatch(entry -> entry.isOwn(inode));
    }

    /** Whether a process holds a lock by {@code flock} on the file with this inode number that this process has locked by {@code fcntl}. */
    boolean haveFlock(long inode) {
        Set<String> own = entries.stream().filter(entry -> entry.isOwn(inode)).map(Entry::file).collect(Collectors.toSet());
        return entries.stream().anyMatch(entry -> entry.isFlock && own.contains(entry.file));
    }
}
