package obvia.runtime.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Path;
import obvia.Hresult;
import obvia.RpcException;
import org.junit.jupiter.api.Test;

/** Tests the limit of the address space for the regions of a connection. */
class RegionLimitsTest {
    private static int refusal(Regions regions, long length) {
        var announced = new AnnouncedFiles.AnnouncedFile(1, AnnouncedFiles.READ, length, Path.of("/proc/self/fd/1000000"), false, 0);
        return assertThrows(RpcException.class, () -> regions.admit(1, announced)).result();
    }

    @Test
    void aRegionBeyondTheShareOfItsConnectionIsRefusedUnopened() {
        Regions regions = new Regions();
        assertEquals(Hresult.E_OUTOFMEMORY, refusal(regions, Regions.CONNECTION_MAX + 1));
        // The file of a region within the limit is opened. Opening it fails, because the file does
        // not exist.
        assertEquals(Hresult.E_FAIL, refusal(regions, Regions.CONNECTION_MAX));
    }
}
