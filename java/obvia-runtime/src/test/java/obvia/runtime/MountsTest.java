package obvia.runtime;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The kernel's list of mounts. */
class MountsTest {
    private static final String LIST = """
            27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
            30 27 0:40 / /data/a\\040b rw,relatime shared:7 - fuse.sshfs host: rw,user_id=0
            31 27 0:41 / /host rw,relatime - virtiofs host rw
            32 27 0:42 / /auto rw,relatime - autofs map rw
            33 32 0:43 / /auto rw,relatime shared:8 master:2 - fuse program rw
            34 33 0:44 / /auto/plain rw,relatime - tmpfs tmpfs rw
            35 27 0:45 / /control rw,relatime - fusectl fusectl rw
            36 27 0:46 / /disk rw,relatime - fuseblk /dev/sdb1 rw
            37 36 0:47 / /disk rw,relatime - tmpfs tmpfs rw
            """;

    private static boolean isInUserSpace(String path) {
        return Mounts.isInUserSpace(LIST, path);
    }

    @Test
    void theInnermostMountCounts() {
        assertTrue(isInUserSpace("/data/a b/names") && isInUserSpace("/data/a b"));
        assertFalse(isInUserSpace("/data/a") || isInUserSpace("/data/a bc") || isInUserSpace("/"));
        assertTrue(isInUserSpace("/auto/names"), "the last mount of several");
        assertFalse(isInUserSpace("/auto/plain/names"));
        assertFalse(isInUserSpace("/disk/names"), "the last mount of several");
    }

    @Test
    void otherTypesAreTheKernels() {
        assertFalse(isInUserSpace("/host/names") || isInUserSpace("/control"));
    }

    @Test
    void pathsWithoutAMountAreNotInUserSpace() {
        assertFalse(Mounts.isInUserSpace("", "/names"));
        assertFalse(Mounts.isInUserSpace("nonsense\n30 27 0:40 / /names\n - fuse\n", "/names"));
        assertFalse(Mounts.isInUserSpace("30 27 0:40 / /data rw - fuse program rw\n", "/names"));
        assertFalse(Mounts.isInUserSpace(Path.of("/proc/self")));
    }
}
