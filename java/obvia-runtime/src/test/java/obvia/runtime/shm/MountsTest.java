package obvia.runtime.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the kernel's list of mounts. */
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
        return isInUserSpace(LIST, path);
    }

    private static boolean isInUserSpace(String list, String path) {
        return Mounts.of(list).isInUserSpace(Path.of(path));
    }

    private static boolean isReachedAtOnce(String list, String path) {
        return Mounts.of(list).isReachedAtOnce(path);
    }

    /** The implementations in other languages have the same list. */
    @Test
    void rustAndJavaHaveTheSameLocalFileSystems() throws IOException {
        assertEquals(Set.of(Files.readString(Path.of("../../testing/vectors/mounts/local.txt")).strip().split(" ")), Mounts.LOCAL);
    }

    @Test
    void theInnermostMountDecides() {
        assertTrue(isInUserSpace("/data/a b/names") && isInUserSpace("/data/a b"));
        assertFalse(isInUserSpace("/data/a") || isInUserSpace("/data/a bc") || isInUserSpace("/"));
        assertTrue(isInUserSpace("/auto/names"), "the last mount of several");
        assertFalse(isInUserSpace("/auto/plain/names"));
        assertFalse(isInUserSpace("/disk/names"), "the last mount of several");
    }

    @Test
    void laterMountsHideTheMountsBelowThem() {
        String root = "27 1 254:0 / / rw - ext4 /dev/vda rw\n";
        String cache = "28 27 0:40 / /data/u/.cache rw - tmpfs tmpfs rw\n";
        String user = "29 27 0:41 / /data/u rw - fuse.sshfs host: rw\n";
        String hidden = "30 28 0:42 / /data/u/.cache/a rw - tmpfs tmpfs rw\n";
        String path = "/data/u/.cache/a/names";
        assertTrue(isInUserSpace(root + cache + hidden + user, path));
        // The kernel reuses the numbers of mounts, so they do not show the order.
        assertTrue(isInUserSpace(user + root + hidden + cache, path));
        String shown = "31 29 0:43 / /data/u/.cache rw - tmpfs tmpfs rw\n";
        assertFalse(isInUserSpace(root + cache + hidden + user + shown, path), "a mount on the one that hides");
        assertFalse(isInUserSpace(root + "32 27 0:44 / / rw - fuse program rw\n", "/names"), "a lookup begins below it");
    }

    @Test
    void mountListsWithoutARootAreRead() {
        String list = "40 12 0:40 / /proc rw - proc proc rw\n41 12 0:41 / /data rw - fuse program rw\n42 41 0:42 / /data/plain rw - tmpfs tmpfs rw\n";
        assertTrue(isInUserSpace(list, "/data/names"));
        assertFalse(isInUserSpace(list, "/data/plain/names") || isInUserSpace(list, "/names"));
    }

    @Test
    void circularMountListsAreRead() {
        assertTrue(isInUserSpace("1 1 0:1 / / rw - rootfs rootfs rw\n2 1 0:2 / /a rw - tmpfs tmpfs rw\n3 2 0:3 / /a rw - fuse program rw\n2 3 0:2 / /a rw - tmpfs tmpfs rw\n", "/a"));
    }

    @Test
    void memoryFileSystemsAreFoundByTheirDevice() {
        assertTrue(hasMemory(LIST, new Device(0, 44), LIST.length()));
        assertFalse(hasMemory(LIST, new Device(0, 40), LIST.length()) || hasMemory(LIST, new Device(44, 0), LIST.length()));
    }

    private static boolean hasMemory(String list, Device device, long lengthMax) {
        return Mounts.hasMemory(new ByteArrayInputStream(list.getBytes(StandardCharsets.ISO_8859_1)), device, lengthMax);
    }

    /** An endless list is read line by line, up to a limit. */
    @Test
    void endlessMountListsAreReadUpToTheLimit() {
        byte[] line = "30 27 0:40 / /data/a rw - ext4 /dev/vda rw\n".getBytes(StandardCharsets.ISO_8859_1);
        var endless = new InputStream() {
            private long given;

            @Override
            public int read() {
                return line[(int) (given++ % line.length)];
            }
        };
        assertFalse(Mounts.hasMemory(endless, new Device(0, 44), 1 << 20));
        assertTrue(endless.given <= 1 << 20, endless.given + " bytes");
        int before = LIST.indexOf(" tmpfs rw");
        assertFalse(hasMemory(LIST, new Device(0, 44), before - "tmpfs".length()));
        assertTrue(hasMemory(LIST, new Device(0, 44), before + " tmpfs".length()));
    }

    @Test
    void onlyLineFeedsEndAMountLine() {
        String forged = "30 27 0:40 / /data/a\r31 27 0:41 / /b rw - tmpfs tmpfs rw";
        assertEquals(List.of(forged, "x\u0085y"), Mounts.lines(new ByteArrayInputStream((forged + "\nx\u0085y\n").getBytes(StandardCharsets.ISO_8859_1)), 1000).toList());
        assertFalse(hasMemory(forged, new Device(0, 41), 1000));
    }

    @Test
    void unlistedFileSystemTypesAreNotInUserSpace() {
        assertFalse(isInUserSpace("/host/names") || isInUserSpace("/control"));
    }

    @Test
    void pathsWithoutAMountAreNotInUserSpace() {
        assertFalse(isInUserSpace("", "/names"));
        assertFalse(isInUserSpace("nonsense\n30 27 0:40 / /names\n - fuse\n", "/names"));
        assertFalse(isInUserSpace("30 27 0:40 / /data rw - fuse program rw\n", "/names"));
        assertFalse(Mounts.own().isInUserSpace(Path.of("/proc/self")));
    }

    @Test
    void containerRootsCountAsLocalFileSystems() {
        assertFalse(isInUserSpace(CONTAINER, "/tmp/names") || isInUserSpace(CONTAINER, "/"));
        assertTrue(isInUserSpace(CONTAINER, "/mnt/names"));
        assertTrue(isReachedAtOnce(CONTAINER, "/tmp/names"));
        assertFalse(isReachedAtOnce(CONTAINER, "/mnt/names"));
    }

    @Test
    void everyMountOfAPathMustBeLocal() {
        for (String path : new String[] {"/", "/names", "/data/a", "/data/a bc", "/automatic"}) {
            assertTrue(isReachedAtOnce(LIST, path), path);
        }
        for (String path : new String[] {"/data/a b", "/data/a b/names", "/host/names", "/auto/names", "/auto/plain/names", "/disk/names"}) {
            assertFalse(isReachedAtOnce(LIST, path), path);
        }
    }

    @Test
    void ambiguousPathsAreNotTrusted() {
        assertFalse(isReachedAtOnce(LIST, "names") || isReachedAtOnce(LIST, "/x/../data/a b") || isReachedAtOnce(LIST, "/x/.."));
        assertFalse(isReachedAtOnce("", "/names"));
        assertFalse(isReachedAtOnce("30 27 0:40 / /tmp rw - tmpfs tmpfs rw", "/tmp/names"));
    }

    @Test
    void onlyExistingUnreplaceableFoldersAreReachedAtOnce() throws IOException {
        int user = Lock.user();
        Path real = folder.toRealPath();
        // The folder for temporary files can have a file system that might never answer, or other
        // users can replace the folder. Then no path below the folder counts as reached at once.
        boolean isLocal = Mounts.own().isReachedAtOnce(real.toString());
        for (Path above = real.getParent(); above != null; above = above.getParent()) {
            int owner = (Integer) Files.getAttribute(above, "unix:uid");
            int mode = (Integer) Files.getAttribute(above, "unix:mode");
            isLocal &= (owner == 0 || owner == user) && ((mode & 0022) == 0 || (mode & 01000) != 0);
        }
        Path names = Files.createDirectory(real.resolve("names"), PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        Files.createSymbolicLink(real.resolve("link"), names);
        assertEquals(isLocal, Mounts.own().isReachedAtOnce(names, user));
        for (String other : new String[] {"link", "link/.", "link/names", "missing"}) {
            assertFalse(Mounts.own().isReachedAtOnce(real.resolve(other), user), other);
        }
        Path below = Files.createDirectory(names.resolve("below"));
        assertEquals(isLocal, Mounts.own().isReachedAtOnce(below, user));
        Files.setPosixFilePermissions(names, PosixFilePermissions.fromString("rwxrwxrwx"));
        assertFalse(Mounts.own().isReachedAtOnce(below, user), "others can put another folder there");
    }
}
