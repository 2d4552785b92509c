package obvia.runtime.objects;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import obvia.BadMessageException;
import obvia.Guid;
import obvia.Hresult;
import obvia.RpcException;
import obvia.runtime.InterfaceInfo;
import obvia.runtime.Interfaces;

/**
 * Binding: the negotiation of two processes before the first call, with the PDUs of C706 12.6.4.
 *
 * <p>The first PDU of a connection is a bind. Its two presentation contexts have the runtime's
 * interface and the OXID of the client as abstract syntaxes. Other interfaces follow in
 * alter_context PDUs. Their presentation contexts offer FLAT and the fingerprint of the interface
 * as transfer syntaxes. {@code crates/com/src/protocol/binding.rs} has the details.
 */
final class Bind {
    private static final int BIND = 11;
    private static final int BIND_ACK = 12;
    private static final int ALTER_CONTEXT = 14;
    private static final int ALTER_CONTEXT_RESP = 15;
    private static final int ACCEPTED = 0;
    private static final int REFUSED = 2;
    private static final int NEGOTIATED = 3;
    private static final int UNKNOWN_INTERFACE = 1;
    private static final int NO_TRANSFER_SYNTAX = 2;
    private static final int LIMIT_EXCEEDED = 3;
    private static final int LIST_MAX = 64;
    private static final int HEADER = 16;
    private static final int FINGERPRINT_VERSION = 0x46500001;
    private static final long PROCESS = 0x9d275e0f14c34ab6L;

    private static final Syntax RUNTIME = new Syntax(Guid.of("4be10c7a-93d5-4f26-8e0b-6a17d2c4f358"), 1);
    private static final Syntax FLAT = new Syntax(Guid.of("8f3c51d2-7a0e-4d6b-b1e4-90c725ad6e18"), 1);
    private static final Syntax NONE = new Syntax(new Guid(0, 0), 0);

    private Bind() {}

    /** A UUID with a version: an interface, a transfer syntax, or data in the same form. */
    record Syntax(Guid uuid, int version) {
        static Syntax process(long oxid) {
            return new Syntax(new Guid(PROCESS, oxid), 1);
        }

        static Syntax fingerprint(InterfaceInfo<?> info) {
            return new Syntax(new Guid(info.fingerprintHigh(), info.fingerprintLow()), FINGERPRINT_VERSION);
        }

        static Syntax read(ByteBuffer from) {
            return new Syntax(Guid.fromWire(from.getLong(), from.getLong()), from.getInt());
        }

        void put(ByteBuffer to) {
            to.putLong(uuid.wireHigh()).putLong(uuid.wireLow()).putInt(version);
        }

        boolean isProcess() {
            return version == 1 && uuid.high() == PROCESS;
        }
    }

    private record Context(Syntax abstractSyntax, List<Syntax> transfers) {}

    record Outcome(int result, int reason, Syntax transfer) {
        static Outcome refused(int reason) {
            return new Outcome(REFUSED, reason, NONE);
        }
    }

    /** The server's answer to a PDU, and the OXID that the client claims, or 0. */
    record Answer(byte[] unit, long client) {}

    /** Sends the OXID of this process and returns the OXID of the peer. */
    static long introduce(WindowChannel channel, long oxid) {
        var contexts = List.of(
                new Context(RUNTIME, List.of(FLAT)), new Context(Syntax.process(oxid), List.of(FLAT)));
        List<Outcome> outcomes = exchange(channel, BIND, 1, contexts);
        return introduced(outcomes.get(0), outcomes.get(1));
    }

    /**
     * Returns the OXID of the server. {@code runtime} is the outcome of the presentation context
     * with the runtime's interface. {@code own} is the outcome of the presentation context with the
     * client's OXID, and contains the server's OXID.
     */
    static long introduced(Outcome runtime, Outcome own) {
        boolean isVersionKnown = runtime.result == ACCEPTED;
        if (own.result == NEGOTIATED && isVersionKnown) {
            if (!own.transfer.isProcess()) {
                throw RpcException.of(Hresult.RPC_E_INVALID_DATA, "the server did not identify its process");
            }
            long oxid = own.transfer.uuid.low();
            if (oxid == 0) {
                throw RpcException.of(Hresult.RPC_E_INVALID_DATA, "the server has OXID 0, which no process has");
            }
            return oxid;
        }
        if (own.result == NEGOTIATED || own.reason == UNKNOWN_INTERFACE || own.reason == NO_TRANSFER_SYNTAX) {
            throw RpcException.of(Hresult.RPC_E_VERSION_MISMATCH, "the server speaks another version of the runtime's protocol");
        }
        if (own.reason == LIMIT_EXCEEDED) {
            throw RpcException.of(Hresult.E_OUTOFMEMORY, "too many clients claim the identity of this process at the server");
        }
        throw RpcException.of(
                Hresult.E_ACCESSDENIED,
                "the server did not accept the identity of this process: it could not verify the identity, or this connection"
                        + " already has another one; connect again");
    }

    /** Verifies that client and server have the same version of an interface. */
    static void alter(WindowChannel channel, InterfaceInfo<?> info) {
        Syntax own = Syntax.fingerprint(info);
        var context = new Context(new Syntax(info.iid(), info.version()), List.of(FLAT, own));
        Outcome outcome = exchange(channel, ALTER_CONTEXT, 2, List.of(context)).get(0);
        if (outcome.result == ACCEPTED) {
            return;
        }
        if (outcome.reason == UNKNOWN_INTERFACE) {
            throw RpcException.of(Hresult.E_NOINTERFACE, "the server does not know interface " + info);
        }
        Syntax theirs = outcome.transfer;
        String there = theirs.version == FINGERPRINT_VERSION ? hex(theirs) : "none";
        throw RpcException.of(
                Hresult.RPC_E_VERSION_MISMATCH,
                "interface " + info.name() + " differs between client and server (fingerprint " + hex(own) + " here, " + there + " there); an interface does not"
                        + " change once it is in use: give the new one a new uuid, or build both sides from the same IDL");
    }

    private static String hex(Syntax fingerprint) {
        return String.format("%016x%016x", fingerprint.uuid.high(), fingerprint.uuid.low());
    }

    private static List<Outcome> exchange(WindowChannel channel, int type, int callId, List<Context> contexts) {
        ByteBuffer body = body(type, callId);
        body.put((byte) contexts.size()).put((byte) 0).putShort((short) 0);
        for (int id = 0; id < contexts.size(); id++) {
            Context context = contexts.get(id);
            body.putShort((short) id).put((byte) context.transfers.size()).put((byte) 0);
            context.abstractSyntax.put(body);
            context.transfers.forEach(transfer -> transfer.put(body));
        }
        return outcomes(channel.exchange(finish(body)), type == BIND ? BIND_ACK : ALTER_CONTEXT_RESP, callId, contexts.size());
    }

    /**
     * Returns the outcomes in a server's answer. The answer must be of the given type, and must
     * have {@code wanted} outcomes, one for each requested context.
     */
    static List<Outcome> outcomes(byte[] bytes, int type, int callId, int wanted) {
        try {
            ByteBuffer answer = unit(bytes);
            if (type(answer) != type || answer.getInt(12) != callId) {
                throw new BadMessageException("the server's response does not belong to this connection's bind");
            }
            return outcomes(answer, wanted);
        } catch (IndexOutOfBoundsException | IllegalArgumentException | BufferUnderflowException e) {
            throw new BadMessageException("the response to the bind is truncated", e);
        }
    }

    private static List<Outcome> outcomes(ByteBuffer answer, int wanted) {
        answer.position(HEADER + 8);
        int address = Short.toUnsignedInt(answer.getShort());
        answer.position(answer.position() + address + 3 & -4);
        int count = Byte.toUnsignedInt(answer.get());
        if (count != wanted) {
            throw new BadMessageException("the response to the bind has " + count + " contexts");
        }
        answer.position(answer.position() + 3);
        List<Outcome> outcomes = new ArrayList<>();
        for (int index = 0; index < count; index++) {
            int result = Short.toUnsignedInt(answer.getShort());
            int reason = Short.toUnsignedInt(answer.getShort());
            outcomes.add(new Outcome(result, reason, Syntax.read(answer)));
        }
        return outcomes;
    }

    /**
     * Returns a server's answer to a PDU. {@code own} is the OXID of the server.
     *
     * @throws BadMessageException if the PDU is neither a bind nor an alter_context
     */
    static Answer answer(byte[] bytes, long own) {
        try {
            ByteBuffer from = unit(bytes);
            int type = type(from);
            if (type != BIND && type != ALTER_CONTEXT) {
                throw new BadMessageException("a protocol data unit of type " + type + " is not a bind");
            }
            List<Outcome> outcomes = new ArrayList<>();
            long client = 0;
            for (Context context : contexts(from)) {
                if (context.abstractSyntax.isProcess()) {
                    client = context.abstractSyntax.uuid.low();
                    outcomes.add(new Outcome(NEGOTIATED, 0, Syntax.process(own)));
                } else {
                    outcomes.add(judge(context));
                }
            }
            return new Answer(ack(type == BIND ? BIND_ACK : ALTER_CONTEXT_RESP, from.getInt(12), own, outcomes), client);
        } catch (IndexOutOfBoundsException | IllegalArgumentException | BufferUnderflowException e) {
            throw new BadMessageException("a bind is truncated", e);
        }
    }

    private static List<Context> contexts(ByteBuffer from) {
        from.position(HEADER + 8);
        int count = Byte.toUnsignedInt(from.get());
        if (count > LIST_MAX) {
            throw new BadMessageException("a bind has " + count + " contexts");
        }
        from.position(from.position() + 3);
        List<Context> contexts = new ArrayList<>();
        for (int index = 0; index < count; index++) {
            from.getShort();
            int transfers = Byte.toUnsignedInt(from.get());
            if (transfers > LIST_MAX) {
                throw new BadMessageException("a context has " + transfers + " transfer syntaxes");
            }
            from.get();
            Syntax syntax = Syntax.read(from);
            List<Syntax> proposed = new ArrayList<>();
            for (int transfer = 0; transfer < transfers; transfer++) {
                proposed.add(Syntax.read(from));
            }
            contexts.add(new Context(syntax, proposed));
        }
        return contexts;
    }

    private static Outcome judge(Context context) {
        boolean hasFlat = context.transfers.contains(FLAT);
        Guid iid = context.abstractSyntax.uuid;
        if (context.abstractSyntax.equals(RUNTIME) || iid.equals(Guid.IUNKNOWN)) {
            return hasFlat ? new Outcome(ACCEPTED, 0, FLAT) : Outcome.refused(NO_TRANSFER_SYNTAX);
        }
        List<Syntax> own = Interfaces.all(iid).stream().map(Syntax::fingerprint).toList();
        if (own.isEmpty()) {
            return Outcome.refused(UNKNOWN_INTERFACE);
        }
        boolean isSame = own.stream().anyMatch(context.transfers::contains);
        return isSame && hasFlat ? new Outcome(ACCEPTED, 0, FLAT) : new Outcome(REFUSED, NO_TRANSFER_SYNTAX, own.getFirst());
    }

    private static byte[] ack(int type, int callId, long own, List<Outcome> outcomes) {
        ByteBuffer body = body(type, callId);
        // The association group identifies this process. The group's ID is the lower half of the
        // OXID, with the lowest bit set, because 0 means no group.
        body.putInt(HEADER + 4, (int) own | 1);
        byte[] address = (ObjRef.endpoint(own) + "\0").getBytes(StandardCharsets.US_ASCII);
        body.putShort((short) address.length).put(address);
        body.position(body.position() + 3 & -4);
        body.put((byte) outcomes.size()).put((byte) 0).putShort((short) 0);
        for (Outcome outcome : outcomes) {
            body.putShort((short) outcome.result).putShort((short) outcome.reason);
            outcome.transfer.put(body);
        }
        return finish(body);
    }

    /** Returns the header of a PDU with the maximum fragment sizes and no association group. */
    private static ByteBuffer body(int type, int callId) {
        ByteBuffer unit = ByteBuffer.allocate(0x4000).order(ByteOrder.LITTLE_ENDIAN);
        // Version 5.0, the flags of the first and the last fragment, little-endian data.
        unit.put((byte) 5).put((byte) 0).put((byte) type).put((byte) 3).putInt(0x10);
        unit.putShort((short) 0).putShort((short) 0).putInt(callId);
        return unit.putShort((short) 0xfff8).putShort((short) 0xfff8).putInt(0);
    }

    private static byte[] finish(ByteBuffer unit) {
        byte[] bytes = new byte[unit.position()];
        unit.putShort(8, (short) bytes.length).flip().get(bytes);
        return bytes;
    }

    /**
     * Returns the PDU in a message. The PDU must be unfragmented, unauthenticated, little-endian
     * and of version 5.
     */
    private static ByteBuffer unit(byte[] bytes) {
        ByteBuffer unit = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        boolean isOne = bytes.length >= HEADER + 8
                && bytes[0] == 5
                && (bytes[3] & 3) == 3
                && unit.getInt(4) == 0x10
                && Short.toUnsignedInt(unit.getShort(8)) <= bytes.length
                && unit.getShort(10) == 0;
        if (!isOne) {
            throw new BadMessageException("the message is not a protocol data unit");
        }
        return unit.limit(Short.toUnsignedInt(unit.getShort(8)));
    }

    private static int type(ByteBuffer unit) {
        return Byte.toUnsignedInt(unit.get(2));
    }
}
