package matrix;

import deep.IPeer;

/** An object that multiplies by its factor. */
record Peer(int factor) implements IPeer {
    @Override
    public int twice(int value) {
        return value * factor;
    }

    /** Objects are compared by identity. */
    @Override
    public boolean equals(Object other) {
        return this == other;
    }

    @Override
    public int hashCode() {
        return System.identityHashCode(this);
    }
}
