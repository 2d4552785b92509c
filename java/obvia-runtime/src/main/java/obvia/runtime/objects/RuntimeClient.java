package obvia.runtime.objects;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import obvia.BadMessageException;
import obvia.Guid;
import obvia.Hresult;
import obvia.RpcException;
import obvia.runtime.InterfaceInfo;

/** The caller's side of {@link RuntimeCalls}. */
final class RuntimeClient {
    /**
     * The number of bytes before the description in the answer to {@link RuntimeCalls#START}: the
     * result, and whether a server was started.
     */
    private static final int STARTED_HEAD = 16;

    private static final int ANSWER_MAX = 1 << 20;
    private static final int NAMES_MAX = 10_000;

    private RuntimeClient() {}

    private static byte[] call(WindowChannel channel, int opnum, ByteBuffer request) {
        try {
            return exchange(channel, opnum, request);
        } catch (InternalError | IllegalStateException e) {
            throw channel.failed(e);
        }
    }

    private static byte[] exchange(WindowChannel channel, int opnum, ByteBuffer request) {
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
     * Queries an object for another interface. The {@link RuntimeCalls#REFS_PER_QUERY} references
     * of the result belong to the caller.
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
        byte[] answer = link.atHome(home -> call(home, RuntimeCalls.QUERY, put(buffer(24).putLong(through), info.iid())));
        if (answer.length < 8) {
            throw new BadMessageException("the response to the query is truncated");
        }
        return ByteBuffer.wrap(answer).order(ByteOrder.LITTLE_ENDIAN).getLong();
    }

    /**
     * Returns the most derived base interface of {@code info} that an object implements, or
     * {@code null}.
     */
    private static InterfaceInfo<?> olderOf(Link link, long through, InterfaceInfo<?> info) {
        for (InterfaceInfo<?> older = info.base(); older != null; older = older.base()) {
            try {
                link.giveBack(queryFor(link, through, older), RuntimeCalls.REFS_PER_QUERY);
                return older;
            } catch (RpcException e) {
                // The object lacks this interface as well.
            }
        }
        return null;
    }

    /**
     * Releases references over the home connection of their process.
     *
     * @param unsent receives the references if the request could not be sent
     */
    static void release(WindowChannel home, List<RuntimeCalls.CountedReference> batch, Consumer<RuntimeCalls.CountedReference> unsent) {
        int callId = home.window().nextSequence();
        try {
            call(home, RuntimeCalls.RELEASE, buffer(batch.size() * 16).put(RuntimeCalls.listed(batch)));
        } finally {
            if (home.window().nextSequence() == callId) {
                batch.forEach(unsent);
            }
        }
    }

    /**
     * Asks the server whether it has opened the connection with this mark to this process. Returns
     * the answer.
     */
    static boolean owns(Link link, long mark) {
        byte[] answer = link.atHome(home -> call(home, RuntimeCalls.OWNS, buffer(8).putLong(mark)));
        return answer.length == 8 && answer[0] == 1;
    }

    /**
     * Makes the server count references for a third process, to which this process is about to send
     * the interface pointer {@code target}.
     */
    static void transfer(Link link, long target, long to, int refs) {
        link.atHome(home -> call(home, RuntimeCalls.TRANSFER, buffer(24).putLong(target).putLong(to).putLong(refs)));
    }

    /** Looks up the object that the server exports under a name. */
    static ObjRef resolve(Link link, String name, InterfaceInfo<?> info) {
        try {
            link.bind(info);
            byte[] text = name.getBytes(StandardCharsets.UTF_8);
            ByteBuffer request = put(buffer(24 + text.length), info.iid()).putLong(text.length).put(text);
            return ObjRef.fromBytes(link.atHome(home -> call(home, RuntimeCalls.RESOLVE, request)));
        } catch (RpcException e) {
            if (e.result() != Hresult.E_NOINTERFACE) {
                throw e;
            }
            throw RpcException.of(Hresult.E_NOINTERFACE, "`" + name + "` does not have interface " + info + exportedAs(link, name), e);
        }
    }

    /** Requests an object of a class, or the class object, from the server. */
    static ObjRef activate(Link link, Guid id, InterfaceInfo<?> info, boolean wantsClass) {
        link.bind(info);
        ByteBuffer request = put(put(buffer(40), id), info.iid()).putLong(wantsClass ? 1 : 0);
        return ObjRef.fromBytes(link.besideHome(channel -> call(channel, RuntimeCalls.ACTIVATE, request)));
    }

    /**
     * Makes the SCM start a server of a class, if none runs, and waits until the server has
     * registered the class. Returns whether a server had to be started.
     */
    static boolean start(Link link, Guid id, long milliseconds) {
        byte[] answer = link.besideHome(channel -> call(channel, RuntimeCalls.START, put(buffer(24), id).putLong(milliseconds)));
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
        String lines = new String(link.atHome(home -> call(home, RuntimeCalls.LIST, buffer(0))), StandardCharsets.UTF_8);
        for (String line : lines.split("\n", NAMES_MAX)) {
            String[] words = line.split("\t");
            if (words.length == 3 && words[0].equals(name) && line.length() <= 2 * RuntimeCalls.NAME_MAX) {
                return "; it is exported as " + words[1] + " {" + words[2].toLowerCase(Locale.ROOT) + "}";
            }
        }
        return "";
    }
}
