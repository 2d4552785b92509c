package obvia.runtime;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel.MapMode;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A peer's file in the kernel's memory, opened by its name in {@code /proc}.
 *
 * <p>The peer may have mounted any file system under any name, even one that is a program (FUSE)
 * and never answers. A thread that touches a mapped page of such a file waits for ever and reaches
 * no safepoint, so that the next collection stops the virtual machine. So only memory is accepted,
 * which the kernel's own lists show. Opening the file may wait for its file system as well, and
 * needs {@link #patiently}.
 */
record PeerFile(RandomAccessFile file) implements AutoCloseable {
    /** The number of late answers of file systems from which on no further files are opened. */
    static final int LATE_MAX = 64;

    private static final Path MAPS = Path.of("/proc/self/maps");
    /** A file of the kernel's file system of name spaces. */
    private static final Path EARLY = Path.of("/proc/self/ns/mnt");

    private static final AtomicInteger LATE = new AtomicInteger();

    /** Does work with files of a peer's within the usual time, and before a deadline. */
    static <T> T patiently(Deadline deadline, Callable<T> work) throws IOException {
        if (LATE.get() >= LATE_MAX) {
            throw new Patience.Late("too many file systems of peers do not answer", null);
        }
        Patience<T> patience = new Patience<>(Duration.ofNanos(Math.min(Patience.USUAL.toNanos(), deadline.left())), work);
        try {
            return patience.await();
        } catch (Patience.Late e) {
            LATE.incrementAndGet();
            patience.whenDone(LATE::decrementAndGet);
            deadline.check();
            throw e;
        }
    }

    /** Opens a file that is memory, and has so many bytes. */
    static PeerFile open(Path path, boolean isWritable, long length) throws IOException {
        // Opening a pipe waits for a process at its other end.
        if (!Files.isRegularFile(path)) {
            throw Line.broken("a segment is no memory file, or not this process's to open");
        }
        // Unlike a channel, the file stays open when its thread is interrupted.
        PeerFile file = new PeerFile(new RandomAccessFile(path.toFile(), isWritable ? "rw" : "r"));
        boolean isDone = false;
        try {
            // Pages mapped behind the end of a file cannot be touched, and mapping would make the
            // file longer.
            if (length <= 0 || file.file.length() < length) {
                throw Line.broken("a segment is shorter than it says");
            }
            if (!isMemory(deviceOf(file.file), path.resolve("../..").normalize())) {
                throw Line.broken("a segment is no memory file");
            }
            isDone = true;
            return file;
        } finally {
            if (!isDone) {
                file.close();
            }
        }
    }

    /** Returns the device of an open file. Java has no call for that, but a mapping shows it. */
    private static Device deviceOf(RandomAccessFile file) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            long address = file.getChannel().map(MapMode.READ_ONLY, 0, 1, arena).address();
            for (String line : Files.readAllLines(MAPS, StandardCharsets.ISO_8859_1)) {
                // First and last address, rights, offset, device, inode number, name.
                String[] fields = line.split("[ -]", 7);
                if (Long.compareUnsigned(Long.parseUnsignedLong(fields[1], 16), address) > 0) {
                    return Device.of(line.split(" ", 5)[3], 16);
                }
            }
        }
        throw new IOException("a mapping is not in " + MAPS);
    }

    /**
     * Whether a device's files are in the kernel's memory, by the lists of this process and of a
     * peer's.
     */
    static boolean isMemory(Device device, Path peer) throws IOException {
        // Anonymous memory files are on a file system that the kernel mounts before that of the
        // name spaces, and never unmounts. Lower numbers are therefore the kernel's for ever.
        Device early = Device.of((Long) Files.getAttribute(EARLY, "unix:dev"));
        return device.major() == 0 && early.major() == 0 && device.minor() < early.minor()
                || Mounts.own().hasMemory(device)
                || Mounts.of(peer).hasMemory(device)
                || device.equals(deviceOfDirectory());
    }

    /**
     * Returns the device of the directory of names, where segments are without a {@code /dev/shm}.
     */
    private static Device deviceOfDirectory() throws IOException {
        try (Segments.Made made = Segments.Made.in(ProcessRuntime.directory().path(), 1);
                RandomAccessFile file = new RandomAccessFile(made.path().toFile(), "r")) {
            return deviceOf(file);
        }
    }

    /** Maps the first bytes of the file. */
    MemorySegment map(Arena arena, boolean isWritable, long length) throws IOException {
        return file.getChannel().map(isWritable ? MapMode.READ_WRITE : MapMode.READ_ONLY, 0, length, arena);
    }

    @Override
    public void close() {
        Directory.close(file);
    }
}
