package obvia.runtime.shm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import obvia.Hresult;
import obvia.RpcException;

/**
 * The peer's memory regions to which its calls refer. The regions stay mapped here until the peer
 * reports their end.
 *
 * <p>A reference consists of a region's number, which is never 0, in the upper 16 bits, and an
 * offset in the lower 48 bits: {@code crates/via/src/window/regions.rs} defines the same format.
 */
public final class Regions {
    /** The maximum number of a peer's regions that a connection keeps mapped. */
    public static final int MOST = 64;

    private static final int NUMBER_SHIFT = 48;
    /**
     * The maximum total size of all mapped regions in bytes: half of this process's address space.
     */
    private static final long MAPPED_MAX = 1L << 46;
    /** The maximum size of the regions that a peer passes over one connection, in bytes. */
    static final long CONNECTION_MAX = MAPPED_MAX / 32;
    /** The size of the largest pages of any processor, to which mappings are rounded up. */
    private static final long PAGE_MAX = 64 << 10;

    private static final AtomicLong TAKEN = new AtomicLong();

    private final List<Region> mapped = new ArrayList<>();
    private final Mappings mappings;
    private Region last;

    public Regions() {
        this(Mappings.OF_REGIONS);
    }

    /**
     * Creates the table of a connection's regions. {@code mappings} limits the regions of all
     * connections together.
     */
    Regions(Mappings mappings) {
        this.mappings = mappings;
    }

    /** A region; {@code written} is {@code null} if the region is read-only. */
    private record Region(int number, Arena arena, MemorySegment read, MemorySegment written) {
        /** Unmaps the region. Returns false if a thread is using the region at this moment. */
        boolean end(Mappings mappings) {
            try {
                arena.close();
            } catch (IllegalStateException e) {
                return false;
            }
            TAKEN.addAndGet(-addresses(read.byteSize()));
            mappings.giveBack(1);
            return true;
        }
    }

    /** Returns the reference to an offset in a region. */
    public static long reference(int number, long offset) {
        return (long) number << NUMBER_SHIFT | offset;
    }

    private static long addresses(long length) {
        return length + PAGE_MAX - 1 & -PAGE_MAX;
    }

    /** Maps the region that the peer of a connection has announced under this number. */
    public void admit(int number, Window window) {
        admit(number, window.region(number));
    }

    /** Maps a region that the peer has announced. */
    void admit(int number, AnnouncedFiles.AnnouncedFile announced) {
        boolean isKnown = mapped.stream().anyMatch(region -> region.number == number);
        if (isKnown || mapped.size() >= MOST || announced.length() <= 0 || announced.length() > OwnRegion.LENGTH_MAX) {
            throw RpcException.of(Hresult.E_INVALIDARG, "region " + number + " has an invalid size, " + announced.length() + " bytes");
        }
        long addresses = addresses(announced.length());
        long before = mapped.stream().mapToLong(region -> addresses(region.read.byteSize())).sum();
        if (before + addresses > CONNECTION_MAX) {
            throw RpcException.of(Hresult.E_OUTOFMEMORY, "the connection has no room for a region of " + announced.length() + " bytes");
        }
        if (TAKEN.addAndGet(addresses) > MAPPED_MAX) {
            TAKEN.addAndGet(-addresses);
            throw RpcException.of(Hresult.E_OUTOFMEMORY, "the address space has no room for a region of " + announced.length() + " bytes");
        }
        boolean isCounted = false;
        boolean isDone = false;
        Arena arena = null;
        try {
            mappings.take(1);
            isCounted = true;
            arena = Arena.ofShared();
            boolean isWritable = announced.kind() == AnnouncedFiles.WRITE;
            MemorySegment memory = Segments.region(arena, announced, isWritable);
            mapped.add(new Region(number, arena, memory.asReadOnly(), isWritable ? memory : null));
            isDone = true;
        } finally {
            if (!isDone) {
                Resources.close(arena);
                mappings.giveBack(isCounted ? 1 : 0);
                TAKEN.addAndGet(-addresses);
            }
        }
    }

    /** Unmaps a region that the peer has ended. */
    public void forget(int number) {
        last = null;
        for (int i = 0; i < mapped.size(); i++) {
            Region region = mapped.get(i);
            if (region.number == number) {
                mapped.remove(i);
                if (!region.end(mappings)) {
                    // The region stays mapped until the connection ends, with the number 0, which
                    // no reference can have.
                    mapped.add(new Region(0, region.arena, region.read, region.written));
                }
                return;
            }
        }
    }

    /**
     * Returns the elements to which a reference leads; {@code null} if there is no such region, or
     * the region lacks the elements, the alignment or the access.
     */
    public MemorySegment find(long reference, boolean isWritten, long count, int size, int align) {
        int number = (int) (reference >>> NUMBER_SHIFT);
        Region region = last;
        if (region == null || region.number != number) {
            region = search(number);
            if (region == null) {
                return null;
            }
            last = region;
        }
        MemorySegment memory = isWritten ? region.written : region.read;
        long offset = reference & (1L << NUMBER_SHIFT) - 1;
        if (memory == null || offset > memory.byteSize() || offset % align != 0 || count < 0 || count > (memory.byteSize() - offset) / size) {
            return null;
        }
        return memory.asSlice(offset, count * size);
    }

    /** Whether the memory of all regions exists. */
    public boolean areWhole() {
        try {
            for (Region region : mapped) {
                region.read.get(ValueLayout.JAVA_BYTE, region.read.byteSize() - 1);
            }
            return true;
        } catch (InternalError e) {
            return false;
        }
    }

    private Region search(int number) {
        for (Region region : mapped) {
            if (region.number == number && number != 0) {
                return region;
            }
        }
        return null;
    }

    /** Unmaps all regions. */
    public void close() {
        last = null;
        mapped.removeIf(region -> region.end(mappings));
    }
}
