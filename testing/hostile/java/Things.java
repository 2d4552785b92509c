package peer;

import victim.IPair;
import victim.IThing;

/** An object with the interfaces of things and of pairs. */
record Things(int value) implements IThing, IPair {
    @Override
    public int number() {
        return value;
    }

    @Override
    public long first() {
        return value;
    }

    @Override
    public long second() {
        return value + 1L;
    }

    @Override
    public SwapResult swap(long first, long second) {
        return new SwapResult(second, first);
    }

    @Override
    public String title() {
        return "thing " + value;
    }
}
