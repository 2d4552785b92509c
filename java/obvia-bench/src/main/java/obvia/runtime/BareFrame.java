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

    /** A writer of what stands behind a block. */
    public FrameWriter writer(int block) {
        return new FrameWriter(memory, 0, block);
    }

    /** A reader of a frame of so many bytes. */
    public FrameReader reader(int length, int block) {
        return new FrameReader(memory, 0, length, block, "the frame");
    }
}
