package obvia.runtime.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import obvia.Waiting;
import obvia.runtime.Flat;
import obvia.runtime.call.FrameLimit;

/** A server that performs the greeting correctly, with files under its control. */
public final class HostileServer implements AutoCloseable {
    private static final AtomicInteger NEXT = new AtomicInteger();

    private final ConnectionSocket connection;
    private final UnlinkedFile own;
    private final UnlinkedFile others;

    private HostileServer(ConnectionSocket connection, UnlinkedFile own, UnlinkedFile others) {
        this.connection = connection;
        this.own = own;
        this.others = others;
    }

    @Override
    public void close() {
        connection.close();
        Resources.close(own);
        Resources.close(others);
    }

    private static ByteBuffer buffer(int length) {
        return ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
    }

    /**
     * Runs a hostile server, connects a client to the server, and runs the actions of both sides.
     */
    public static <R> R against(Waiting waiting, Function<Window, R> client, Consumer<HostileServer> server) throws Exception {
        String name = "evil-" + ProcessHandle.current().pid() + "-" + NEXT.incrementAndGet();
        try (Directory.Name bound = Directory.own().bind(name)) {
            var called = CompletableFuture.supplyAsync(() -> {
                try (Window window = Window.connect(name, waiting, false, Wires.patience())) {
                    return client.apply(window);
                }
            });
            long length = Layout.AREA + FrameLimit.BYTES;
            try (HostileServer evil = new HostileServer(new ConnectionSocket(bound.listener().accept()), UnlinkedFile.of(length), UnlinkedFile.of(length))) {
                Segments.Greeting theirs = Segments.Greeting.read(evil.connection.receive(24, Wires.patience()));
                theirs.put(buffer(24));
                int pid = (int) ProcessHandle.current().pid();
                evil.own.file().write(buffer(8).putLong(4711).flip(), Layout.MARK);
                evil.others.file().write(buffer(8).putLong(4711).flip(), Layout.MARK);
                var names = new Segments.Names(pid, evil.own.number(), evil.others.number(), 4711);
                evil.connection.send(names.put(theirs.put(buffer(48))).flip());
                assertEquals(1, evil.connection.receive(1, Wires.patience()).get());
                server.accept(evil);
                return called.get();
            }
        }
    }

    /** Truncates both segments. */
    public void truncate() {
        try {
            own.file().truncate(0);
            others.file().truncate(0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Answers the client's first call with a frame in an area that is truncated before the client
     * reads the frame.
     */
    public void answerInTruncatedMemory() {
        ByteBuffer slot = buffer(Layout.SLOT_SIZE).putLong(1L | 3L << 32 | (long) Window.RESPONSE << 48 | (long) Layout.IN_AREA << 56);
        slot.putLong(1L << 32).putInt(0).putInt(0).putInt(8).rewind();
        try {
            own.file().truncate(Layout.AREA);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        write(slot);
    }

    /** Rings the client's doorbell. */
    public void ring() {
        connection.call();
    }

    /** Writes a fault with a frame as the answer to the client's first call. */
    public void fault(int status, byte[] frame) {
        ByteBuffer slot = buffer(Layout.SLOT_SIZE).putLong(1L | 3L << 32 | (long) Window.FAULT << 48 | (long) frame.length << 56);
        slot.putLong(Integer.toUnsignedLong(status) | 1L << 32).put(frame).rewind();
        write(slot);
    }

    /** Writes the server's first message. */
    private void write(ByteBuffer slot) {
        try {
            own.file().write(slot.slice(8, Layout.SLOT_SIZE - 8), Layout.slot(1) + 8);
            own.file().write(slot.slice(0, 8), Layout.slot(1));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        connection.call();
    }

    /** Writes four messages with random headers and frames to the slots of a client's window. */
    public static void writeNonsense(Window window, Random random) {
        int begin = window.nextSequence();
        for (int message = begin; message < begin + 4; message++) {
            long slot = Layout.slot(message);
            for (int at = 8; at < Layout.SLOT_SIZE; at += 8) {
                window.memory().set(Flat.LONG, slot + at, random.nextInt(3) == 0 ? random.nextLong() : random.nextInt(4));
            }
            long kind = 1 + random.nextInt(7);
            long length = random.nextInt(4) == 0 ? random.nextInt(256) : random.nextInt(15) * 8L;
            Layout.LONG_WORD.setRelease(window.memory(), slot, message | (long) random.nextInt(20) << 32 | kind << 48 | length << 56);
        }
    }

    /** Connects to a server and sends bytes, which may begin with a greeting. */
    public static void send(String name, byte[] bytes) throws IOException {
        try (var socket = Directory.own().connect(name, Wires.patience())) {
            socket.write(ByteBuffer.wrap(bytes));
        }
    }
}
