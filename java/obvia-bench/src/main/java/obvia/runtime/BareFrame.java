package obvia.runtime;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Shared memory with a frame outside of any call, so that writing and reading can be measured
 * separately. The class is in the runtime's package, because frames are internal to the runtime.
 */
public final class BareFrame {
    /** The size of a block with one pointer, in bytes. */
    private static final int SLOT = 8;

    /** The memory with the frame at its beginning. */
    public final MemorySegment memory;

    /** Allocates memory for a frame of {@code room} bytes. */
    public BareFrame(int room) {
        try {
            Path file = Files.createTempFile(Path.of("/dev/shm"), "obvia-bench", null);
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE, StandardOpenOption.DELETE_ON_CLOSE)) {
                memory = channel.map(FileChannel.MapMode.READ_WRITE, 0, room, Arena.ofAuto());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Writes a frame with one structure and the targets of its pointers, and returns the length of
     * the frame.
     */
    public int write(GraphKinds kinds, GraphType type, Object value) {
        GraphWriter writer = GraphWriter.of(kinds, SLOT);
        if (type.isShared()) {
            writer.shared(0, type, value);
        } else {
            writer.one(0, type, value);
        }
        int length = writer.finish();
        writer.copyTo(memory, 0);
        writer.close();
        return length;
    }

    /**
     * Verifies a frame with one structure. The structure is at {@link #place} until the reader is
     * closed.
     */
    public GraphReader check(GraphKinds kinds, GraphType type, int length) {
        GraphReader reader = GraphReader.of(memory, 0, length, SLOT, kinds, "the frame");
        reader.checkOne(0, type, type.isShared() ? GraphReader.FULL : GraphReader.UNIQUE);
        reader.verify();
        return reader;
    }

    /** Returns the offset of a frame's structure. */
    public static int place(GraphReader reader) {
        return reader.frame().place(0);
    }

    /** Returns a frame's structure as a view. */
    public static Object view(GraphReader reader, GraphType type) {
        return reader.frame().one(0, type);
    }

    /** Builds a frame's structure as objects. */
    public static Object build(GraphReader reader) {
        reader.build();
        return reader.one(0);
    }

    /** Returns a writer of the objects that follow a block of {@code block} bytes. */
    public FrameWriter writer(int block) {
        return new FrameWriter(memory, 0, block);
    }

    /** Returns a reader of a frame of {@code length} bytes. */
    public FrameReader reader(int length, int block) {
        return new FrameReader(memory, 0, length, block, "the frame");
    }
}
