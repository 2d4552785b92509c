package obvia.runtime.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import obvia.runtime.shm.OwnRegion;
import obvia.runtime.shm.Regions;
import org.junit.jupiter.api.Test;

class OfferedRegionsTest {
    @Test
    void aRegionInTheNumberOfAnotherIsNotMapped() {
        List<OwnRegion> regions = new ArrayList<>();
        try {
            OfferedRegions offered = new OfferedRegions();
            List<Integer> ended = new ArrayList<>();
            for (int number = 1; number <= Regions.MOST; number++) {
                regions.add(OwnRegion.make(4096, false));
                assertEquals(number, offered.add(regions.getLast(), ended));
                offered.setMapped(number);
                assertEquals(number, offered.number(regions.getLast()));
            }
            // The answer to the offer of this region never arrives.
            regions.add(OwnRegion.make(4096, false));
            assertEquals(1, offered.add(regions.getLast(), ended));
            assertEquals(List.of(1), ended);
            assertEquals(OfferedRegions.UNKNOWN, offered.number(regions.getFirst()));
            assertEquals(0, offered.number(regions.getLast()));
        } finally {
            regions.forEach(OwnRegion::close);
        }
    }
}
