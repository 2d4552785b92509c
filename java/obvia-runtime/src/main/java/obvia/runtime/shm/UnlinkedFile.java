package obvia.runtime.shm;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Set;

/** An unlinked file in memory, which this process has created, with its descriptor. */
record UnlinkedFile(FileChannel file, int number) implements AutoCloseable {
    /** The folder of memory files. */
    static final Path MEMORY = Path.of("/dev/shm");

    private static final SecureRandom RANDOM = new SecureRandom();

    /**
     * Returns the folder for memory files: {@link #MEMORY} if it is writable, else the directory of
     * names.
     */
    static Path folder() {
        return Files.isWritable(MEMORY) ? MEMORY : Directory.own().path();
    }

    /** Draws a random number that identifies a file. */
    static long drawMark() {
        return RANDOM.nextLong();
    }

    static UnlinkedFile of(long length) throws IOException {
        return in(folder(), length);
    }

    static UnlinkedFile in(Path folder, long length) throws IOException {
        byte[] random = new byte[16];
        RANDOM.nextBytes(random);
        // The name shows the owner if a process is killed before the name is removed.
        String name = ".obvia-" + ProcessHandle.current().pid() + "-" + HexFormat.of().formatHex(random);
        Path path = folder.resolve(name);
        // DELETE_ON_CLOSE removes the name at once.
        var options = Set.of(
                StandardOpenOption.CREATE_NEW,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE,
                StandardOpenOption.DELETE_ON_CLOSE);
        var mode = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
        FileChannel file = FileChannel.open(path, options, mode);
        try {
            file.write(ByteBuffer.allocate(1), length - 1);
            return new UnlinkedFile(file, number(name));
        } catch (IOException | RuntimeException | Error e) {
            Resources.close(file);
            throw e;
        }
    }

    /** Returns the path by which the file can be opened again. */
    Path path() {
        return Path.of("/proc/self/fd", Integer.toString(number));
    }

    /** Returns the descriptor of the file that had this name. */
    private static int number(String name) throws IOException {
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path descriptor : descriptors) {
                // A descriptor that was closed after it was listed has no target.
                if (Files.isSymbolicLink(descriptor) && linkOf(descriptor).contains(name)) {
                    return Integer.parseInt(descriptor.getFileName().toString());
                }
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        throw new IOException("an open file has no descriptor");
    }

    private static String linkOf(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString();
        } catch (IOException e) {
            return "";
        }
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
