package peer;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Objects;
import obvia.Hresult;
import obvia.Obvia;
import obvia.RpcException;
import obvia.SharedMemory;
import victim.Color;
import victim.IPair;
import victim.IThing;
import victim.IVictim;
import victim.Mark;

/**
 * Calls every method of a server in any language, by an exported name or at a string binding, and
 * checks the results.
 */
final class Client {
    private Client() {}

    public static void main(String[] arguments) {
        IVictim victim = Obvia.connect(arguments.length > 1 ? arguments[1] : "").bind(IVictim.class, arguments[0]);
        for (int turn = 0; turn < 20; turn++) {
            values(victim, turn);
            arrays(victim, turn);
            objects(victim, turn);
        }
        failures(victim);
        words(victim);
        values(victim, 1);
        System.out.println("good");
        System.exit(0);
    }

    private static void same(Object found, Object meant) {
        if (!Objects.deepEquals(found, meant)) {
            throw new AssertionError(found + " where " + meant + " is meant");
        }
    }

    private static void values(IVictim victim, int turn) {
        same(victim.add(turn, Integer.MAX_VALUE), turn + Integer.MAX_VALUE);
        same(victim.flip(turn % 2 == 0), turn % 2 != 0);
        for (Color color : Color.values()) {
            same(victim.mix(color), color);
        }
        same(victim.digit(turn % 10), turn % 10);
        same(victim.shout("gr\u00fc\u00df \ud83d\ude00 " + turn).endsWith("\ud83d\ude00 " + turn), true);
        same(victim.shout("quiet"), "QUIET");
        same(victim.shout(""), "");
        same(victim.measure("\ud83d\ude00 wide"), 7);
        same(victim.maybe(null), -1L);
        same(victim.maybe(new Mark(true, Color.BLUE, turn)), 4L * turn);
        victim.hint(turn);
    }

    private static void arrays(IVictim victim, int turn) {
        int[] numbers = new int[turn * turn];
        Arrays.setAll(numbers, i -> i - turn);
        long sum = Arrays.stream(numbers).asLongStream().sum();
        same(victim.sum(numbers), sum);
        same(victim.total(MemorySegment.ofArray(numbers)), sum);
        int[] changed = numbers.clone();
        victim.reverse(changed);
        for (int i = 0; i < numbers.length; i++) {
            same(changed[i], numbers[numbers.length - 1 - i]);
        }
        victim.double_(MemorySegment.ofArray(changed));
        same(Arrays.stream(changed).asLongStream().sum(), 2 * sum);
        victim.fill(changed);
        same(Arrays.stream(changed).allMatch(one -> one == 7), true);
        Mark[] marks = new Mark[turn];
        Arrays.fill(marks, new Mark(true, Color.GREEN, 3));
        same(victim.weigh(marks), 6L * turn);
        int got = victim.marks(marks);
        same(got, Math.min(turn, 3));
        same(Arrays.stream(marks).limit(got).allMatch(mark -> mark.equals(new Mark(true, Color.GREEN, 5))), true);
        same(victim.all(), new Mark[] {
            new Mark(true, Color.BLUE, 2), new Mark(true, Color.BLUE, 2), new Mark(true, Color.BLUE, 2), new Mark(true, Color.BLUE, 2)
        });
        same(victim.grid(2, 3, new short[] {1, 2, 3, 4, 5, (short) turn}), 15L + turn);
        long[] squares = new long[turn];
        same(victim.squares(MemorySegment.ofArray(squares)), turn);
        same(turn == 0 || squares[turn - 1] == (turn - 1L) * (turn - 1), true);
        short[] to = new short[3];
        victim.copy(MemorySegment.ofArray(new short[] {1, -1, (short) turn}), MemorySegment.ofArray(to));
        same(to, new short[] {1, -1, (short) turn});
        shared(victim, turn);
    }

    /**
     * Passes arrays in shared memory: by reference to a server in Java, and as copies to other
     * servers.
     */
    private static void shared(IVictim victim, int turn) {
        try (SharedMemory shared = Obvia.share(10_000 + turn, SharedMemory.Access.WRITE)) {
            MemorySegment memory = shared.memory();
            MemorySegment bytes = memory.asSlice(turn, 4);
            MemorySegment.copy(new byte[] {1, 2, 2, 3}, 0, bytes, ValueLayout.JAVA_BYTE, 0, 4);
            same(victim.look(bytes), 3);
            victim.stain(bytes);
            same(bytes.toArray(ValueLayout.JAVA_BYTE), new byte[] {(byte) 0xee, (byte) 0xee, (byte) 0xee, (byte) 0xee});
            MemorySegment words = memory.asSlice(1024, 4 * turn);
            for (int i = 0; i < turn; i++) {
                words.setAtIndex(ValueLayout.JAVA_INT, i, i + turn);
            }
            victim.double_(words);
            same(victim.total(words), (long) turn * (3 * turn - 1));
            MemorySegment squares = memory.asSlice(2048, 8L * turn);
            same(victim.squares(squares), turn);
            same(turn == 0 || squares.getAtIndex(ValueLayout.JAVA_LONG, turn - 1) == (turn - 1L) * (turn - 1), true);
            victim.copy(words, memory.asSlice(4096, words.byteSize()));
            same(memory.asSlice(4096, words.byteSize()).mismatch(words), -1L);
            fails(Hresult.E_INVALIDARG, () -> victim.stain(memory.asReadOnly()));
            fails(Hresult.E_INVALIDARG, () -> victim.total(memory.asSlice(0, 3)));
        }
    }

    private static void objects(IVictim victim, int turn) {
        IThing thing = victim.make(turn);
        same(thing.number(), turn);
        IPair pair = Obvia.as(thing, IPair.class);
        same(pair.first(), (long) turn);
        same(pair.second(), turn + 1L);
        same(pair.swap(1, 2), new IPair.SwapResult(2, 1));
        same(pair.title(), "thing " + turn);
        same(victim.visit(thing), turn);
        // The server calls back an object of this process.
        same(victim.visit(new Things(turn + 5)), turn + 5);
    }

    private static void failures(IVictim victim) {
        fails(Hresult.E_POINTER, () -> victim.visit(null));
        fails(Hresult.E_INVALIDARG, () -> victim.digit(10));
        fails(Hresult.E_INVALIDARG, () -> victim.grid(2, 2, new short[5]));
        fails(Hresult.E_INVALIDARG, () -> victim.grid(-1, -1, new short[5]));
        fails(Hresult.E_INVALIDARG, () -> victim.shout("a\0b"));
        fails(Hresult.E_INVALIDARG, () -> victim.shout("\ud83d"));
        // The failing calls outnumber the connections for virtual threads.
        for (int i = 0; i < 100; i++) {
            missing(() -> victim.shout(null));
            missing(() -> victim.sum(null));
            missing(() -> victim.fill(null));
            missing(() -> victim.mix(null));
            missing(() -> victim.weigh(new Mark[1]));
        }
    }

    /**
     * Checks the error information of failed methods. Servers in C and C++ have only a
     * description.
     */
    private static void words(IVictim victim) {
        RpcException nobody = failure(() -> victim.visit(null));
        System.out.println(nobody.description() + " (" + nobody.source() + ", " + nobody.helpFile() + " " + nobody.helpContext() + ")");
        // The server calls this lambda, and gets the text of its exception, because the server is a
        // process of the same user.
        Obvia.setExceptionTexts(true);
        RpcException stuck = failure(() -> victim.visit(() -> {
            throw new IllegalStateException("it sticks");
        }));
        same(stuck.getMessage(), "the method threw java.lang.IllegalStateException: it sticks");
        same(Hresult.text(stuck.result()), Hresult.text(Hresult.RPC_E_SERVERFAULT));
        RpcException silent = failure(() -> victim.visit(() -> {
            throw new RpcException(Hresult.E_ACCESSDENIED);
        }));
        same(silent.description(), null);
        same(silent.getMessage(), "the call failed with 0x80070005");
    }

    private static RpcException failure(Runnable call) {
        try {
            call.run();
        } catch (RpcException e) {
            return e;
        }
        throw new AssertionError("a call went well that must fail");
    }

    private static void fails(int result, Runnable call) {
        try {
            call.run();
        } catch (RpcException e) {
            same(Hresult.text(e.result()), Hresult.text(result));
            return;
        }
        throw new AssertionError("a call went well that must fail with " + Hresult.text(result));
    }

    private static void missing(Runnable call) {
        try {
            call.run();
        } catch (NullPointerException e) {
            return;
        }
        throw new AssertionError("a call went well without an argument");
    }
}
