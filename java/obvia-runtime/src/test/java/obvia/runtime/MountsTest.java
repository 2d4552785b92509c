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
        return isInUserSpace(LIST, path);
    }

    private static boolean isInUserSpace(String list, String path) {
        return Mounts.of(list).isInUserSpace(Path.of(path));
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
    void aLaterMountHidesThoseBelowIt() {
        String root = "27 1 254:0 / / rw - ext4 /dev/vda rw\n";
        String cache = "28 27 0:40 / /data/u/.cache rw - tmpfs tmpfs rw\n";
        String user = "29 27 0:41 / /data/u rw - fuse.sshfs host: rw\n";
        String hidden = "30 28 0:42 / /data/u/.cache/a rw - tmpfs tmpfs rw\n";
        String path = "/data/u/.cache/a/names";
        assertTrue(isInUserSpace(root + cache + hidden + user, path));
        // Numbers are used again, so they say nothing of the order.
        assertTrue(isInUserSpace(user + root + hidden + cache, path));
        String shown = "31 29 0:43 / /data/u/.cache rw - tmpfs tmpfs rw\n";
        assertFalse(isInUserSpace(root + cache + hidden + user + shown, path), "a mount on the one that hides");
        assertFalse(isInUserSpace(root + "32 27 0:44 / / rw - fuse program rw\n", "/names"), "a lookup begins below it");
    }

    @Test
    void aRootThatIsNoMountIsNotListed() {
        String list = "40 12 0:40 / /proc rw - proc proc rw\n41 12 0:41 / /data rw - fuse program rw\n42 41 0:42 / /data/plain rw - tmpfs tmpfs rw\n";
        assertTrue(isInUserSpace(list, "/data/names"));
        assertFalse(isInUserSpace(list, "/data/plain/names") || isInUserSpace(list, "/names"));
    }

    @Test
    void aCircleEnds() {
        assertTrue(isInUserSpace("1 1 0:1 / / rw - rootfs rootfs rw\n2 1 0:2 / /a rw - tmpfs tmpfs rw\n3 2 0:3 / /a rw - fuse program rw\n2 3 0:2 / /a rw - tmpfs tmpfs rw\n", "/a"));
    }

    @Test
    void memoryIsFoundByItsDevice() {
        Mounts mounts = Mounts.of(LIST);
        assertTrue(mounts.hasMemory(new Device(0, 44)));
        assertFalse(mounts.hasMemory(new Device(0, 40)) || mounts.hasMemory(new Device(44, 0)));
    }

    @Test
    void otherTypesAreTheKernels() {
        assertFalse(isInUserSpace("/host/names") || isInUserSpace("/control"));
    }

    @Test
    void pathsWithoutAMountAreNotInUserSpace() {
        assertFalse(isInUserSpace("", "/names"));
        assertFalse(isInUserSpace("nonsense\n30 27 0:40 / /names\n - fuse\n", "/names"));
        assertFalse(isInUserSpace("30 27 0:40 / /data rw - fuse program rw\n", "/names"));
        assertFalse(Mounts.own().isInUserSpace(Path.of("/proc/self")));
    }
}
