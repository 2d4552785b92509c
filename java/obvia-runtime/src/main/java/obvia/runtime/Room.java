package obvia.runtime;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import obvia.Hresult;
import obvia.RpcException;

/**
 * Pages of a file in memory, taken before they are written to.
 *
 * <p>Files in {@code /dev/shm} take pages as they are touched, and where there are none left touching one is a fault of the machine's, not an exception that says what is missing. Writing
 * zeros to the file says so.
 */
final class Room implements AutoCloseable {
    /** Taken at once: as much as is not worth counting. */
    private static final int CHUNK = 16 << 10;

    /** Less than this is nothing. */
    private static final long LITTLE = 64 << 10;

    private static final byte[] ZEROS = new byte[CHUNK];

    private final Zeros file;
    private final long length;
    private long taken;

    /** Where zeros are written to. */
    interface Zeros extends AutoCloseable {
        /** Writes zeros from a place on. */
        void put(long at, byte[] zeros, int length) throws IOException;

        @Override
        void close() throws IOException;
    }

    /**
     * Room in a file.
     *
     * @param length bytes of the file
     * @param taken so many of them have pages already, from the first on
     */
    Room(Zeros file, long length, long taken) {
        this.file = file;
        this.length = length;
        this.taken = taken;
    }

    /** Room in the file of this path. */
    static Room in(Path path, long length, long taken) throws IOException {
        // Unlike a channel it is not closed where its thread is interrupted.
        RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw");
        return new Room(
                new Zeros() {
                    @Override
                    public void put(long at, byte[] zeros, int length) throws IOException {
                        file.seek(at);
                        file.write(zeros, 0, length);
                    }

                    @Override
                    public void close() throws IOException {
                        file.close();
                    }
                },
                length,
                taken);
    }

    /**
     * Takes the pages up to a place, unless they have been taken.
     *
     * @throws RpcException with E_OUTOFMEMORY where there are none
     */
    void take(long end) {
        while (taken < end) {
            int bytes = (int) Math.min(CHUNK - taken % CHUNK, length - taken);
            try {
                file.put(taken, ZEROS, bytes);
            } catch (IOException e) {
                throw missing(end - taken, e);
            }
            taken += bytes;
        }
    }

    /** Whether there is no room in the folder for memory that is shared. */
    static boolean isFull() {
        try {
            return Files.getFileStore(Segments.folder()).getUsableSpace() < LITTLE;
        } catch (IOException e) {
            return false;
        }
    }

    /** What is to be thrown where there is no room for memory that is shared. */
    static RpcException missing(long bytes, Exception why) {
        Path folder = Segments.folder();
        String size = "";
        try {
            FileStore store = Files.getFileStore(folder);
            size = ", which has " + store.getTotalSpace() + " bytes, " + store.getUsableSpace() + " of them free";
        } catch (IOException e) {
            // Then there is nothing to be said of it.
        }
        return RpcException.of(
                Hresult.E_OUTOFMEMORY,
                "there is no room for " + bytes + " bytes more in " + folder + size + ": make it larger (a container's by --shm-size, a host's by mount -o remount,size=1g "
                        + folder + "), or pass less at once",
                why);
    }

    @Override
    public void close() {
        Directory.close(file);
    }
}
