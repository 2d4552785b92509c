package obvia.runtime.shm;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Scanner;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The kernel's list of a process's mounts. Reading the list does not wait for the file systems in
 * it.
 */
record Mounts(List<Mount> all) {
    private static final String LIST = "mountinfo";
    /** The list's spelling of a space, line break or backslash in a path. */
    private static final Pattern ESCAPE = Pattern.compile("\\\\([0-7]{3})");
    /** The types of local file systems that the kernel itself implements. They always answer. */
    static final Set<String> LOCAL = Set.of("bcachefs", "btrfs", "erofs", "ext2", "ext3", "ext4", "f2fs", "ramfs", "tmpfs", "xfs", "zfs");
    /** The maximum number of bytes of a peer's list that are read. */
    private static final long LIST_MAX = 8 << 20;

    private static final int OTHERS_WRITE = 0022;
    private static final int STICKY = 01000;
    /** A mount: number, parent's number, device, root, point, options, further fields, type. */
    private static final Pattern LINE = Pattern.compile("(?s)([0-9]+) ([0-9]+) ([0-9]+:[0-9]+) [^ ]+ ([^ ]+) [^ ]+ (?:[^ ]+ )*?- ([^ ]+).*");

    /**
     * A mount.
     *
     * @param parent the number of the mount that has the mount point
     * @param type the type of the file system
     */
    record Mount(int number, int parent, Device device, String point, String type) {
        private static Mount of(Matcher line) {
            String point = ESCAPE.matcher(line.group(4)).replaceAll(found -> escaped(found.group(1)));
            return new Mount(Integer.parseInt(line.group(1)), Integer.parseInt(line.group(2)), Device.of(line.group(3), 10), point, line.group(5));
        }

        private static String escaped(String octal) {
            return Matcher.quoteReplacement(String.valueOf((char) Integer.parseInt(octal, 8)));
        }

        private boolean has(String path) {
            return isRoot() || path.equals(point) || path.startsWith(point + "/");
        }

        /**
         * Whether the mount is the root of this process. The program and libraries of this process
         * come from the root, so this process has to trust that file system, and to wait for it, in
         * any case. In containers without privileges, the root is a fuse-overlayfs.
         */
        private boolean isRoot() {
            return point.equals("/");
        }

        private boolean isInUserSpace() {
            return type.equals("fuse") || type.equals("fuseblk") || type.startsWith("fuse.");
        }
    }

    /** Reads the list of a process by its folder in {@code /proc}. A hidden list is empty. */
    static Mounts of(Path process) {
        try {
            return of(new String(Files.readAllBytes(process.resolve(LIST)), Charset.defaultCharset()));
        } catch (IOException e) {
            return new Mounts(List.of());
        }
    }

    /** Reads the list of this process. */
    static Mounts own() {
        return of(Path.of("/proc/self"));
    }

    static Mounts of(String list) {
        return new Mounts(Stream.of(list.split("\n")).map(LINE::matcher).filter(Matcher::matches).map(Mount::of).toList());
    }

    /**
     * Returns the mount that contains a path. Returns {@code null} if the list has no such mount,
     * for example because a directory was made the root of this process.
     *
     * @param path a path without links
     */
    Mount holding(Path path) {
        Set<Integer> numbers = all.stream().map(Mount::number).collect(Collectors.toSet());
        List<Mount> rest = all.stream().filter(mount -> mount.has(path.toString())).toList();
        Mount found = first(rest.stream().filter(mount -> mount.parent == mount.number || !numbers.contains(mount.parent)));
        Mount next = found;
        while (next != null) {
            found = next;
            int parent = found.number;
            // Each step drops a mount, so that the search ends even if the list changed while the
            // kernel wrote it. A lookup begins below the root, so it does not see a mount on the
            // root itself.
            rest = rest.stream().filter(mount -> mount.number != parent).toList();
            next = first(rest.stream().filter(mount -> mount.parent == parent && !mount.point.equals("/")));
        }
        return found;
    }

    /**
     * Returns the mount that a lookup reaches first; {@code null} if there are no mounts. This
     * mount hides the mounts below its mount point, which are older.
     */
    private static Mount first(Stream<Mount> siblings) {
        return siblings.reduce((best, next) -> next.point.length() <= best.point.length() ? next : best).orElse(null);
    }

    /**
     * Whether the file system of a path is a program (FUSE), and not this process's root. False for
     * a path without a listed mount.
     *
     * @param path a path without links
     */
    boolean isInUserSpace(Path path) {
        Mount mount = holding(path);
        return mount != null && mount.isInUserSpace() && !mount.isRoot();
    }

    /**
     * Whether a folder exists, and its own file system and all file systems on the way to it answer
     * at once. False for a path with links, or a path that other users can change: such a path may
     * lead anywhere.
     *
     * @param path an absolute path
     * @param user this process's user
     */
    boolean isReachedAtOnce(Path path, int user) {
        if (!isReachedAtOnce(path.toString())) {
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

    /**
     * Performs the part of the check that needs only the list of mounts. If several mounts have one
     * mount point, all must be local, not only the topmost.
     */
    boolean isReachedAtOnce(String path) {
        List<Mount> mounts = all.stream().filter(mount -> mount.has(path)).toList();
        boolean isPlain = path.startsWith("/") && !(path + "/").contains("/../");
        // The list shows no mount for the files of some roots, such as those of chroot(2).
        boolean isKnown = mounts.stream().anyMatch(Mount::isRoot);
        return isPlain && isKnown && mounts.stream().allMatch(mount -> mount.isRoot() || LOCAL.contains(mount.type));
    }

    /**
     * Whether the files of a device are in the kernel's memory (tmpfs), according to the list of a
     * process. A peer may have mounted any number of file systems, so this method reads its list
     * line by line and stores no part of the list.
     *
     * @param process the process by its folder in {@code /proc}
     */
    static boolean hasMemory(Path process, Device device) {
        try (InputStream list = Files.newInputStream(process.resolve(LIST))) {
            return hasMemory(list, device, LIST_MAX);
        } catch (IOException e) {
            return false;
        }
    }

    static boolean hasMemory(InputStream list, Device device, long lengthMax) {
        return lines(list, lengthMax).map(LINE::matcher).filter(Matcher::matches).map(Mount::of).anyMatch(mount -> mount.device.equals(device) && mount.type.equals("tmpfs"));
    }

    /**
     * Returns the lines of one of the kernel's lists, as they are read. Only line feeds end a line
     * here: the kernel escapes line feeds in names, but does not escape the other characters that
     * end lines in Java.
     *
     * @param lengthMax the number of bytes after which the list ends
     */
    static Stream<String> lines(InputStream list, long lengthMax) {
        return new Scanner(new Limited(list, lengthMax), StandardCharsets.ISO_8859_1).useDelimiter("\n").tokens();
    }

    /** A stream that ends after a number of bytes of another stream. */
    private static final class Limited extends InputStream {
        private final InputStream stream;
        private long left;

        Limited(InputStream stream, long length) {
            this.stream = stream;
            left = length;
        }

        @Override
        public int read() throws IOException {
            return left-- > 0 ? stream.read() : -1;
        }

        @Override
        public int read(byte[] to, int at, int length) throws IOException {
            int read = left > 0 ? stream.read(to, at, (int) Math.min(length, left)) : -1;
            left -= Math.max(read, 0);
            return read;
        }
    }
}
