package obvia.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Function;
import obvia.Bytes;
import obvia.Chars;
import obvia.Doubles;
import obvia.Floats;
import obvia.Ints;
import obvia.Longs;
import obvia.Shorts;
import obvia.spi.Scope;
import org.junit.jupiter.api.Test;

/** Tests arrays in structures whose memory is reused after the call. */
class ElementsTest {
    /** A class of arrays, with its factory and its conversion to a segment. */
    private record Kind<T>(BiFunction<MemorySegment, Scope, T> make, Function<T, MemorySegment> segment) {
        MemorySegment segment(MemorySegment memory, Scope scope) {
            return segment.apply(make.apply(memory, scope));
        }
    }

    private static final List<Kind<?>> KINDS = List.of(
            new Kind<>(Bytes::of, Bytes::segment),
            new Kind<>(Bytes::of, bytes -> MemorySegment.ofBuffer(bytes.asByteBuffer())),
            new Kind<>(Shorts::of, Shorts::segment),
            new Kind<>(Chars::of, Chars::segment),
            new Kind<>(Ints::of, Ints::segment),
            new Kind<>(Longs::of, Longs::segment),
            new Kind<>(Floats::of, Floats::segment),
            new Kind<>(Doubles::of, Doubles::segment));

    @Test
    void segmentsOfElementsAreStableAfterTheirCall() {
        for (Kind<?> kind : KINDS) {
            byte[] pooled = new byte[16];
            pooled[3] = 7;
            MemorySegment kept = kind.segment(MemorySegment.ofArray(pooled), () -> {});
            // The next call reuses the memory.
            pooled[3] = 9;
            assertEquals(7, kept.get(ValueLayout.JAVA_BYTE, 3));
            assertEquals(16, kept.byteSize());
            assertThrows(RuntimeException.class, () -> kept.set(ValueLayout.JAVA_BYTE, 3, (byte) 1));
        }
    }

    @Test
    void segmentsCannotBeCreatedAfterTheCall() {
        Scope ended = () -> {
            throw new IllegalStateException("as it were");
        };
        for (Kind<?> kind : KINDS) {
            assertThrows(IllegalStateException.class, () -> kind.segment(MemorySegment.ofArray(new byte[16]), ended));
        }
    }

    @Test
    void ownedElementsAreNotCopied() {
        byte[] own = new byte[16];
        for (Kind<?> kind : KINDS) {
            assertEquals(0, MemorySegment.ofArray(own).mismatch(kind.segment(MemorySegment.ofArray(own), null)) + 1);
            own[0]++;
            assertEquals(own[0], kind.segment(MemorySegment.ofArray(own), null).get(ValueLayout.JAVA_BYTE, 0));
        }
        Ints ints = Ints.of(1, 2);
        assertSame(ints, ints.copy());
    }
}
