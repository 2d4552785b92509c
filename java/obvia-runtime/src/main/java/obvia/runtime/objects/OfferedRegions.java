package obvia.runtime.objects;

import java.util.ArrayList;
import java.util.List;
import obvia.runtime.shm.OwnRegion;
import obvia.runtime.shm.Regions;

/** The memory regions of this process that were offered to a channel's peer. */
final class OfferedRegions {
    /** The number of a region that was not offered. */
    static final int UNKNOWN = -1;

    private final List<Entry> entries = new ArrayList<>();
    private long uses;

    /** A region that the peer has mapped or refused; {@code null} marks a free number. */
    private static final class Entry {
        private OwnRegion region;
        private boolean isMapped;
        private long used;
    }

    /**
     * Returns the peer's number of a region; 0 if the peer has refused it, {@link #UNKNOWN} if it
     * was not offered.
     */
    int number(OwnRegion region) {
        uses++;
        for (int i = 0; i < entries.size(); i++) {
            Entry entry = entries.get(i);
            if (entry.region == region) {
                entry.used = uses;
                return entry.isMapped ? i + 1 : 0;
            }
        }
        return UNKNOWN;
    }

    /**
     * Takes a number for a region that is about to be offered.
     *
     * @param ended the list to which this method adds the numbers of regions that have ended or are
     *     replaced
     */
    int add(OwnRegion region, List<Integer> ended) {
        addEnded(ended);
        int number = free(ended);
        Entry entry = entries.get(number - 1);
        entry.region = region;
        entry.used = uses;
        entry.isMapped = false;
        return number;
    }

    /** Notes that the peer has mapped the region with this number. */
    void setMapped(int number) {
        entries.get(number - 1).isMapped = true;
    }

    /** Frees the numbers of regions that have ended, and adds them to the list. */
    private void addEnded(List<Integer> ended) {
        for (int i = 0; i < entries.size(); i++) {
            Entry entry = entries.get(i);
            if (entry.region != null && entry.region.hasEnded()) {
                entry.region = null;
                ended.add(i + 1);
            }
        }
    }

    /**
     * Returns a free number. If no number is free, returns the number of the least recently used
     * region. The present call does not refer to that region.
     */
    private int free(List<Integer> ended) {
        int oldest = -1;
        for (int i = 0; i < entries.size(); i++) {
            Entry entry = entries.get(i);
            if (entry.region == null) {
                return i + 1;
            }
            if (oldest < 0 || entry.used < entries.get(oldest).used) {
                oldest = i;
            }
        }
        if (entries.size() < Regions.MOST) {
            entries.add(new Entry());
            return entries.size();
        }
        ended.add(oldest + 1);
        return oldest + 1;
    }
}
