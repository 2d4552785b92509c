package obvia.runtime.shm;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import obvia.DisconnectedException;
import obvia.Hresult;
import obvia.RpcException;
import obvia.Waiting;
import obvia.runtime.Flat;
import obvia.runtime.call.CallContext;
import obvia.runtime.call.Deadline;
import obvia.runtime.call.FrameLimit;
import obvia.runtime.call.PeerFailure;

/**
 * The memory of a connection: a segment that this side writes and one that the peer writes.
 *
 * <p>Java's sockets cannot transfer file descriptors, so segments are opened by their paths in
 * {@code /proc}: see {@code crates/via/src/provider/shm/named.rs}. A peer in another language
 * creates both segments, because it can seal them. Two virtual machines use files that are removed
 * right after their creation. These files cannot be sealed: if the peer truncates a file, this
 * side's next access fails.
 *
 * @param own this side's segment: {@link Layout#AREA} bytes, and area 0
 * @param peer the peer's segment, with an area 0 of the length in the peer's greeting; read-only
 * @param pages the allocation of pages for this side's segment; {@code null} if the peer's kind of
 *     memory needs no allocation
 * @param mark a number that only the two sides know
 * @param pid the peer's process ID from the paths; -1 if it is not known
 * @param peerMaySleep whether the peer may sleep and then needs a wake-up
 * @param peerIsQuiet whether the peer will seldom send
 * @param peerIsInJava whether the peer is a virtual machine as well: such a peer accepts memory of
 *     this process, because a virtual machine survives a truncation of the file
 */
record Segments(
        Arena arena, MemorySegment own, MemorySegment peer, PageAllocation pages, long mark, long pid, boolean peerMaySleep, boolean peerIsQuiet, boolean peerIsInJava) {
    private static final int MAGIC = 0x4956424f;
    private static final int VERSION = 2;
    private static final int LENGTH = 24;
    private static final int MAY_SLEEP = 1;
    private static final int QUIET = 2;
    private static final int BY_NAME = 4;
    private static final byte MAPPED = 1;
    /**
     * The time that a client has to open its segments. On a busy machine, opening them takes
     * seconds.
     */
    private static final Duration ANSWER = Duration.ofSeconds(30);
    /**
     * The bytes of shared memory that a new connection takes: the first and the last page of each
     * segment.
     */
    private static final long BYTES = 4 * Layout.AREA;
    /** The error by which a system reports a limit of memory or mappings: ENOMEM. */
    private static final int NO_MAPPINGS = 12;
    /** The errors (errno) by which a server's system reports a limit. */
    private static final Set<Integer> LIMITS = Set.of(11, NO_MAPPINGS, 23, 24, 28, 87);

    /** The first message of each side. */
    record Greeting(long area, int flags) {
        static Greeting of(Waiting waiting, boolean isQuiet) {
            int maySleep = waiting == Waiting.POLL ? 0 : MAY_SLEEP;
            // The area has its full size from the start, since a larger area cannot follow. Unused
            // parts take no memory.
            return new Greeting(FrameLimit.BYTES, BY_NAME | maySleep | (isQuiet ? QUIET : 0));
        }

        ByteBuffer put(ByteBuffer to) {
            return to.putInt(MAGIC).putInt(VERSION).putInt(Layout.SLOT_COUNT).putInt(flags).putLong(area);
        }

        static Greeting read(ByteBuffer from) {
            int version = from.getInt(4);
            if (from.getInt(0) == MAGIC && version != VERSION) {
                String versions = "version " + Integer.toUnsignedString(version) + " of the protocol, and this process version " + VERSION;
                throw PeerFailure.broken("it uses " + versions + ": build both with the same version of obvia");
            }
            boolean isOne = from.getInt(0) == MAGIC && from.getInt(8) == Layout.SLOT_COUNT;
            Greeting greeting = new Greeting(from.getLong(16), from.getInt(12));
            boolean isPossible = greeting.area > 0 && greeting.area <= FrameLimit.BYTES && greeting.area % 4096 == 0;
            if (!isOne || !isPossible || (greeting.flags & ~(MAY_SLEEP | QUIET | BY_NAME)) != 0) {
                throw PeerFailure.broken("its greeting does not belong to this protocol");
            }
            return greeting;
        }

        boolean has(int flag) {
            return (flags & flag) != 0;
        }
    }

    /** The numbers in the paths of both segments, and the mark in the segments. */
    record Names(int pid, int makers, int others, long mark) {
        ByteBuffer put(ByteBuffer to) {
            return to.putInt(pid).putInt(makers).putInt(others).putInt(0).putLong(mark);
        }

        static Names read(ByteBuffer from) {
            return new Names(from.getInt(0), from.getInt(4), from.getInt(8), from.getLong(16));
        }

        Path path(int number) {
            return Path.of("/proc", Integer.toUnsignedString(pid), "fd", Integer.toUnsignedString(number));
        }
    }

    /** Performs the client's side of the greeting. The client sends the first message. */
    static Segments request(ConnectionSocket connection, Waiting waiting, boolean isQuiet, Deadline deadline) {
        Greeting theirs;
        try {
            theirs = exchange(connection, Greeting.of(waiting, isQuiet), deadline);
        } catch (DisconnectedException e) {
            // Between two virtual machines the server creates the memory. Without room for the
            // memory, the server closes the connection.
            throw PageAllocation.isFull() ? PageAllocation.missing(BYTES, e) : e;
        }
        return open(connection, theirs, deadline);
    }

    /** Sends the client's greeting, and returns the server's greeting. */
    private static Greeting exchange(ConnectionSocket connection, Greeting own, Deadline deadline) {
        try {
            connection.send(own.put(buffer(LENGTH)).flip());
        } catch (DisconnectedException e) {
            // A server that refuses a connection does not wait for the client's greeting.
            checkRefusal(connection.receive(LENGTH, deadline));
            throw e;
        }
        ByteBuffer theirs = connection.receive(LENGTH, deadline);
        checkRefusal(theirs);
        return Greeting.read(theirs);
    }

    /**
     * Returns the first message of a server whose system has reached a limit; {@code error} is the
     * errno of the limit.
     */
    private static ByteBuffer refusal(int error) {
        return buffer(LENGTH).putInt(MAGIC).putInt(VERSION).putInt(0).putInt(error).putLong(0).flip();
    }

    /** Tells a client that this process has no mappings for the connection. */
    static void refuse(ConnectionSocket connection) {
        connection.send(refusal(NO_MAPPINGS));
    }

    /**
     * Throws E_OUTOFMEMORY if a server's first message is a refusal: the server's system is at a
     * limit.
     */
    private static void checkRefusal(ByteBuffer from) {
        int error = from.getInt(12);
        if (LIMITS.contains(error) && from.equals(refusal(error))) {
            String text = "the server has no room for the connection: its system reports error " + error
                    + ". It has reached a limit of open files (23, 24), mappings or memory (12), watches (28),"
                    + " threads (11), or other users' connections that have not introduced themselves (87)";
            throw RpcException.of(Hresult.E_OUTOFMEMORY, text);
        }
    }

    /**
     * Performs the server's side of the greeting.
     *
     * @param first the deadline of the client's first message
     */
    static Segments accept(ConnectionSocket connection, Waiting waiting, Deadline first) {
        Greeting theirs = Greeting.read(connection.receive(LENGTH, first));
        Deadline deadline = Deadline.in(ANSWER);
        Greeting own = Greeting.of(theirs.has(QUIET) ? Waiting.BLOCK : waiting, false);
        if (theirs.has(BY_NAME)) {
            return make(connection, own, theirs, deadline);
        }
        connection.send(own.put(buffer(LENGTH)).flip());
        return open(connection, theirs, deadline);
    }

    /** Opens the segments that the peer has created. */
    private static Segments open(ConnectionSocket connection, Greeting theirs, Deadline deadline) {
        Names names = Names.read(connection.receive(LENGTH, deadline));
        Arena arena = Arena.ofShared();
        Opened opened = null;
        boolean isDone = false;
        try {
            opened = PeerFile.withinTime(PeerFile.processOf(names.path(names.makers)), deadline, () -> Opened.of(arena, names, theirs));
            for (MemorySegment segment : new MemorySegment[] {opened.own, opened.peer}) {
                if (segment.get(Flat.LONG, Layout.MARK) != names.mark) {
                    throw PeerFailure.broken("its segments are not at the announced place; is it in another container?");
                }
            }
            connection.send(buffer(1).put(MAPPED).flip());
            isDone = true;
            long pid = Integer.toUnsignedLong(names.pid);
            return new Segments(arena, opened.own, opened.peer, opened.pages, names.mark, pid, theirs.has(MAY_SLEEP), theirs.has(QUIET), theirs.has(BY_NAME));
        } catch (IOException e) {
            throw RpcException.of(Hresult.E_FAIL, "opening a segment of the peer: " + e, e);
        } finally {
            if (!isDone) {
                arena.close();
                Resources.close(opened);
            }
        }
    }

    /** Segments that the peer has created. */
    private record Opened(MemorySegment own, MemorySegment peer, PageAllocation pages) implements AutoCloseable {
        static Opened of(Arena arena, Names names, Greeting theirs) throws IOException {
            long ownLength = Layout.AREA + FrameLimit.BYTES;
            long peerLength = Layout.AREA + theirs.area;
            // A virtual machine that creates a segment allocates only the pages of its first part.
            // This side allocates the other pages before it writes to them.
            boolean hasRoom = theirs.has(BY_NAME);
            PeerFile file = PeerFile.open(names.path(names.others), true, ownLength);
            boolean isKept = false;
            try (PeerFile peerFile = PeerFile.open(names.path(names.makers), false, peerLength)) {
                MemorySegment own = file.map(arena, true, ownLength);
                MemorySegment peer = peerFile.map(arena, false, peerLength);
                isKept = hasRoom;
                return new Opened(own, peer, hasRoom ? PageAllocation.in(file, ownLength, Layout.AREA) : null);
            } finally {
                if (!isKept) {
                    file.close();
                }
            }
        }

        @Override
        public void close() {
            Resources.close(pages);
        }
    }

    /**
     * Maps a larger area that the peer has announced.
     *
     * @param arena the lifetime of the mapping
     */
    static MemorySegment area(Arena arena, AnnouncedFiles.AnnouncedFile announced) {
        if (announced.length() <= 0 || announced.length() > FrameLimit.BYTES + 4096) {
            throw PeerFailure.broken("an area has an invalid size, " + announced.length() + " bytes");
        }
        return map(arena, announced, false, announced.length());
    }

    /** Maps a region that the peer has announced. The caller has checked the length. */
    static MemorySegment region(Arena arena, AnnouncedFiles.AnnouncedFile announced, boolean isWritable) {
        return map(arena, announced, isWritable, announced.isMarked() ? OwnRegion.markAt(announced.length()) + Long.BYTES : announced.length());
    }

    /** Maps a file that the peer has announced and that must have at least {@code length} bytes. */
    private static MemorySegment map(Arena arena, AnnouncedFiles.AnnouncedFile announced, boolean isWritable, long length) {
        try {
            return PeerFile.withinTime(PeerFile.processOf(announced.path()), CallContext.currentDeadline(), () -> {
                try (PeerFile file = PeerFile.open(announced.path(), isWritable, length)) {
                    if (announced.isMarked() && !hasMark(file, announced)) {
                        throw PeerFailure.broken("a region is not at the announced place; is it in another container?");
                    }
                    return file.map(arena, isWritable, announced.length());
                }
            });
        } catch (IOException e) {
            throw RpcException.of(Hresult.E_FAIL, "mapping a segment of the peer: " + e, e);
        }
    }

    private static boolean hasMark(PeerFile file, AnnouncedFiles.AnnouncedFile announced) throws IOException {
        ByteBuffer mark = buffer(Long.BYTES);
        return file.getChannel().read(mark, OwnRegion.markAt(announced.length())) == Long.BYTES && mark.getLong(0) == announced.mark();
    }

    /** Creates both segments, because the peer cannot create segments. */
    private static Segments make(ConnectionSocket connection, Greeting own, Greeting theirs, Deadline deadline) {
        long mark = UnlinkedFile.drawMark();
        Arena arena = Arena.ofShared();
        PageAllocation pages = null;
        boolean isDone = false;
        try (UnlinkedFile mine = UnlinkedFile.of(Layout.AREA + FrameLimit.BYTES);
                UnlinkedFile others = UnlinkedFile.of(Layout.AREA + theirs.area)) {
            mine.file().write(buffer((int) Layout.AREA), 0);
            others.file().write(buffer((int) Layout.AREA), 0);
            pages = PageAllocation.in(new RandomAccessFile(mine.path().toFile(), "rw"), Layout.AREA + FrameLimit.BYTES, Layout.AREA);
            MemorySegment ownMemory = mine.file().map(MapMode.READ_WRITE, 0, Layout.AREA + FrameLimit.BYTES, arena);
            ownMemory.set(Flat.LONG, Layout.MARK, mark);
            others.file().write(buffer(8).putLong(mark).flip(), Layout.MARK);
            MemorySegment peer = others.file().map(MapMode.READ_ONLY, 0, Layout.AREA + theirs.area, arena);
            Names names = new Names((int) ProcessHandle.current().pid(), mine.number(), others.number(), mark);
            connection.send(names.put(own.put(buffer(2 * LENGTH))).flip());
            if (connection.receive(1, deadline).get() != MAPPED) {
                throw PeerFailure.broken("it has not mapped its segments");
            }
            isDone = true;
            return new Segments(arena, ownMemory, peer, pages, mark, -1, theirs.has(MAY_SLEEP), theirs.has(QUIET), true);
        } catch (IOException e) {
            throw PageAllocation.isFull() ? PageAllocation.missing(BYTES, e) : RpcException.of(Hresult.E_FAIL, "creating segments: " + e, e);
        } finally {
            if (!isDone) {
                arena.close();
                Resources.close(pages);
            }
        }
    }

    private static ByteBuffer buffer(int length) {
        return ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
    }
}
