package obvia.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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

    /** The list of a container without privileges. */
    private static final String CONTAINER = """
            690 612 0:55 / / rw,nodev,relatime - fuse.fuse-overlayfs fuse-overlayfs rw,user_id=0,group_id=0
            691 690 0:58 / /proc rw,nosuid - proc proc rw
            692 690 0:59 / /mnt rw,relatime - fuse.sshfs host: rw,user_id=0
            """;

    @TempDir
    private Path folder;

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

    @Test
    void theRootOfAContainerIsAsGoodAsTheKernels() {
        assertFalse(Mounts.isInUserSpace(CONTAINER, "/tmp/names") || Mounts.isInUserSpace(CONTAINER, "/"));
        assertTrue(Mounts.isInUserSpace(CONTAINER, "/mnt/names"));
        assertTrue(Mounts.isReachedAtOnce(CONTAINER, "/tmp/names"));
        assertFalse(Mounts.isReachedAtOnce(CONTAINER, "/mnt/names"));
    }

    @Test
    void everyMountOnTheWayHasToAnswerAtOnce() {
        for (String path : new String[] {"/", "/names", "/data/a", "/data/a bc", "/automatic"}) {
            assertTrue(Mounts.isReachedAtOnce(LIST, path), path);
        }
        for (String path : new String[] {"/data/a b", "/data/a b/names", "/host/names", "/auto/names", "/auto/plain/names", "/disk/names"}) {
            assertFalse(Mounts.isReachedAtOnce(LIST, path), path);
        }
    }

    @Test
    void pathsOfUnknownMeaningAreNotTakenForGood() {
        assertFalse(Mounts.isReachedAtOnce(LIST, "names") || Mounts.isReachedAtOnce(LIST, "/x/../data/a b") || Mounts.isReachedAtOnce(LIST, "/x/.."));
        assertFalse(Mounts.isReachedAtOnce("", "/names"));
        assertFalse(Mounts.isReachedAtOnce("30 27 0:40 / /tmp rw - tmpfs tmpfs rw", "/tmp/names"));
    }

    @Test
    void onlyFixedFoldersThatAreThereAreReachedAtOnce() throws IOException {
        int user = Lock.user();
        Path real = folder.toRealPath();
        // Where the folder for temporary files may not answer, or others can replace it, no path below it is.
        boolean isLocal = Mounts.isReachedAtOnce(Files.readString(Path.of("/proc/self/mountinfo")), real.toString());
        for (Path above = real.getParent(); above != null; above = above.getParent()) {
            int owner = (Integer) Files.getAttribute(above, "unix:uid");
            int mode = (Integer) Files.getAttribute(above, "unix:mode");
            isLocal &= (owner == 0 || owner == user) && ((mode & 0022) == 0 || (mode & 01000) != 0);
        }
        Path names = Files.createDirectory(real.resolve("names"), PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        Files.createSymbolicLink(real.resolve("link"), names);
        assertEquals(isLocal, Mounts.isReachedAtOnce(names, user));
        for (String other : new String[] {"link", "link/.", "link/names", "missing"}) {
            assertFalse(Mounts.isReachedAtOnce(real.resolve(other), user), other);
        }
        Path below = Files.createDirectory(names.resolve("below"));
        assertEquals(isLocal, Mounts.isReachedAtOnce(below, user));
        Files.setPosixFilePermissions(names, PosixFilePermissions.fromString("rwxrwxrwx"));
        assertFalse(Mounts.isReachedAtOnce(below, user), "others can put another folder there");
    }
}
