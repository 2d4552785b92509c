package obvia.runtime;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Shared memory for a frame of a call that nobody makes, so that writing and reading it can be measured by themselves. In the runtime's package, to which frames belong. */
public final class BareFrame {
    /** A block of one pointer. */
    private static final int SLOT = 8;

    /** Where the frame lies, from its beginning. */
    public final MemorySegment memory;

    /** Room for a frame of so many bytes. */
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

    /** Writes a frame of one structure, with all that it points to, and says how long it is. */
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

    /** Checks such a frame. Its structure is at {@link #place} until the reader is closed. */
    public GraphReader check(GraphKinds kinds, GraphType type, int length) {
        GraphReader reader = GraphReader.of(memory, 0, length, SLOT, kinds, "the frame");
        reader.checkOne(0, type, type.isShared() ? GraphReader.FULL : GraphReader.UNIQUE);
        reader.verify();
        return reader;
    }

    /** Where the structure of a frame is. */
    public static int place(GraphReader reader) {
        return reader.frame().place(0);
    }

    /** The structure of a frame, as it lies there. */
    public static Object view(GraphReader reader, GraphType type) {
        return reader.frame().one(0, type);
    }

    /** Makes objects of all that is in a frame. */
    public static Object build(GraphReader reader) {
        reader.build();
        return reader.one(0);
    }

    /** A writer of what stands behind a block. */
    public FrameWriter writer(int block) {
        return new FrameWriter(memory, 0, block);
    }

    /** A reader of a frame of so many bytes. */
    public FrameReader reader(int length, int block) {
        return new FrameReader(memory, 0, length, block, "the frame");
    }
}
