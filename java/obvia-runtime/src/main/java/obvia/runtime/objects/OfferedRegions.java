package obvia.runtime.objects;

import java.util.ArrayList;
import java.util.List;
import obvia.runtime.shm.OwnRegion;
import obvia.runtime.shm.Regions;

/** The memory regions of this process that a channel's peer has been offered. */
final class OfferedRegions {
    private static final int SUCCESS = 0;

    private final List<Entry> entries = new ArrayList<>();
    private long uses;

    /** A region that the peer has mapped or refused; {@code null} marks a free number. */
    private static final class Entry {
        private OwnRegion region;
        private boolean isMapped;
        private long used;
    }

    /**
     * Returns the peer's number of a region and offers the region if necessary; 0 if the peer
     * refuses it.
     */
    int number(WindowChannel channel, OwnRegion region) {
        uses++;
        for (int i = 0; i < entries.size(); i++) {
            Entry entry = entries.get(i);
            if (entry.region == region) {
                entry.used = uses;
                return entry.isMapped ? i + 1 : 0;
            }
        }
        List<Integer> ended = takeEnded();
        int number = free(ended);
        Entry entry = entries.get(number - 1);
        entry.region = region;
        entry.used = uses;
        entry.isMapped = channel.offer(number, region, ended) == SUCCESS;
        return entry.isMapped ? number : 0;
    }

    /** Frees the numbers of regions that have ended. */
    private List<Integer> takeEnded() {
        List<Integer> ended = new ArrayList<>();
        for (int i = 0; i < entries.size(); i++) {
            Entry entry = entries.get(i);
            if (entry.region != null && entry.region.hasEnded()) {
                entry.region = null;
                ended.add(i + 1);
            }
        }
        return ended;
    }

    /**
     * Returns a free number. If there is none, returns the number of the least recently used
     * region, to which the present call never refers.
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
