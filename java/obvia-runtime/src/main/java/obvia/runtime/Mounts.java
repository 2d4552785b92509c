package obvia.runtime;

import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
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
            return point.equals("/") || path.equals(point) || path.startsWith(point + "/");
        }

        private boolean isInUserSpace() {
            return type.equals("fuse") || type.equals("fuseblk") || type.startsWith("fuse.");
        }
    }

    /**
     * Whether the file system of a path is a program (FUSE). Paths that the kernel shows no mount for are on none.
     *
     * @param path a path without links
     */
    static boolean isInUserSpace(Path path) {
        try {
            return isInUserSpace(new String(Files.readAllBytes(LIST), Charset.defaultCharset()), path.toString());
        } catch (IOException e) {
            return false;
        }
    }

    /** The same by a list. Of several mounts at one point the last one is on top. */
    static boolean isInUserSpace(String list, String path) {
        Stream<Mount> mounts = list.lines().flatMap(Mount::of).filter(mount -> mount.has(path));
        return mounts.reduce((best, next) -> next.point.length() >= best.point.length() ? next : best).filter(Mount::isInUserSpace).isPresent();
    }
}
