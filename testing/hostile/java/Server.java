package peer;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Locale;
import obvia.Hresult;
import obvia.Obvia;
import obvia.RpcException;
import victim.Color;
import victim.IThing;
import victim.IVictim;
import victim.Mark;

/**
 * Exports the same object as the server in Rust, by a name and at a string binding for networks.
 * Serves until the standard input ends.
 */
final class Server implements IVictim {
    // The layouts of array elements: little-endian and without alignment, as in other languages'
    // memory.
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);

    private Server() {}

    public static void main(String[] arguments) throws Exception {
        Obvia.setExceptionTexts(true);
        try (var _ = Obvia.export(new Server(), IVictim.class, arguments[0])) {
            System.out.println(arguments.length > 1 ? "ready " + Obvia.listen(arguments[1]) : "ready");
            System.in.readAllBytes();
        }
        // Threads still serve the connections that clients have not closed.
        System.exit(0);
    }

    private static long weight(Mark... marks) {
        return Arrays.stream(marks).filter(Mark::set).mapToLong(mark -> mark.weight() * mark.color().value()).sum();
    }

    @Override
    public int add(int a, int b) {
        return a + b;
    }

    @Override
    public long sum(int[] values) {
        return Arrays.stream(values).asLongStream().sum();
    }

    @Override
    public void reverse(int[] values) {
        for (int i = 0; i < values.length / 2; i++) {
            int other = values[values.length - 1 - i];
            values[values.length - 1 - i] = values[i];
            values[i] = other;
        }
    }

    @Override
    public void fill(int[] values) {
        Arrays.fill(values, 7);
    }

    @Override
    public boolean flip(boolean value) {
        return !value;
    }

    @Override
    public Color mix(Color color) {
        return color;
    }

    @Override
    public String shout(String text) {
        return text.toUpperCase(Locale.ROOT);
    }

    @Override
    public int measure(String text) {
        return text.length();
    }

    @Override
    public int digit(int digit) {
        return digit;
    }

    @Override
    public long weigh(Mark[] marks) {
        return weight(marks);
    }

    @Override
    public long maybe(Mark mark) {
        return mark == null ? -1 : weight(mark);
    }

    @Override
    public int visit(IThing thing) {
        if (thing == null) {
            throw new RpcException(Hresult.E_POINTER, "there is nothing to visit").withSource("victim").withHelp("victim.chm", 7);
        }
        return thing.number();
    }

    @Override
    public IThing make(int number) {
        if (number < 0) {
            throw new IllegalArgumentException("a thing has a number from 0 on");
        }
        return new Things(number);
    }

    @Override
    public long grid(int width, int height, short[] cells) {
        long sum = 0;
        for (short cell : cells) {
            sum += cell;
        }
        return sum;
    }

    @Override
    public int marks(Mark[] marks) {
        int count = Math.min(marks.length, 3);
        Arrays.fill(marks, 0, count, new Mark(true, Color.GREEN, 5));
        return count;
    }

    @Override
    public Mark[] all() {
        Mark[] marks = new Mark[4];
        Arrays.fill(marks, new Mark(true, Color.BLUE, 2));
        return marks;
    }

    @Override
    public void hint(int code) {}

    @Override
    public long total(MemorySegment values) {
        long total = 0;
        for (long i = 0; i < values.byteSize() / 4; i++) {
            total += values.getAtIndex(INT, i);
        }
        return total;
    }

    @Override
    public void double_(MemorySegment values) {
        for (long i = 0; i < values.byteSize() / 4; i++) {
            values.setAtIndex(INT, i, values.getAtIndex(INT, i) * 2);
        }
    }

    @Override
    public int squares(MemorySegment values) {
        int count = (int) Math.min(values.byteSize() / 8, 100);
        for (int i = 0; i < count; i++) {
            values.setAtIndex(LONG, i, (long) i * i);
        }
        return count;
    }

    @Override
    public void copy(MemorySegment from, MemorySegment to) {
        to.copyFrom(from);
    }

    @Override
    public int look(MemorySegment bytes) {
        boolean[] seen = new boolean[256];
        int different = 0;
        for (long i = 0; i < bytes.byteSize(); i++) {
            int one = bytes.get(ValueLayout.JAVA_BYTE, i) & 0xff;
            different += seen[one] ? 0 : 1;
            seen[one] = true;
        }
        return different;
    }

    @Override
    public void stain(MemorySegment bytes) {
        bytes.fill((byte) 0xee);
    }
}
