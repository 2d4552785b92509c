package obvia.runtime.objects;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Locale;
import obvia.Guid;
import obvia.runtime.call.CallContext;

/**
 * The calls of the runtime itself, with target 0: their opnums, and the lists of references in
 * them. {@code crates/com/src/protocol/own_calls.rs} has the calls in Rust.
 */
final class RuntimeCalls {
    /** The number of references that a query returns. */
    static final int REFS_PER_QUERY = 5;

    /** The maximum number of entries in one release. */
    static final int RELEASES_MAX = 1024;

    // The opnums.

    static final int QUERY = 3;
    static final int RELEASE = 4;
    static final int TRANSFER = 5;
    static final int RESOLVE = 6;
    static final int LIST = 7;
    static final int DESCRIBE = 8;
    static final int INTERFACES = 9;
    static final int BINDINGS = 10;
    static final int REGIONS = 11;
    static final int FUNCTIONS = 12;
    static final int ACTIVATE = 13;
    static final int MARK = 17;
    static final int START = 20;

    /**
     * The opnum of the one-way call that sends a {@link CallContext} for the next call of an
     * object.
     */
    static final int CONTEXT = 25;

    /**
     * The opnum of a one-way message that lists the references in the one-way call directly before
     * it. The server gives these references back if it refuses that call. A long list takes several
     * messages.
     */
    static final int LISTED = 26;

    /** The opnum of the call that asks whether the server has opened a connection to the client. */
    static final int OWNS = 27;

    // Opnum 28, which lists the connections of a server, is served only by runtimes in Rust.

    /** The maximum length of a name in bytes. */
    static final int NAME_MAX = 255;

    private RuntimeCalls() {}

    /** A number of references to a target. */
    record CountedReference(long target, long refs) {}

    /** Returns references as the frame of a call: targets and counts. */
    static byte[] listed(List<CountedReference> batch) {
        ByteBuffer list = ByteBuffer.allocate(batch.size() * 16).order(ByteOrder.LITTLE_ENDIAN);
        batch.forEach(entry -> list.putLong(entry.target).putLong(entry.refs));
        return list.array();
    }

    /** Formats a GUID for the runtime's texts. */
    static String text(Guid guid) {
        return guid.toString().toUpperCase(Locale.ROOT);
    }
}
