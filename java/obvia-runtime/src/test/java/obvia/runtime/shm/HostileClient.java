package obvia.runtime.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import obvia.runtime.call.FrameLimit;

/**
 * A client that performs the greeting as a program in another language does, with files under its
 * control.
 */
public final class HostileClient implements AutoCloseable {
    private static final long MARK = 4711;

    private final ConnectionSocket connection;
    private final UnlinkedFile own;
    private final UnlinkedFile others;

    /** Connects to the server of a name. */
    public HostileClient(String name) throws IOException {
        long length = Layout.AREA + FrameLimit.BYTES;
        own = UnlinkedFile.of(length);
        others = UnlinkedFile.of(length);
        connection = new ConnectionSocket(Directory.own().connect(name, Wires.patience()));
        connection.send(new Segments.Greeting(FrameLimit.BYTES, 0).put(buffer(24)).flip());
        Segments.Greeting.read(connection.receive(24, Wires.patience()));
        own.file().write(buffer(8).putLong(MARK).flip(), Layout.MARK);
        others.file().write(buffer(8).putLong(MARK).flip(), Layout.MARK);
        int pid = (int) ProcessHandle.current().pid();
        connection.send(new Segments.Names(pid, own.number(), others.number(), MARK).put(buffer(24)).flip());
        assertEquals(1, connection.receive(1, Wires.patience()).get());
    }

    private static ByteBuffer buffer(int length) {
        return ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Truncates both segments. */
    public void truncate() throws IOException {
        own.file().truncate(0);
        others.file().truncate(0);
    }

    /** Rings the server's doorbell. */
    public void ring() {
        connection.call();
    }

    /** Whether the server has closed the connection. */
    public boolean hasEnded() {
        connection.look();
        return connection.hasEnded();
    }

    @Override
    public void close() {
        connection.close();
        Resources.close(own);
        Resources.close(others);
    }
}
