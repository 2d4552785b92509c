package obvia.runtime;

import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The kernel's list of this process's mounts, which the kernel writes without asking the file systems. */
final class Mounts {
    private static final Path LIST = Path.of("/proc/self/mountinfo");
    /** A space, line break or backslash in a path, as the list spells them. */
    private static final Pattern ESCAPE = Pattern.compile("\\\\([0-7]{3})");
    /** The field that has the mount point. */
    private static final int POINT = 4;
    /** The types of local file systems that the kernel itself implements. They always answer. */
    private static final Set<String> LOCAL = Set.of("bcachefs", "btrfs", "erofs", "ext2", "ext3", "ext4", "f2fs", "overlay", "ramfs", "tmpfs", "xfs", "zfs");
    private static final int OTHERS_WRITE = 0022;
    private static final int STICKY = 01000;

    private Mounts() {}

    /** A mount: where it is, and the type of its file system. */
    private record Mount(String point, String type) {
        private static Stream<Mount> of(String line) {
            int end = line.indexOf(" - ");
            String[] fields = line.split(" ");
            if (end < 0 || fields.length <= POINT) {
                return Stream.empty();
            }
            String point = ESCAPE.matcher(fields[POINT]).replaceAll(found -> escaped(found.group(1)));
            return Stream.of(new Mount(point, line.substring(end + 3).split(" ", 2)[0]));
        }

        private static String escaped(String octal) {
            return Matcher.quoteReplacement(String.valueOf((char) Integer.parseInt(octal, 8)));
        }

        private boolean has(String path) {
            return isRoot() || path.equals(point) || path.startsWith(point + "/");
        }

        /**
         * Whether the mount is the root of this process. Its program and libraries come from there, so this process trusts and awaits that file system anyway. Containers without privileges have
         * fuse-overlayfs there.
         */
        private boolean isRoot() {
            return point.equals("/");
        }

        private boolean isInUserSpace() {
            return type.equals("fuse") || type.equals("fuseblk") || type.startsWith("fuse.");
        }
    }

    /**
     * Whether the file system of a path is a program (FUSE), and not this process's root. Paths that the kernel shows no mount for are on none.
     *
     * @param path a path without links
     */
    static boolean isInUserSpace(Path path) {
        return isInUserSpace(list(), path.toString());
    }

    /** The same by a list. Of several mounts at one point the last one is on top. */
    static boolean isInUserSpace(String list, String path) {
        Stream<Mount> mounts = list.lines().flatMap(Mount::of).filter(mount -> mount.has(path));
        return mounts.reduce((best, next) -> next.point.length() >= best.point.length() ? next : best).filter(mount -> mount.isInUserSpace() && !mount.isRoot()).isPresent();
    }

    /**
     * Whether a folder is there, and all file systems on the way to it, and its own, answer at once. Links may lead anywhere, and so does a path that other users can change.
     *
     * @param path an absolute path
     * @param user this process's user
     */
    static boolean isReachedAtOnce(Path path, int user) {
        if (!isReachedAtOnce(list(), path.toString())) {
            return false;
        }
        try {
            for (Path folder = path; folder != null; folder = folder.getParent()) {
                Map<String, Object> found = Files.readAttributes(folder, "unix:isDirectory,mode,uid", LinkOption.NOFOLLOW_LINKS);
                int mode = (Integer) found.get("mode");
                int owner = (Integer) found.get("uid");
                boolean isFixed = (owner == user || owner == 0) && ((mode & OTHERS_WRITE) == 0 || (mode & STICKY) != 0);
                if (!(Boolean) found.get("isDirectory") || !isFixed) {
                    return false;
                }
            }
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /** The part that a list decides. Of several mounts at one point, each counts. */
    static boolean isReachedAtOnce(String list, String path) {
        List<Mount> mounts = list.lines().flatMap(Mount::of).filter(mount -> mount.has(path)).toList();
        boolean isPlain = path.startsWith("/") && !(path + "/").contains("/../");
        // The list shows no mount for the files of some roots, such as those of chroot(2).
        boolean isKnown = mounts.stream().anyMatch(Mount::isRoot);
        return isPlain && isKnown && mounts.stream().allMatch(mount -> mount.isRoot() || LOCAL.contains(mount.type));
    }

    private static String list() {
        try {
            return new String(Files.readAllBytes(LIST), Charset.defaultCharset());
        } catch (IOException e) {
            return "";
        }
    }
}
