package obvia.runtime.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import obvia.Hresult;
import obvia.RpcException;
import org.junit.jupiter.api.Test;

/** Tests the limits of the address space, and of the mappings, for the regions of connections. */
class RegionLimitsTest {
    private static int refusal(Regions regions, long length) {
        var announced = new AnnouncedFiles.AnnouncedFile(1, AnnouncedFiles.READ, length, Path.of("/proc/self/fd/1000000"), false, 0);
        return assertThrows(RpcException.class, () -> regions.admit(1, announced)).result();
    }

    @Test
    void aRegionBeyondTheShareOfItsConnectionIsRefusedUnopened() {
        Regions regions = new Regions();
        assertEquals(Hresult.E_OUTOFMEMORY, refusal(regions, Regions.CONNECTION_MAX + 1));
        // The file of a region within the limit is opened. The opening fails, because the file does
        // not exist.
        assertEquals(Hresult.E_FAIL, refusal(regions, Regions.CONNECTION_MAX));
    }

    /** The kernel limits the mappings of a process, and a virtual machine without mappings ends. */
    @Test
    void theRegionsOfAllConnectionsShareTheMappings() throws Exception {
        var mappings = new Mappings(2, "a test's regions");
        var one = new Regions(mappings);
        var other = new Regions(mappings);
        try (UnlinkedFile file = UnlinkedFile.of(4096)) {
            var announced = new AnnouncedFiles.AnnouncedFile(1, AnnouncedFiles.READ, 4096, file.path(), false, 0);
            one.admit(1, announced);
            one.admit(2, announced);
            RpcException refused = assertThrows(RpcException.class, () -> other.admit(1, announced));
            assertEquals(Hresult.E_OUTOFMEMORY, refused.result());
            assertTrue(refused.getMessage().contains("vm.max_map_count"), refused.getMessage());
            one.forget(1);
            other.admit(1, announced);
            one.close();
            other.admit(2, announced);
            assertThrows(RpcException.class, () -> one.admit(1, announced));
            other.close();
            // A file that cannot be mapped takes no mapping.
            for (int i = 0; i < 3; i++) {
                assertEquals(Hresult.E_FAIL, refusal(one, 4096));
            }
            one.admit(1, announced);
            one.admit(2, announced);
            one.close();
        }
    }
}
