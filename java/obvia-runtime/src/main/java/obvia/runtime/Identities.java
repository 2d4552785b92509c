package obvia.runtime;

import java.util.Arrays;

/** The offsets of written objects, by the objects' identity: an open-addressing table. */
final class Identities {
    private static final int KEPT_MAX = 1 << 16;

    private Object[] keys = new Object[32];

    /** The offsets; negative for objects with an exclusive pointer. */
    private int[] places = new int[32];

    private int count;

    /**
     * Returns the offset of an object; negative if its pointer is exclusive, 0 if the object is not
     * in the table.
     */
    int find(Object key) {
        return places[slot(key)];
    }

    /**
     * Adds an object with an exclusive pointer. Returns false if the object is in the table
     * already.
     */
    boolean add(Object key, int place) {
        return put(key, -place);
    }

    /** Adds an object to which other pointers may lead. */
    void share(Object key, int place) {
        put(key, place);
    }

    void clear() {
        if (count == 0) {
            return;
        }
        count = 0;
        if (keys.length > KEPT_MAX) {
            keys = new Object[32];
            places = new int[32];
        } else {
            Arrays.fill(keys, null);
            Arrays.fill(places, 0);
        }
    }

    private boolean put(Object key, int place) {
        int slot = slot(key);
        if (keys[slot] != null) {
            return false;
        }
        keys[slot] = key;
        places[slot] = place;
        if (++count * 2 > keys.length) {
            grow();
        }
        return true;
    }

    private void grow() {
        Object[] oldKeys = keys;
        int[] oldPlaces = places;
        keys = new Object[2 * oldKeys.length];
        places = new int[keys.length];
        for (int i = 0; i < oldKeys.length; i++) {
            if (oldKeys[i] != null) {
                int slot = slot(oldKeys[i]);
                keys[slot] = oldKeys[i];
                places[slot] = oldPlaces[i];
            }
        }
    }

    /** Returns the slot of a key, or the free slot for the key. */
    private int slot(Object key) {
        int mask = keys.length - 1;
        int hash = key instanceof GraphView view ? view.identity() : System.identityHashCode(key);
        for (int slot = hash * 0x9e3779b9 >>> 7 & mask; ; slot = slot + 1 & mask) {
            Object found = keys[slot];
            if (found == null || found == key || key instanceof GraphView view && view.isSame(found)) {
                return slot;
            }
        }
    }
}
