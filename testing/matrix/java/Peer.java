package matrix;

import deep.IPeer;

/** Answers with a multiple of the value. */
record Peer(int factor) implements IPeer {
    @Override
    public int twice(int value) {
        return value * factor;
    }

    /** An object is itself alone. */
    @Override
    public boolean equals(Object other) {
        return this == other;
    }

    @Override
    public int hashCode() {
        return System.identityHashCode(this);
    }
}
