package obvia.runtime.objects;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import obvia.BadMessageException;
import obvia.Guid;
import obvia.Hresult;
import obvia.RpcException;
import obvia.runtime.Flat;
import obvia.runtime.InCall;
import obvia.runtime.InterfaceInfo;
import obvia.runtime.Interfaces;
import obvia.runtime.call.CallContext;
import obvia.runtime.shm.Regions;

/**
 * Calls of the runtime itself, with target 0: queries for interfaces, releases of references,
 * lookups of names. {@code crates/com/src/protocol/own_calls.rs} has the calls in Rust.
 */
final class RuntimeCalls {
    /** The number of references that a query returns. */
    static final int REFS_PER_QUERY = 5;

    /** The maximum number of entries in one release. */
    static final int RELEASES_MAX = 1024;

    private static final int QUERY = 3;
    private static final int RELEASE = 4;
    private static final int TRANSFER = 5;
    private static final int RESOLVE = 6;
    private static final int LIST = 7;
    private static final int DESCRIBE = 8;
    private static final int INTERFACES = 9;
    private static final int BINDINGS = 10;
    static final int REGIONS = 11;
    private static final int FUNCTIONS = 12;
    private static final int ACTIVATE = 13;
    private static final int MARK = 17;
    private static final int START = 20;
    /**
     * The opnum of a {@link CallContext} for the next call of an object: a call without response.
     */
    static final int CONTEXT = 25;

    /**
     * The opnum of a one-way message that lists the references in the one-way call directly before
     * it, which the server gives back if it refuses that call. A long list takes several messages.
     */
    static final int LISTED = 26;

    /** The opnum of the question whether the server has opened a connection to the client. */
    static final int OWNS = 27;

    /**
     * The number of bytes before the description in the answer to {@link #START}: the result, and
     * whether a server was started.
     */
    private static final int STARTED_HEAD = 16;

    private static final int ANSWER_MAX = 1 << 20;
    private static final int NAME_MAX = 255;
    private static final int NAMES_MAX = 10_000;

    private RuntimeCalls() {}

    // The client's side.

    private static byte[] call(WindowChannel channel, int opnum, ByteBuffer request) {
        int length = request.flip().remaining();
        int padded = length + 7 & -8;
        channel.request(padded);
        channel.memory.asSlice(channel.at, padded).fill((byte) 0);
        MemorySegment.copy(MemorySegment.ofBuffer(request), 0, channel.memory, channel.at, length);
        channel.callDirectly(0, opnum, padded);
        if (channel.length > ANSWER_MAX) {
            throw channel.bad("the response has " + channel.length + " bytes");
        }
        byte[] answer = channel.window().bytes();
        channel.end();
        return answer;
    }

    private static ByteBuffer buffer(int length) {
        return ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static ByteBuffer put(ByteBuffer to, Guid guid) {
        return to.putLong(guid.wireHigh()).putLong(guid.wireLow());
    }

    /**
     * Queries an object for another interface. The {@link #REFS_PER_QUERY} references of the result
     * belong to the caller.
     */
    static long query(Link link, long through, InterfaceInfo<?> info) {
        try {
            return queryFor(link, through, info);
        } catch (RpcException e) {
            if (e.result() != Hresult.E_NOINTERFACE) {
                throw e;
            }
            InterfaceInfo<?> older = olderOf(link, through, info);
            String words = older == null ? "" : "; it has " + older + ", which the requested interface extends";
            throw RpcException.of(Hresult.E_NOINTERFACE, "the object does not have interface " + info + words, e);
        }
    }

    private static long queryFor(Link link, long through, InterfaceInfo<?> info) {
        link.bind(info);
        byte[] answer = link.atHome(home -> call(home, QUERY, put(buffer(24).putLong(through), info.iid())));
        if (answer.length < 8) {
            throw new BadMessageException("the response to the query is truncated");
        }
        return ByteBuffer.wrap(answer).order(ByteOrder.LITTLE_ENDIAN).getLong();
    }

    /** Returns the most derived base of an interface that an object implements, or {@code null}. */
    private static InterfaceInfo<?> olderOf(Link link, long through, InterfaceInfo<?> info) {
        for (InterfaceInfo<?> older = info.base(); older != null; older = older.base()) {
            try {
                link.releaseLater(queryFor(link, through, older), REFS_PER_QUERY);
                return older;
            } catch (RpcException e) {
                // The object lacks this interface as well.
            }
        }
        return null;
    }

    /** References to be released. */
    record CountedReference(long target, int refs) {}

    /** Releases references. */
    static void release(Link link, List<CountedReference> batch) {
        ByteBuffer request = buffer(batch.size() * 16).put(listed(batch));
        link.atHome(home -> call(home, RELEASE, request));
    }

    /** Returns references as the frame of a call: targets and counts. */
    static byte[] listed(List<CountedReference> batch) {
        ByteBuffer list = buffer(batch.size() * 16);
        batch.forEach(entry -> list.putLong(entry.target).putLong(entry.refs));
        return list.array();
    }

    /** Asks the server whether it has opened the connection with this mark to this process. */
    static boolean owns(Link link, long mark) {
        byte[] answer = link.atHome(home -> call(home, OWNS, buffer(8).putLong(mark)));
        return answer.length == 8 && answer[0] == 1;
    }

    /**
     * Makes the server count references for a third process, which is about to get the pointer from
     * this one.
     */
    static void transfer(Link link, long target, long to, int refs) {
        link.atHome(home -> call(home, TRANSFER, buffer(24).putLong(target).putLong(to).putLong(refs)));
    }

    /** Looks up the object that the server exports under a name. */
    static ObjRef resolve(Link link, String name, InterfaceInfo<?> info) {
        try {
            link.bind(info);
            byte[] text = name.getBytes(StandardCharsets.UTF_8);
            ByteBuffer request = put(buffer(24 + text.length), info.iid()).putLong(text.length).put(text);
            return ObjRef.fromBytes(link.atHome(home -> call(home, RESOLVE, request)));
        } catch (RpcException e) {
            if (e.result() != Hresult.E_NOINTERFACE) {
                throw e;
            }
            throw RpcException.of(Hresult.E_NOINTERFACE, "`" + name + "` does not have interface " + info + exportedAs(link, name), e);
        }
    }

    /** Requests an object of a class from the server, or its class object. */
    static ObjRef activate(Link link, Guid id, InterfaceInfo<?> info, boolean wantsClass) {
        link.bind(info);
        // Creating an object may take long; the home connection is for calls that return soon.
        return ObjRef.fromBytes(call(link.silentChannel(), ACTIVATE, put(put(buffer(40), id), info.iid()).putLong(wantsClass ? 1 : 0)));
    }

    /**
     * Makes the SCM start a server of a class, if none runs, and waits until the server has
     * registered the class. Whether a server had to be started.
     */
    static boolean start(Link link, Guid id, long milliseconds) {
        byte[] answer = call(link.silentChannel(), START, put(buffer(24), id).putLong(milliseconds));
        if (answer.length < STARTED_HEAD) {
            throw new BadMessageException("the response of the SCM is truncated");
        }
        int result = ByteBuffer.wrap(answer).order(ByteOrder.LITTLE_ENDIAN).getInt();
        if (result < 0) {
            throw RpcException.of(result, new String(answer, STARTED_HEAD, answer.length - STARTED_HEAD, StandardCharsets.UTF_8).replace("\0", ""));
        }
        return answer[8] == 1;
    }

    /** Returns the server's description of an exported name, for error messages. */
    private static String exportedAs(Link link, String name) {
        String lines = new String(link.atHome(home -> call(home, LIST, buffer(0))), StandardCharsets.UTF_8);
        for (String line : lines.split("\n", NAMES_MAX)) {
            String[] words = line.split("\t");
            if (words.length == 3 && words[0].equals(name) && line.length() <= 2 * NAME_MAX) {
                return "; it is exported as " + words[1] + " {" + words[2].toLowerCase(Locale.ROOT) + "}";
            }
        }
        return "";
    }

    // The server's side.

    static void serve(WindowCall call) {
        Connection connection = call.connection();
        switch (call.opnum) {
            case QUERY -> serveQuery(call, connection);
            case RELEASE -> serveRelease(call, connection);
            case TRANSFER -> serveTransfer(call, connection);
            case RESOLVE -> serveResolve(call, connection);
            case LIST -> answer(call, connection.runtime().listNames());
            case DESCRIBE -> {
                call.expect(16);
                answer(call, Interfaces.find(guid(call, 0)).idl());
            }
            case INTERFACES -> {
                StringBuilder lines = new StringBuilder();
                Interfaces.all().forEach(info -> lines.append(info.name() + "\t" + text(info.iid()) + "\n"));
                answer(call, lines.toString());
            }
            case BINDINGS -> answer(call, "ncacn_vi_shm:[" + Link.endpoint(connection.runtime().oxid()) + "]\n");
            case REGIONS -> serveRegions(call, connection);
            case FUNCTIONS -> answer(call, "");
            case ACTIVATE -> serveActivate(call, connection);
            case MARK -> {
                call.reply(8);
                call.replyMemory.set(Flat.LONG, call.replyAt, connection.runtime().markFor(connection.client()));
            }
            case CONTEXT -> connection.expect(call);
            case LISTED -> connection.addReferencesToReturn(call);
            case OWNS -> {
                call.expect(8);
                boolean isOwn = connection.runtime().hasOpened(connection.client(), call.memory.get(Flat.LONG, call.at));
                call.reply(8);
                call.replyMemory.set(Flat.LONG, call.replyAt, isOwn ? 1 : 0);
            }
            default -> throw call.noMethod();
        }
    }

    /** Formats a GUID for the runtime's texts. */
    static String text(Guid guid) {
        return guid.toString().toUpperCase(Locale.ROOT);
    }

    private static Guid guid(WindowCall call, int at) {
        return Guid.fromWire(call.memory.get(Flat.LONG, call.at + at), call.memory.get(Flat.LONG, call.at + at + 8));
    }

    /** Returns a text as the results of a call. */
    static void answer(WindowCall call, String text) {
        answer(call, text.getBytes(StandardCharsets.UTF_8));
    }

    private static void answer(WindowCall call, byte[] bytes) {
        int padded = bytes.length + 7 & -8;
        call.reply(padded);
        call.replyMemory.asSlice(call.replyAt, padded).fill((byte) 0);
        MemorySegment.copy(MemorySegment.ofArray(bytes), 0, call.replyMemory, call.replyAt, bytes.length);
    }

    private static void serveQuery(WindowCall call, Connection connection) {
        call.expect(24);
        Exports exports = connection.runtime().exports();
        long through = call.memory.get(Flat.LONG, call.at);
        long target = exports.query(through, guid(call, 8), connection.client(), REFS_PER_QUERY).target();
        call.reply(8);
        call.replyMemory.set(Flat.LONG, call.replyAt, target);
    }

    private static void serveRelease(WindowCall call, Connection connection) {
        forEach(call, (target, refs) -> connection.runtime().exports().release(connection.client(), target, refs));
    }

    /** Reads the references in a call's frame: targets and counts. */
    static void forEach(WindowCall call, LongBinaryConsumer use) {
        if (call.length % 16 != 0 || call.length > RELEASES_MAX * 16) {
            throw call.bad("a list of references has " + call.length + " bytes");
        }
        for (int at = 0; at < call.length; at += 16) {
            use.accept(call.memory.get(Flat.LONG, call.at + at), call.memory.get(Flat.LONG, call.at + at + 8));
        }
    }

    /** A use of a target and a count of references to it. */
    @FunctionalInterface
    interface LongBinaryConsumer {
        void accept(long target, long refs);
    }

    private static void serveRegions(WindowCall call, Connection connection) {
        if (call.length < 8 || call.length % 8 != 0 || call.length > (Regions.MOST + 1) * 8) {
            throw call.bad("a list of regions has " + call.length + " bytes");
        }
        for (int at = 8; at < call.length; at += 8) {
            connection.regions().forget(regionNumber(call, at));
        }
        int number = regionNumber(call, 0);
        if (number != 0) {
            try {
                connection.admitRegion(number);
            } catch (RpcException e) {
                // The client continues without the region and needs no description.
                throw RpcException.of(e instanceof BadMessageException ? Hresult.E_INVALIDARG : e.result(), null, e);
            }
        }
    }

    private static int regionNumber(WindowCall call, int at) {
        long number = call.memory.get(Flat.LONG, call.at + at);
        if (number < 0 || number > 0xffff) {
            throw call.bad("region " + Long.toUnsignedString(number));
        }
        return (int) number;
    }

    private static void serveTransfer(WindowCall call, Connection connection) {
        call.expect(24);
        long target = call.memory.get(Flat.LONG, call.at);
        long to = call.memory.get(Flat.LONG, call.at + 8);
        long refs = call.memory.get(Flat.LONG, call.at + 16);
        connection.runtime().exports().addTo(target, to, (int) Math.min(Math.max(refs, 0), 1 << 20));
    }

    private static String name(InCall call, int length) {
        try {
            byte[] bytes = call.memory.asSlice(call.at + 24, length).toArray(ValueLayout.JAVA_BYTE);
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
        } catch (CharacterCodingException e) {
            throw call.bad("a name is not UTF-8");
        }
    }

    private static void serveResolve(WindowCall call, Connection connection) {
        call.expectAtLeast(24);
        long word = call.memory.get(Flat.LONG, call.at + 16);
        int length = (int) word;
        if (length < 0 || length > NAME_MAX || word >>> 32 > 1 || 24 + length > call.length) {
            throw call.bad("a name has " + Integer.toUnsignedString(length) + " bytes");
        }
        String name = name(call, length);
        answer(call, connection.runtime().marshalNamed(name, guid(call, 0), connection).toBytes());
    }

    private static void serveActivate(WindowCall call, Connection connection) {
        call.expect(40);
        Guid id = guid(call, 0);
        Guid iid = guid(call, 16);
        long wanted = call.memory.get(Flat.LONG, call.at + 32);
        if (wanted != 0 && wanted != 1) {
            throw call.bad("the activation asks neither for an object nor for a class object");
        }
        connection.runtime().rules().admitToClass(id, connection.peer());
        byte[] reference = connection.runtime().classes().provide(id, wanted == 1, object -> call.reference(object, Interfaces.find(iid)));
        answer(call, reference);
    }
}
