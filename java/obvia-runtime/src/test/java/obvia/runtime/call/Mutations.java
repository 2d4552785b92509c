package obvia.runtime.call;

import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;
import java.util.function.Consumer;
import obvia.BadMessageException;

/**
 * Mutations of sample inputs, for tests of the parsers of a peer's bytes: the bytes are either
 * accepted, or refused by the documented exception.
 *
 * <p>{@code -Dobvia.fuzz.seconds=N} sets the time of each test. A failed test reports its seed, and
 * {@code -Dobvia.fuzz.seed=N} repeats its run.
 */
public final class Mutations {
    private static final int TURNS = 2_000;
    private static final int SECONDS = Integer.getInteger("obvia.fuzz.seconds", 0);
    /** The seed of all random numbers. */
    public static final long SEED = Long.getLong("obvia.fuzz.seed", SECONDS == 0 ? 4711 : System.nanoTime());
    private static final int[] WORDS = {0, 1, 2, 3, 7, 8, 16, 64, 255, 256, 4096, 0xffff, 1 << 20, Integer.MAX_VALUE, Integer.MIN_VALUE, -1, -8};

    private final Random random;
    private final byte[][] seeds;

    private Mutations(byte[]... seeds) {
        random = new Random(SEED);
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

    /** Returns mutations of these inputs. */
    public static Mutations of(byte[]... seeds) {
        return new Mutations(seeds);
    }

    /** Returns a word that a parser may treat in a special way. */
    public static int word(Random random) {
        return WORDS[random.nextInt(WORDS.length)];
    }

    /** Feeds the inputs to a parser. */
    public void feed(Consumer<byte[]> reader) {
        long until = System.nanoTime() + Duration.ofSeconds(SECONDS).toNanos();
        for (long turn = 0; turn < TURNS || System.nanoTime() < until; turn++) {
            byte[] bytes = next();
            try {
                reader.accept(bytes.clone());
            } catch (BadMessageException e) {
                // The input was refused properly.
            } catch (Throwable e) {
                throw new AssertionError("turn " + turn + " of seed " + SEED + ": " + HexFormat.of().formatHex(bytes), e);
            }
        }
    }
}
