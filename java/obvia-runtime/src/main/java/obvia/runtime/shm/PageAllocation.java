package obvia.runtime.shm;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import obvia.Hresult;
import obvia.RpcException;

/**
 * Pages of a file in memory, allocated before they are written.
 *
 * <p>The pages of files in {@code /dev/shm} are allocated when they are first touched. If no page
 * is left, the access causes a fault of the virtual machine, and no exception that states the
 * reason. Writing zeros to the file fails with an exception that states the reason.
 */
final class PageAllocation implements AutoCloseable {
    /** The number of bytes that are allocated at once: so few that unused bytes do not matter. */
    private static final int CHUNK = 16 << 10;

    /** The number of free bytes below which the file system counts as full. */
    private static final long LITTLE = 64 << 10;

    private static final byte[] ZEROS = new byte[CHUNK];

    private final ZeroedFile file;
    private final long length;
    private long allocated;

    /** A file that accepts zeros. */
    interface ZeroedFile extends AutoCloseable {
        /** Writes zeros from an offset on. */
        void put(long at, byte[] zeros, int length) throws IOException;

        @Override
        void close() throws IOException;
    }

    /**
     * Creates the allocation of a file's pages.
     *
     * @param length the length of the file in bytes
     * @param allocated the number of bytes at the file's beginning that have pages already
     */
    PageAllocation(ZeroedFile file, long length, long allocated) {
        this.file = file;
        this.length = length;
        this.allocated = allocated;
    }

    /**
     * Returns the allocation of a file's pages. Unlike a channel, the file stays open when a thread
     * that writes to it is interrupted.
     */
    static PageAllocation in(RandomAccessFile file, long length, long allocated) {
        return new PageAllocation(
                new ZeroedFile() {
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
                allocated);
    }

    /**
     * Allocates the pages up to an offset, unless they exist.
     *
     * @throws RpcException with E_OUTOFMEMORY if no page is left
     */
    void allocate(long end) {
        while (allocated < end) {
            int bytes = (int) Math.min(CHUNK - allocated % CHUNK, length - allocated);
            try {
                file.put(allocated, ZEROS, bytes);
            } catch (IOException e) {
                throw missing(end - allocated, e);
            }
            allocated += bytes;
        }
    }

    /** Returns the number of bytes at the file's beginning that have pages. */
    long allocated() {
        return allocated;
    }

    /** Whether the folder of shared memory is full. */
    static boolean isFull() {
        try {
            return Files.getFileStore(UnlinkedFile.folder()).getUsableSpace() < LITTLE;
        } catch (IOException e) {
            return false;
        }
    }

    /** Returns the exception for a lack of shared memory. */
    static RpcException missing(long bytes, Exception why) {
        Path folder = UnlinkedFile.folder();
        String size = "";
        try {
            FileStore store = Files.getFileStore(folder);
            size = ", which has " + store.getTotalSpace() + " bytes, " + store.getUsableSpace() + " of them free";
        } catch (IOException e) {
            // The size of the file system is unknown, and the message omits it.
        }
        return RpcException.of(
                Hresult.E_OUTOFMEMORY,
                "there is no room for another " + bytes + " bytes in " + folder + size + ": make it larger (a container's by --shm-size, a host's by mount -o remount,size=1g "
                        + folder + "), or pass less data at once",
                why);
    }

    @Override
    public void close() {
        Resources.close(file);
    }
}
