package obvia.runtime.objects;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import obvia.Guid;
import obvia.Hresult;
import obvia.RpcException;

/**
 * The wire format of an interface pointer: a standard OBJREF (MS-DCOM 2.2.18.4) whose IPID contains
 * the target and the OXID of its process.
 *
 * @param iid the interface
 * @param refs the number of references that are transferred: the receiver has to release them
 * @param oxid the OXID of the object's process
 * @param oid the OID of the object
 * @param target the interface pointer in the table of that process
 * @param endpoints the names in the directory by which the process is reached
 */
record ObjRef(Guid iid, int refs, long oxid, long oid, long target, List<String> endpoints) {
    private static final int SIGNATURE = 0x574f454d;
    private static final int STANDARD = 1;
    private static final int HANDLER = 2;
    private static final int CUSTOM = 4;
    private static final int TOWER_VI_SHM = 0xf5;
    /** The maximum length of an accepted reference in bytes. */
    static final int LENGTH_MAX = 4096;

    /** Returns the name of a process's endpoint in the directory. */
    static String endpoint(long oxid) {
        return String.format("oxid-%016x", oxid);
    }

    byte[] toBytes() {
        StringBuilder bindings = new StringBuilder();
        for (String endpoint : endpoints) {
            bindings.append((char) TOWER_VI_SHM).append(endpoint).append('\0');
        }
        bindings.append('\0');
        // The list of security bindings is empty. An empty list has an empty binding before its
        // terminator, as in the smallest DUALSTRINGARRAY (MS-DCOM 2.2.19).
        int strings = bindings.length();
        bindings.append("\0\0");
        ByteBuffer to = ByteBuffer.allocate(68 + 2 * bindings.length()).order(ByteOrder.LITTLE_ENDIAN);
        to.putInt(SIGNATURE).putInt(STANDARD).putLong(iid.wireHigh()).putLong(iid.wireLow());
        to.putInt(0).putInt(refs).putLong(oxid).putLong(oid).putLong(target).putLong(oxid);
        to.putShort((short) bindings.length()).putShort((short) strings);
        bindings.chars().forEach(unit -> to.putShort((short) unit));
        return to.array();
    }

    /** Parses a reference; trailing bytes are ignored. */
    static ObjRef fromBytes(byte[] bytes) {
        try {
            ByteBuffer from = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
            int signature = from.getInt();
            int form = from.getInt();
            if (signature == SIGNATURE && form == CUSTOM) {
                throw RpcException.of(Hresult.REGDB_E_CLASSNOTREG, "the object reference is custom, and only its class can read it");
            }
            if (signature != SIGNATURE || form != STANDARD && form != HANDLER) {
                throw bad("it is neither a standard nor a handler reference");
            }
            Guid iid = Guid.fromWire(from.getLong(), from.getLong());
            from.getInt();
            int refs = from.getInt();
            long oxid = from.getLong();
            long oid = from.getLong();
            long target = from.getLong();
            if (oxid == 0) {
                throw bad("no process has its OXID, 0");
            }
            if (from.getLong() != oxid) {
                throw bad("its IPID belongs to another process");
            }
            if (form == HANDLER) {
                // Skips the CLSID of the handler. This process has no handlers, and uses an
                // ordinary proxy.
                from.getLong();
                from.getLong();
            }
            if (refs < 0) {
                throw bad("it has an invalid reference count, " + Integer.toUnsignedString(refs));
            }
            return new ObjRef(iid, refs, oxid, oid, target, endpoints(from));
        } catch (BufferUnderflowException e) {
            throw bad("it is truncated");
        }
    }

    private static List<String> endpoints(ByteBuffer from) {
        int words = Short.toUnsignedInt(from.getShort());
        int strings = Short.toUnsignedInt(from.getShort());
        if (strings > words || words > from.remaining() / 2) {
            throw bad("its bindings are longer than the reference");
        }
        List<String> endpoints = new ArrayList<>();
        int left = strings;
        while (left > 0) {
            int tower = Short.toUnsignedInt(from.getShort());
            left--;
            if (tower == 0) {
                break;
            }
            StringBuilder address = new StringBuilder();
            char unit = 0;
            while (left-- > 0 && (unit = from.getChar()) != 0) {
                address.append(unit);
            }
            if (unit != 0) {
                throw bad("a binding has no end");
            }
            if (address.codePoints().anyMatch(c -> c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE)) {
                throw bad("a binding has half of a surrogate pair");
            }
            String endpoint = endpoint(address.toString());
            if (tower == TOWER_VI_SHM && !endpoint.isEmpty()) {
                endpoints.add(endpoint);
            }
        }
        return endpoints;
    }

    /**
     * Returns the endpoint's name in an address. The address is a name, or an empty host and a name
     * in brackets. Options after the name are ignored. The result is empty if the address has a
     * host.
     */
    private static String endpoint(String address) {
        int open = address.indexOf('[');
        if (open > 0) {
            return "";
        }
        String inside = open == 0 && address.endsWith("]") ? address.substring(1, address.length() - 1) : address;
        int comma = inside.indexOf(',');
        return comma < 0 ? inside : inside.substring(0, comma);
    }

    private static RpcException bad(String what) {
        return RpcException.of(Hresult.RPC_E_INVALID_OBJREF, "the object reference is invalid: " + what);
    }
}
