package obvia.runtime.objects;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** The state of another process of this host. */
final class ProcessState {
    private ProcessState() {}

    /**
     * Whether a process lives. A zombie process counts as ended, and so does a process whose ID now
     * belongs to a later process.
     *
     * @param process the process, or {@code null} for one that has ended
     */
    static boolean isAlive(ProcessHandle process) {
        if (process == null || !process.isAlive()) {
            return false;
        }
        try {
            String text = Files.readString(Path.of("/proc", Long.toString(process.pid()), "stat"), StandardCharsets.ISO_8859_1);
            // The state follows the name of the program, which may contain parentheses itself.
            int state = text.lastIndexOf(')') + 2;
            return state >= text.length() || "ZXx".indexOf(text.charAt(state)) < 0;
        } catch (IOException e) {
            return false;
        }
    }
}
