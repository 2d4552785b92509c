package obvia.runtime.shm;

import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/** The offsets in a shared segment; {@code crates/via/src/layout.rs} documents them. */
final class Layout {
    static final long SLEEP = 0;
    static final long BELL = 128;
    static final long CONSUMED = 256;
    static final long MARK = 384;
    static final long SLOTS = 512;
    static final int SLOT_SIZE = 128;
    static final int SLOT_COUNT = 16;
    static final long SLOT_FRAME = 16;
    static final int INLINE_MAX = 112;
    static final int IN_AREA = 255;
    static final long AREA = 4096;
    static final int LINE = 64;

    /** The words that both sides access; aligned, so that accesses are atomic. */
    static final VarHandle WORD = ValueLayout.JAVA_INT.varHandle();

    static final VarHandle LONG_WORD = ValueLayout.JAVA_LONG.varHandle();

    private Layout() {}

    /** Returns the offset of a message's slot. */
    static long slot(int sequence) {
        return SLOTS + (long) (sequence & SLOT_COUNT - 1) * SLOT_SIZE;
    }
}
