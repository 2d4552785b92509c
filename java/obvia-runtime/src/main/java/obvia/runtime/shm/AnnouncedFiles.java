package obvia.runtime.shm;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import obvia.Hresult;
import obvia.RpcException;
import obvia.runtime.call.Deadline;
import obvia.runtime.call.PeerFailure;

/**
 * Files that the peer has created and announces on the socket: larger areas, and regions.
 *
 * <p>The byte 1 is followed by u32 number, u32 kind, u64 length and u64 descriptor. If the greeting
 * did not contain the peer's process ID, u64 process ID and u64 mark follow; the mark is also
 * stored after the region's bytes. {@code crates/via/src/provider/shm/carrier.rs} writes
 * announcements without these last two fields.
 */
final class AnnouncedFiles {
    /** The kind of an area. */
    static final int AREA = 0;
    /** The kind of a readable region. */
    static final int READ = 1;
    /** The kind of a readable and writable region. */
    static final int WRITE = 2;

    private static final byte ANNOUNCED = 1;
    private static final int LENGTH = 24;
    private static final int MARKED_LENGTH = LENGTH + 16;
    /** The maximum number of announcements that have been received and not yet used. */
    private static final int WAITING_MAX = 4;

    private final ConnectionSocket connection;
    private final long pid;
    private final List<AnnouncedFile> waiting = new ArrayList<>();

    /**
     * An announced file.
     *
     * @param path the path by which the file is opened
     * @param isMarked whether a mark is stored after the file's bytes
     */
    record AnnouncedFile(int number, int kind, long length, Path path, boolean isMarked, long mark) {}

    /**
     * Creates a receiver of announcements. {@code pid} is the ID of the peer's process, or -1 if
     * the ID is unknown.
     */
    AnnouncedFiles(ConnectionSocket connection, long pid) {
        this.connection = connection;
        this.pid = pid;
    }

    /** Announces a region of this process to a peer that is a virtual machine. */
    static void send(ConnectionSocket connection, int number, OwnRegion region) {
        ByteBuffer announced = ByteBuffer.allocate(1 + MARKED_LENGTH).order(ByteOrder.LITTLE_ENDIAN);
        announced.put(ANNOUNCED).putInt(number).putInt(region.isWritable() ? WRITE : READ).putLong(region.memory().byteSize());
        announced.putLong(region.number()).putLong(ProcessHandle.current().pid()).putLong(region.mark());
        connection.send(announced.flip());
    }

    /**
     * Returns the next announced file with this number: an area if {@code isArea}, else a region.
     */
    AnnouncedFile take(int number, boolean isArea) {
        while (true) {
            for (int i = 0; i < waiting.size(); i++) {
                AnnouncedFile announced = waiting.get(i);
                if (announced.number == number && (announced.kind == AREA) == isArea) {
                    return waiting.remove(i);
                }
            }
            if (waiting.size() == WAITING_MAX) {
                throw PeerFailure.broken("it announces files that it does not use");
            }
            waiting.add(next());
        }
    }

    private AnnouncedFile next() {
        if (connection.next() != ANNOUNCED) {
            throw PeerFailure.broken("it uses a file that it has not announced");
        }
        ByteBuffer announced;
        try {
            announced = connection.receive(length(pid), Deadline.in(Duration.ofSeconds(1)));
        } catch (RpcException e) {
            if (e.result() == Hresult.RPC_E_CALL_CANCELED) {
                throw e;
            }
            throw PeerFailure.broken("the announcement of a file is incomplete: " + e.getMessage());
        }
        return read(announced, pid);
    }

    /**
     * Returns the length of an announcement. {@code pid} is the process ID of the sender, or -1 if
     * the ID is unknown.
     */
    static int length(long pid) {
        return pid < 0 ? MARKED_LENGTH : LENGTH;
    }

    /** Parses an announcement. */
    static AnnouncedFile read(ByteBuffer announced, long pid) {
        int kind = announced.getInt(4);
        long descriptor = announced.getLong(16);
        long process = pid < 0 ? announced.getLong(24) : pid;
        long mark = pid < 0 ? announced.getLong(32) : 0;
        boolean isNumber = descriptor >= 0 && descriptor <= Integer.MAX_VALUE && process > 0 && process <= Integer.MAX_VALUE;
        if (kind < AREA || kind > WRITE || !isNumber) {
            throw PeerFailure.broken("a file has the invalid kind " + Integer.toUnsignedString(kind) + " or descriptor " + descriptor);
        }
        Path path = Path.of("/proc", Long.toString(process), "fd", Long.toString(descriptor));
        return new AnnouncedFile(announced.getInt(0), kind, announced.getLong(8), path, pid < 0, mark);
    }
}
