package obvia.runtime.objects;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import obvia.BadMessageException;
import obvia.Guid;
import obvia.Hresult;
import obvia.RpcException;
import obvia.runtime.Flat;
import obvia.runtime.InCall;
import obvia.runtime.Interfaces;
import obvia.runtime.shm.Regions;

/** The object's side of {@link RuntimeCalls}. */
final class RuntimeServer {
    private RuntimeServer() {}

    static void serve(WindowCall call) {
        Connection connection = call.connection();
        switch (call.opnum) {
            case RuntimeCalls.QUERY -> serveQuery(call, connection);
            case RuntimeCalls.RELEASE -> serveRelease(call, connection);
            case RuntimeCalls.TRANSFER -> serveTransfer(call, connection);
            case RuntimeCalls.RESOLVE -> serveResolve(call, connection);
            case RuntimeCalls.LIST -> answer(call, connection.runtime().namedExports().list());
            case RuntimeCalls.DESCRIBE -> {
                call.expect(16);
                answer(call, Interfaces.find(guid(call, 0)).idl());
            }
            case RuntimeCalls.INTERFACES -> {
                StringBuilder lines = new StringBuilder();
                Interfaces.all().forEach(info -> lines.append(info.name() + "\t" + RuntimeCalls.text(info.iid()) + "\n"));
                answer(call, lines.toString());
            }
            case RuntimeCalls.BINDINGS -> answer(call, "ncacn_vi_shm:[" + ObjRef.endpoint(connection.runtime().oxid()) + "]\n");
            case RuntimeCalls.REGIONS -> serveRegions(call, connection);
            case RuntimeCalls.FUNCTIONS -> answer(call, "");
            case RuntimeCalls.ACTIVATE -> serveActivate(call, connection);
            case RuntimeCalls.MARK -> {
                call.reply(8);
                call.replyMemory.set(Flat.LONG, call.replyAt, connection.runtime().clients().markFor(connection.client()));
            }
            case RuntimeCalls.CONTEXT -> connection.expect(call);
            case RuntimeCalls.LISTED -> connection.addReferencesToReturn(call);
            case RuntimeCalls.OWNS -> {
                call.expect(8);
                boolean isOwn = connection.runtime().links().hasOpened(connection.client(), call.memory.get(Flat.LONG, call.at));
                call.reply(8);
                call.replyMemory.set(Flat.LONG, call.replyAt, isOwn ? 1 : 0);
            }
            default -> throw call.noMethod();
        }
    }

    private static Guid guid(WindowCall call, int at) {
        return Guid.fromWire(call.memory.get(Flat.LONG, call.at + at), call.memory.get(Flat.LONG, call.at + at + 8));
    }

    /** Answers a call with a text as its results. */
    private static void answer(WindowCall call, String text) {
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
        connection.checkNamed(through);
        long target = exports.query(through, guid(call, 8), connection.client(), RuntimeCalls.REFS_PER_QUERY).target();
        call.reply(8);
        call.replyMemory.set(Flat.LONG, call.replyAt, target);
    }

    private static void serveRelease(WindowCall call, Connection connection) {
        call.forEachReference((target, refs) -> connection.runtime().exports().release(connection.client(), target, refs));
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
                // The client continues without the region, so the failure needs no description.
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
        // The frame can end with the place from which the receiver connects. Receivers of this
        // process run on this host, so this process ignores the place.
        call.expectAtLeast(24);
        long target = call.memory.get(Flat.LONG, call.at);
        long to = call.memory.get(Flat.LONG, call.at + 8);
        long refs = call.memory.get(Flat.LONG, call.at + 16);
        connection.checkNamed(target);
        connection.runtime().links().startJanitor();
        connection.runtime().clients().passOn(target, connection.pid(), to, (int) Math.min(Math.max(refs, 0), 1 << 20));
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
        if (length < 0 || length > RuntimeCalls.NAME_MAX || word >>> 32 > 1 || 24 + length > call.length) {
            throw call.bad("a name has " + Integer.toUnsignedString(length) + " bytes");
        }
        String name = name(call, length);
        answer(call, connection.runtime().namedExports().marshal(name, guid(call, 0), connection.peer(), connection.client()).toBytes());
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
