package obvia.runtime.shm;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel.MapMode;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import obvia.Hresult;
import obvia.RpcException;
import obvia.SharedMemory;

/**
 * Memory of this process that calls pass by reference, in an unnamed file.
 *
 * <p>A mark after the memory lets a peer verify that it has opened the right file. Java cannot seal
 * the file. Therefore only other virtual machines accept the region, because they survive a
 * truncation of the file.
 */
public final class OwnRegion implements SharedMemory {
    /** The maximum length of a region, in bytes. */
    static final long LENGTH_MAX = 1L << 46;

    /** The regions by their first address. */
    private static final ConcurrentSkipListMap<Long, OwnRegion> ALL = new ConcurrentSkipListMap<>();

    private final UnlinkedFile file;
    private final Arena arena;
    private final MemorySegment memory;
    private final boolean isWritable;
    private final long mark;

    private OwnRegion(UnlinkedFile file, Arena arena, MemorySegment memory, boolean isWritable, long mark) {
        this.file = file;
        this.arena = arena;
        this.memory = memory;
        this.isWritable = isWritable;
        this.mark = mark;
    }

    /** Allocates memory of {@code bytes} bytes: see {@link obvia.Obvia#share}. */
    public static OwnRegion make(long bytes, boolean isWritable) {
        if (bytes <= 0 || bytes > LENGTH_MAX) {
            throw RpcException.of(Hresult.E_INVALIDARG, "shared memory cannot have " + bytes + " bytes");
        }
        Arena arena = Arena.ofShared();
        UnlinkedFile file = null;
        boolean isDone = false;
        try {
            long mark = UnlinkedFile.drawMark();
            file = UnlinkedFile.of(markAt(bytes) + Long.BYTES);
            ByteBuffer marked = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(mark).flip();
            file.file().write(marked, markAt(bytes));
            MemorySegment memory = file.file().map(MapMode.READ_WRITE, 0, bytes, arena);
            OwnRegion made = new OwnRegion(file, arena, memory, isWritable, mark);
            ALL.put(memory.address(), made);
            isDone = true;
            return made;
        } catch (IOException e) {
            throw PageAllocation.isFull() ? PageAllocation.missing(bytes, e) : RpcException.of(Hresult.E_FAIL, "creating shared memory: " + e, e);
        } finally {
            if (!isDone) {
                arena.close();
                Resources.close(file);
            }
        }
    }

    /** Returns the offset of the mark in the file of a region of {@code bytes} bytes. */
    static long markAt(long bytes) {
        return bytes + 7 & -8;
    }

    /**
     * Returns the region in which an array lies; {@code null} if no region that the method may use
     * contains the array.
     */
    public static OwnRegion of(MemorySegment array, boolean isWritten) {
        if (!array.isNative()) {
            return null;
        }
        Map.Entry<Long, OwnRegion> found = ALL.floorEntry(array.address());
        return found != null && found.getValue().has(array, isWritten) ? found.getValue() : null;
    }

    private boolean has(MemorySegment array, boolean isWritten) {
        return (isWritable || !isWritten) && offset(array) <= memory.byteSize() - array.byteSize();
    }

    /** Returns the offset of an array in the region. */
    public long offset(MemorySegment array) {
        return array.address() - memory.address();
    }

    boolean isWritable() {
        return isWritable;
    }

    /** Returns the descriptor of the file. */
    int number() {
        return file.number();
    }

    long mark() {
        return mark;
    }

    /** Whether the memory was freed. */
    public boolean hasEnded() {
        return !memory.scope().isAlive();
    }

    @Override
    public MemorySegment memory() {
        return memory;
    }

    @Override
    public void close() {
        if (hasEnded()) {
            return;
        }
        arena.close();
        // A new region may already have the same addresses.
        ALL.remove(memory.address(), this);
        Resources.close(file);
    }
}
