package obvia.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import obvia.BadMessageException;
import obvia.Hresult;
import obvia.RpcException;
import obvia.Waiting;
import org.junit.jupiter.api.Test;

/**
 * Tests every parser of a peer's bytes with random mutations: the bytes are either accepted, or
 * refused by the documented exception.
 *
 * <p>{@code -Dobvia.fuzz.seconds=N} sets the time of each test, which reports its seed on a
 * failure; {@code -Dobvia.fuzz.seed=N} repeats a run.
 */
class FuzzTest {
    private static final int TURNS = 5_000;
    private static final int SECONDS = Integer.getInteger("obvia.fuzz.seconds", 0);
    private static final long SEED = Long.getLong("obvia.fuzz.seed", SECONDS == 0 ? 4711 : System.nanoTime());
    private static final int[] WORDS = {0, 1, 2, 3, 7, 8, 16, 64, 255, 256, 4096, 0xffff, 1 << 20, Integer.MAX_VALUE, Integer.MIN_VALUE, -1, -8};

    /** Mutates sample inputs. */
    private static final class Mutator {
        private final Random random;
        private final byte[][] seeds;

        Mutator(long seed, byte[]... seeds) {
            random = new Random(seed);
            this.seeds = seeds;
        }

        byte[] next() {
            byte[] bytes = seeds[random.nextInt(seeds.length)].clone();
            for (int change = random.nextInt(6); change > 0; change--) {
                bytes = changed(bytes);
            }
            return bytes;
        }

        private byte[] changed(byte[] bytes) {
            if (bytes.length == 0) {
                return new byte[random.nextInt(64)];
            }
            int at = random.nextInt(bytes.length);
            switch (random.nextInt(7)) {
                case 0 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
                case 1 -> bytes[at] = (byte) random.nextInt();
                case 2 -> {
                    int word = WORDS[random.nextInt(WORDS.length)];
                    for (int i = at & -4, shift = 0; i < bytes.length && shift < 32; i++, shift += 8) {
                        bytes[i] = (byte) (word >> shift);
                    }
                }
                case 3 -> {
                    return Arrays.copyOf(bytes, at);
                }
                case 4 -> {
                    return Arrays.copyOf(bytes, bytes.length + random.nextInt(40));
                }
                case 5 -> {
                    int to = random.nextInt(bytes.length);
                    System.arraycopy(bytes.clone(), at, bytes, to, Math.min(bytes.length - Math.max(at, to), random.nextInt(1, 33)));
                }
                default -> {
                    byte[] other = seeds[random.nextInt(seeds.length)];
                    int length = Math.min(at, other.length);
                    System.arraycopy(other, 0, bytes, 0, length);
                }
            }
            return bytes;
        }
    }

    /** Feeds a mutator's outputs to a parser. */
    private static void feed(Mutator mutator, Consumer<byte[]> reader) {
        long until = System.nanoTime() + Duration.ofSeconds(SECONDS).toNanos();
        for (long turn = 0; turn < TURNS || System.nanoTime() < until; turn++) {
            byte[] bytes = mutator.next();
            try {
                reader.accept(bytes.clone());
            } catch (BadMessageException e) {
                // The input was refused properly.
            } catch (Throwable e) {
                throw new AssertionError("turn " + turn + " of seed " + SEED + ": " + HexFormat.of().formatHex(bytes), e);
            }
        }
    }

    private static Mutator of(byte[]... seeds) {
        return new Mutator(SEED, seeds);
    }

    @Test
    void bindsAreAnsweredOrRefused() {
        feed(of(FormatsTest.BIND), bytes -> {
            Bind.Answer answer = Bind.answer(bytes, 9);
            assertTrue(answer.unit().length <= 0x4000 && answer.unit()[2] == (bytes[2] == 11 ? 12 : 15));
        });
    }

    @Test
    void answersToBindsAreOutcomesOrRefused() {
        byte[] bound = Bind.answer(FormatsTest.BIND, 9).unit();
        int callId = ByteBuffer.wrap(bound).order(ByteOrder.LITTLE_ENDIAN).getInt(12);
        feed(of(bound), bytes -> assertEquals(2, Bind.outcomes(bytes, 12, callId, 2).size()));
    }

    @Test
    void referencesAreReadOrRefused() {
        ObjRef other = new ObjRef(FormatsTest.SAMPLE.iid(), 1, 9, 8, 7, List.of("a", "oxid-0000000000000009", "b"));
        feed(of(FormatsTest.SAMPLE.toBytes(), other.toBytes()), bytes -> {
            try {
                ObjRef read = ObjRef.fromBytes(bytes);
                assertEquals(read, ObjRef.fromBytes(read.toBytes()));
            } catch (RpcException e) {
                assertTrue(e.result() == Hresult.RPC_E_INVALID_OBJREF || e.result() == Hresult.REGDB_E_CLASSNOTREG, e.toString());
            }
        });
    }

    @Test
    void greetingsAreReadOrRefused() {
        byte[] good = Segments.Greeting.of(Waiting.ADAPTIVE, true).put(ByteBuffer.allocate(24).order(ByteOrder.LITTLE_ENDIAN)).array();
        feed(of(good), bytes -> {
            ByteBuffer greeting = ByteBuffer.wrap(Arrays.copyOf(bytes, 24)).order(ByteOrder.LITTLE_ENDIAN);
            long area = Segments.Greeting.read(greeting).area();
            assertTrue(area > 0 && area <= Segments.AREA_MAX, "an area of " + area);
        });
    }

    @Test
    void notesAreReadAndRegionsTakenOrRefused() throws Exception {
        long own = ProcessHandle.current().pid();
        try (Segments.Made file = Segments.Made.of(4096 + Long.BYTES)) {
            ByteBuffer good = ByteBuffer.allocate(Notes.length(-1)).order(ByteOrder.LITTLE_ENDIAN);
            good.putInt(1).putInt(Notes.READ).putLong(4096).putLong(file.number()).putLong(own).putLong(0);
            Regions regions = new Regions();
            feed(of(good.array()), bytes -> {
                for (long pid : new long[] {-1, own}) {
                    ByteBuffer note = ByteBuffer.wrap(Arrays.copyOf(bytes, Notes.length(pid))).order(ByteOrder.LITTLE_ENDIAN);
                    Notes.Note read = Notes.read(note, pid);
                    try {
                        regions.admit(1, read);
                    } catch (BadMessageException e) {
                        continue;
                    } catch (RpcException e) {
                        assertTrue(e.result() == Hresult.E_INVALIDARG || e.result() == Hresult.E_FAIL || e.result() == Hresult.E_OUTOFMEMORY, e.toString());
                        continue;
                    }
                    long length = regions.find(Regions.reference(1, 0), false, read.length(), 1, 1).byteSize();
                    assertEquals(read.length(), length);
                    regions.forget(1);
                }
            });
        }
    }

    /** Words that were parsed are the same after writing and parsing again. */
    @Test
    void wordsAreReadOrRefused() {
        byte[] silent = new Words("", "", "", 0).toFrame(Words.TEXT_MAX);
        byte[] longest = new Words("x".repeat(Words.TEXT_MAX), "y", "z", -1).toFrame(Words.TEXT_MAX);
        feed(of(WordsTest.FRAME, silent, WordsTest.FRAME, longest), bytes -> {
            Words read = Words.read(bytes);
            if (read != null) {
                // Each invalid byte becomes three bytes of UTF-8.
                Words cut = Words.read(read.toFrame(Words.TEXT_MAX));
                assertTrue(read.description().startsWith(cut.description()) && read.source().startsWith(cut.source()));
                assertEquals(read.helpContext(), cut.helpContext());
            }
        });
    }

    /**
     * A context that was parsed is the same after writing, except for the remaining time, which
     * shrinks.
     */
    @Test
    void contextsAreReadOrRefused() {
        byte[] time = CallContext.NONE.by(Deadline.in(Duration.ofHours(1))).toBytes();
        feed(of(CallContext.NONE.toBytes(), time, CallContext.NONE.of(ContextTest.TRACE).toBytes(), CallContext.NONE.of(ContextTest.LONGEST).toBytes()), bytes -> {
            CallContext read = CallContext.read(bytes);
            if (read != null) {
                byte[] again = read.toBytes();
                assertTrue(again.length <= (bytes.length + 7 & -8) && again.length % 8 == 0, "it became longer");
                assertEquals(read.trace(), CallContext.read(again).trace());
            }
        });
    }

    private static FrameReader reader(byte[] frame, int block) {
        MemorySegment memory = MemorySegment.ofArray(frame);
        return new FrameReader(memory, 0, frame.length, block, "the frame");
    }

    @Test
    void framesAreReadOrRefused() {
        feed(of(FramesTest.written()), bytes -> FramesTest.read(reader(bytes, 48)));
        feed(of(FramesTest.DOCUMENTED), bytes -> {
            FrameReader frame = reader(bytes, 16);
            int count = frame.count(Integer.toUnsignedLong(frame.getInt(0)));
            assertEquals(count, frame.ints(8, 16, count).length);
            frame.end();
        });
    }

    /** Reads objects in a sequence that fits no interface. */
    @Test
    void objectsAreFoundInFramesOrNot() {
        Random random = new Random(SEED);
        feed(of(FramesTest.written(), FramesTest.DOCUMENTED), bytes -> {
            int block = 8 * random.nextInt(1, 7);
            FrameReader frame = reader(bytes, block);
            for (int slot = 0; slot < block; slot += 8) {
                int kind = WORDS[random.nextInt(8)];
                int size = 1 << random.nextInt(4);
                int body = switch (random.nextInt(6)) {
                    case 0 -> frame.find(slot, kind, frame.count(WORDS[random.nextInt(WORDS.length)]), size);
                    case 1 -> frame.find(slot, (int) at(bytes, slot), size);
                    case 2 -> frame.optional(slot, kind, size);
                    case 3 -> frame.allocated(slot, kind, size, random.nextInt(4));
                    case 4 -> {
                        frame.text(slot);
                        yield 0;
                    }
                    default -> {
                        frame.wide(slot);
                        yield 0;
                    }
                };
                assertTrue(body <= bytes.length, "an object at " + body);
            }
            frame.end();
        });
    }

    /** Returns the type of a slot's object, so that some reads succeed. */
    private static long at(byte[] bytes, int slot) {
        ByteBuffer frame = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        long body = frame.getLong(slot);
        return body >= 8 && body <= bytes.length ? frame.getInt((int) body - 8) : 16;
    }

    /** Tests slots that a peer has written. */
    @Test
    void messagesLieInThePeersMemoryOrAreRefused() throws Exception {
        byte[] slot = new byte[Layout.SLOT_SIZE];
        ByteBuffer.wrap(slot).order(ByteOrder.LITTLE_ENDIAN).putLong(4, 3L | 1L << 16 | 8L << 24).putLong(20, 8).putInt(28, 64);
        byte[] inArea = slot.clone();
        inArea[7] = (byte) Layout.IN_AREA;
        try (Wires.Pair pair = Wires.pair(Waiting.BLOCK, Waiting.BLOCK)) {
            MemorySegment peer = pair.client().memory();
            int[] next = {1};
            feed(of(slot, inArea), bytes -> {
                long at = Layout.slot(next[0]);
                MemorySegment.copy(MemorySegment.ofArray(Arrays.copyOf(bytes, Layout.SLOT_SIZE)), 0, peer, at, Layout.SLOT_SIZE);
                Layout.WORD.setRelease(peer, at, next[0]++);
                Window window = pair.server();
                window.receive(Wires.patience());
                assertTrue(window.at >= 0 && window.length >= 0 && window.at + window.length <= window.frame.byteSize(), "a frame at " + window.at);
            });
        }
    }
}
