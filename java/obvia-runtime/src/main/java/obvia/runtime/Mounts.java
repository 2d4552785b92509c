package obvia.runtime;

import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The kernel's list of a process's mounts, which the kernel writes without asking the file
 * systems.
 */
record Mounts(List<Mount> all) {
    private static final String LIST = "mountinfo";
    /** A space, line break or backslash in a path, as the list spells them. */
    private static final Pattern ESCAPE = Pattern.compile("\\\\([0-7]{3})");
    /** Number, number of the parent, device, root, point, options, further fields, type. */
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
            return point.equals("/") || path.equals(point) || path.startsWith(point + "/");
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
     * Returns the mount that has a path; {@code null} where none is listed, as in a directory that
     * was made the root of this process.
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
            // Each mount is passed once, even if the list changed while the kernel wrote it. A
            // lookup begins below the root, so a mount on the root itself is not seen.
            rest = rest.stream().filter(mount -> mount.number != parent).toList();
            next = first(rest.stream().filter(mount -> mount.parent == parent && !mount.point.equals("/")));
        }
        return found;
    }

    /**
     * Returns the mount that a lookup meets first: mounts below it were made before, and are
     * hidden.
     */
    private static Mount first(Stream<Mount> siblings) {
        return siblings.reduce((best, next) -> next.point.length() <= best.point.length() ? next : best).orElse(null);
    }

    /**
     * Whether the file system of a path is a program (FUSE). False for a path without a listed
     * mount.
     *
     * @param path a path without links
     */
    boolean isInUserSpace(Path path) {
        Mount mount = holding(path);
        return mount != null && mount.isInUserSpace();
    }

    /** Whether the files of a device are in the kernel's memory (tmpfs). */
    boolean hasMemory(Device device) {
        return all.stream().anyMatch(mount -> mount.device.equals(device) && mount.type.equals("tmpfs"));
    }
}
