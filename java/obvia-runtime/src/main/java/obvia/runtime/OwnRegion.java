package obvia.runtime;

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
 * Memory of this process that calls pass by reference, in a file without a name.
 *
 * <p>Behind it the file has a mark, by which a peer that opens it finds out that it is the one that was meant. A file of a virtual machine's cannot be sealed, so only other
 * virtual machines take it: they live on where it is cut short.
 */
final class OwnRegion implements SharedMemory {
    /** By the addresses of their first bytes. */
    private static final ConcurrentSkipListMap<Long, OwnRegion> ALL = new ConcurrentSkipListMap<>();

    private final Segments.Made file;
    private final Arena arena;
    private final MemorySegment memory;
    private final boolean isWritable;
    private final long mark;

    private OwnRegion(Segments.Made file, Arena arena, MemorySegment memory, boolean isWritable, long mark) {
        this.file = file;
        this.arena = arena;
        this.memory = memory;
        this.isWritable = isWritable;
        this.mark = mark;
    }

    /** Makes memory of so many bytes. */
    static OwnRegion make(long bytes, boolean isWritable) {
        if (bytes <= 0 || bytes > Regions.LENGTH_MAX) {
            throw RpcException.of(Hresult.E_INVALIDARG, "shared memory of " + bytes + " bytes");
        }
        Arena arena = Arena.ofShared();
        Segments.Made file = null;
        boolean isDone = false;
        try {
            long mark = Segments.drawMark();
            file = Segments.Made.of(markAt(bytes) + Long.BYTES);
            ByteBuffer marked = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(mark).flip();
            file.file().write(marked, markAt(bytes));
            MemorySegment memory = file.file().map(MapMode.READ_WRITE, 0, bytes, arena);
            OwnRegion made = new OwnRegion(file, arena, memory, isWritable, mark);
            ALL.put(memory.address(), made);
            isDone = true;
            return made;
        } catch (IOException e) {
            throw Room.isFull() ? Room.missing(bytes, e) : RpcException.of(Hresult.E_FAIL, "making shared memory: " + e, e);
        } finally {
            if (!isDone) {
                arena.close();
                Directory.close(file);
            }
        }
    }

    /** Where the file of a region of so many bytes has its mark. */
    static long markAt(long bytes) {
        return Frames.aligned(bytes);
    }

    /** The memory that an array lies in; {@code null} where that is none which the method may use. */
    static OwnRegion of(MemorySegment array, boolean isWritten) {
        if (!array.isNative()) {
            return null;
        }
        Map.Entry<Long, OwnRegion> found = ALL.floorEntry(array.address());
        return found != null && found.getValue().has(array, isWritten) ? found.getValue() : null;
    }

    private boolean has(MemorySegment array, boolean isWritten) {
        return (isWritable || !isWritten) && offset(array) <= memory.byteSize() - array.byteSize();
    }

    /** Where an array begins in it. */
    long offset(MemorySegment array) {
        return array.address() - memory.address();
    }

    boolean isWritable() {
        return isWritable;
    }

    /** The descriptor of its file. */
    int number() {
        return file.number();
    }

    long mark() {
        return mark;
    }

    boolean hasEnded() {
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
        // Its addresses may be another one's by now.
        ALL.remove(memory.address(), this);
        Directory.close(file);
    }
}
