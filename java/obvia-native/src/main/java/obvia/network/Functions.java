package obvia.network;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.stream.Stream;
import obvia.Caller;
import obvia.Credentials;
import obvia.Guid;
import obvia.Hresult;
import obvia.RpcException;
import obvia.SecurityLevel;
import obvia.runtime.InterfaceInfo;
import obvia.runtime.call.ErrorInfo;

/**
 * The functions of the native library, documented in {@code crates/java}. {@link Library#load}
 * loads the library first.
 *
 * <p>Handles of objects are numbers that the library assigns, with 0 for no object. A released
 * handle is invalid.
 */
final class Functions {
    private static final int ABI = 8;

    private static final Linker LINKER = Linker.nativeLinker();
    private static final SymbolLookup SYMBOLS = Library.load();

    private static final MethodHandle WORDS = function("words", FunctionDescriptor.ofVoid(JAVA_INT, ADDRESS));
    private static final MethodHandle DESCRIBE = function("describe", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS));
    private static final MethodHandle TAKE = function("take", FunctionDescriptor.ofVoid(JAVA_LONG, ADDRESS));
    private static final MethodHandle ROOM = function("room", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, ADDRESS));
    private static final MethodHandle RELEASE = function("release", FunctionDescriptor.ofVoid(JAVA_LONG));
    private static final MethodHandle WRAP = function("wrap", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, ADDRESS));
    private static final MethodHandle IS_HELD = function("is_held", FunctionDescriptor.of(JAVA_INT, JAVA_LONG));
    private static final MethodHandle CONNECT = function("connect", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS));
    private static final MethodHandle CALL =
            function("call", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS));
    private static final MethodHandle CALL_ONEWAY =
            function("call_oneway", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG));
    private static final MethodHandle TAKE_BACK = function("take_back", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, ADDRESS, JAVA_LONG));
    private static final MethodHandle QUERY = function("query", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS));
    private static final MethodHandle REFERENCE =
            function("reference", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS));
    private static final MethodHandle ADOPT =
            function("adopt", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS));
    private static final MethodHandle EXPORT = function("export", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, JAVA_LONG, ADDRESS));
    private static final MethodHandle UNEXPORT = function("unexport", FunctionDescriptor.ofVoid(JAVA_LONG));
    private static final MethodHandle LISTEN = function("listen", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS));
    private static final MethodHandle REGISTER_CLASS =
            function("register_class", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_LONG, ADDRESS));
    private static final MethodHandle REVOKE_CLASS = function("revoke_class", FunctionDescriptor.ofVoid(JAVA_LONG));
    private static final MethodHandle CREATE =
            function("create", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS));
    private static final MethodHandle EXPORTED = function("exported", FunctionDescriptor.of(JAVA_LONG));
    private static final MethodHandle SET_PINGING = function("set_pinging", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT));
    private static final MethodHandle SET_CREDENTIALS = function("set_credentials", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS));
    private static final MethodHandle CREDENTIALS = function("credentials", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS));
    private static final MethodHandle SET_ACCOUNTS = function("set_accounts", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG));
    private static final MethodHandle SET_ACCESS = function("set_access", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle SET_CLASS_ACCESS = function("set_class_access", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG));
    private static final MethodHandle CALLER = function("caller", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS));
    private static final MethodHandle IS_OWN_USER = function("is_own_user", FunctionDescriptor.of(JAVA_INT));
    private static final MethodHandle IS_CANCELLED = function("is_cancelled", FunctionDescriptor.of(JAVA_INT));
    private static final MethodHandle MARSHAL =
            function("marshal", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS));
    private static final MethodHandle UNMARSHAL =
            function("unmarshal", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS));
    private static final MethodHandle RELEASE_MARSHAL_DATA =
            function("release_marshal_data", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG));
    private static final MethodHandle CANCELLER = function("canceller", FunctionDescriptor.of(JAVA_LONG));
    private static final MethodHandle CANCEL = function("cancel", FunctionDescriptor.ofVoid(JAVA_LONG));
    private static final MethodHandle FREE_CANCELLER = function("free_canceller", FunctionDescriptor.ofVoid(JAVA_LONG));

    static {
        start();
    }

    private Functions() {}

    // Foreign functions are the purpose of this module.
    @SuppressWarnings("restricted")
    private static MethodHandle function(String name, FunctionDescriptor type) {
        return LINKER.downcallHandle(SYMBOLS.findOrThrow("obvia_java_" + name), type);
    }

    /**
     * Returns a method of {@link Objects} as a native function that is never freed. Addresses are
     * {@code long} on both sides.
     */
    @SuppressWarnings("restricted")
    private static MemorySegment upcall(String name, Class<?> result, Class<?>... parameters) {
        MemoryLayout[] layouts = Stream.of(parameters).map(Functions::layout).toArray(MemoryLayout[]::new);
        FunctionDescriptor type = result == void.class ? FunctionDescriptor.ofVoid(layouts) : FunctionDescriptor.of(layout(result), layouts);
        try {
            MethodHandle method = MethodHandles.lookup().findStatic(Objects.class, name, MethodType.methodType(result, parameters));
            return LINKER.upcallStub(method, type, Arena.global());
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    private static MemoryLayout layout(Class<?> type) {
        return type == int.class ? JAVA_INT : JAVA_LONG;
    }

    private static void start() {
        MethodHandle abi = function("abi", FunctionDescriptor.of(JAVA_INT));
        MethodHandle start = function("start", FunctionDescriptor.of(JAVA_INT, ADDRESS));
        MemorySegment perform = upcall("perform", long.class, long.class, long.class, int.class, long.class, long.class, long.class, long.class);
        MemorySegment implemented = upcall("isImplemented", int.class, long.class, long.class);
        MemorySegment released = upcall("released", void.class, long.class);
        MemorySegment make = upcall("make", int.class, long.class, long.class);
        MemorySegment permits = upcall("permits", int.class, long.class, int.class, int.class, long.class, long.class);
        MemorySegment dropRule = upcall("dropRule", void.class, long.class);
        try {
            if ((int) abi.invokeExact() != ABI) {
                throw RpcException.of(Hresult.RPC_E_VERSION_MISMATCH, "the native library belongs to another version than obvia-native");
            }
            MemorySegment callbacks = Arena.global().allocate(ADDRESS, 6);
            callbacks.setAtIndex(ADDRESS, 0, perform);
            callbacks.setAtIndex(ADDRESS, 1, implemented);
            callbacks.setAtIndex(ADDRESS, 2, released);
            callbacks.setAtIndex(ADDRESS, 3, make);
            callbacks.setAtIndex(ADDRESS, 4, permits);
            callbacks.setAtIndex(ADDRESS, 5, dropRule);
            check((int) start.invokeExact(callbacks));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /**
     * Converts an exception of this class's own code: the library's functions throw no exceptions.
     */
    private static RuntimeException unexpected(Throwable why) {
        if (why instanceof Error error) {
            throw error;
        }
        return why instanceof RuntimeException known ? known : new IllegalStateException(why);
    }

    /** Throws an exception with the library's description if a function has failed. */
    private static void check(int result) throws Throwable {
        if (result < 0) {
            Bytes frame = new Bytes();
            WORDS.invokeExact(result, frame.place);
            frame.settle();
            throw ErrorInfo.toException(result, frame.toArray());
        }
    }

    /**
     * An object that the library found: its handle, its identity, and its number in {@link Objects}
     * if the object belongs to this process, else 0.
     */
    record Found(long handle, long identity, long number) {
        private static final MemoryLayout LAYOUT = MemoryLayout.sequenceLayout(3, JAVA_LONG);

        private static Found at(MemorySegment place) {
            return new Found(place.getAtIndex(JAVA_LONG, 0), place.getAtIndex(JAVA_LONG, 1), place.getAtIndex(JAVA_LONG, 2));
        }
    }

    /**
     * A destination for bytes from the library: a buffer, or memory of the library if the bytes do
     * not fit the buffer.
     */
    static final class Bytes {
        private static final int SMALL = 4096;
        private static final int KEPT_MAX = 1 << 20;

        private final MemorySegment place = Arena.ofAuto().allocate(32, 8);
        private MemorySegment buffer;

        Bytes() {
            shrink();
        }

        /** Replaces a large buffer by a small one. */
        void shrink() {
            if (buffer == null || buffer.byteSize() > KEPT_MAX) {
                use(SMALL);
            }
        }

        private void use(long size) {
            buffer = Arena.ofAuto().allocate(size, 8);
            place.set(ADDRESS, 0, buffer);
            place.set(JAVA_LONG, 8, size);
            place.set(JAVA_LONG, 16, 0);
            place.set(JAVA_LONG, 24, 0);
        }

        /** Fetches bytes that did not fit the buffer. */
        private void settle() throws Throwable {
            long rest = place.get(JAVA_LONG, 24);
            if (rest != 0) {
                long length = length();
                place.set(JAVA_LONG, 24, 0);
                MemorySegment larger;
                try {
                    larger = Arena.ofAuto().allocate(length, 8);
                } catch (Throwable e) {
                    free(rest);
                    throw e;
                }
                TAKE.invokeExact(rest, larger);
                buffer = larger;
                place.set(ADDRESS, 0, buffer);
                place.set(JAVA_LONG, 8, length);
            }
        }

        MemorySegment memory() {
            return buffer;
        }

        int length() {
            return Math.toIntExact(place.get(JAVA_LONG, 16));
        }

        byte[] toArray() {
            return buffer.asSlice(0, length()).toArray(JAVA_BYTE);
        }
    }

    /**
     * Memory of the library for large results. Once given to the library, the memory belongs to the
     * library, which frees it as soon as the results have been sent. Memory of Java would stay
     * allocated until the collector frees it.
     */
    static final class Room {
        private final long bytes;
        private final Arena lifetime = Arena.ofConfined();
        private final MemorySegment memory;

        Room(long length) {
            long made = 0;
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment first = arena.allocate(JAVA_LONG);
                made = (long) ROOM.invokeExact(length, first);
                if (made == 0) {
                    throw RpcException.of(Hresult.E_OUTOFMEMORY, "there is no memory for results of " + length + " bytes");
                }
                memory = foreign(first.get(JAVA_LONG, 0), length, lifetime);
            } catch (Throwable e) {
                if (made != 0) {
                    free(made);
                }
                throw unexpected(e);
            }
            bytes = made;
        }

        MemorySegment memory() {
            return memory;
        }

        /** Ends this thread's use of the memory, and returns the library's handle of the memory. */
        long give() {
            lifetime.close();
            return bytes;
        }

        void drop() {
            free(give());
        }
    }

    private static void free(long bytes) {
        try {
            TAKE.invokeExact(bytes, MemorySegment.NULL);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    private static MemorySegment put(Guid guid, MemorySegment place, long at) {
        place.set(JAVA_LONG, at, guid.high());
        place.set(JAVA_LONG, at + 8, guid.low());
        return place;
    }

    /** Returns memory of the library as a segment. */
    // The library guarantees the length.
    @SuppressWarnings("restricted")
    static MemorySegment foreign(MemorySegment place, long length) {
        return place.reinterpret(length);
    }

    /** Returns memory of the library as a segment that is valid until the arena is closed. */
    @SuppressWarnings("restricted")
    static MemorySegment foreign(MemorySegment memory, Arena lifetime) {
        return memory.reinterpret(lifetime, null);
    }

    @SuppressWarnings("restricted")
    private static MemorySegment foreign(long address, long length, Arena lifetime) {
        return MemorySegment.ofAddress(address).reinterpret(length, lifetime, null);
    }

    /** Returns the memory of the library at an address as a segment. */
    static MemorySegment foreign(long address, long length) {
        return foreign(MemorySegment.ofAddress(address), length);
    }

    static Guid guid(long address) {
        MemorySegment halves = foreign(address, 16);
        return new Guid(halves.getAtIndex(JAVA_LONG, 0), halves.getAtIndex(JAVA_LONG, 1));
    }

    /** Registers an interface with the library and returns its number. */
    static long describe(InterfaceInfo<?> info) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment description = put(info.iid(), arena.allocate(56, 8), 0);
            put(new Guid(info.fingerprintHigh(), info.fingerprintLow()), description, 16);
            description.set(JAVA_INT, 32, info.version());
            description.set(ADDRESS, 40, arena.allocateFrom(info.name()));
            description.set(ADDRESS, 48, arena.allocateFrom(info.idl()));
            MemorySegment place = arena.allocate(JAVA_LONG);
            check((int) DESCRIBE.invokeExact(description, place));
            return place.get(JAVA_LONG, 0);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    static void release(long handle) {
        try {
            RELEASE.invokeExact(handle);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Creates a handle of an object of this process from its number in {@link Objects}. */
    static long wrap(long number) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment place = arena.allocate(JAVA_LONG);
            check((int) WRAP.invokeExact(number, place));
            return place.get(JAVA_LONG, 0);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    static boolean isHeld(long number) {
        try {
            return (int) IS_HELD.invokeExact(number) != 0;
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    static Found connect(String binding, long credentials, long info, Limit limit) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment found = arena.allocate(Found.LAYOUT);
            check((int) CONNECT.invokeExact(arena.allocateFrom(binding), credentials, info, limit.said(), limit.canceller(), found));
            return Found.at(found);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Calls a method and returns its HRESULT; on success, {@code results} holds the results. */
    static int call(long handle, int opnum, MemorySegment request, MemorySegment given, Limit limit, MemorySegment returned, Bytes results) {
        try {
            check((int) CALL.invokeExact(
                    handle, opnum, request, request.byteSize(), given, given.byteSize(), limit.said(), limit.canceller(), returned, results.place));
            results.settle();
            return returned.get(JAVA_INT, 0);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    static void callOneway(long handle, int opnum, MemorySegment request, MemorySegment given, Limit limit) {
        try {
            check((int) CALL_ONEWAY.invokeExact(handle, opnum, request, request.byteSize(), given, given.byteSize(), limit.said(), limit.canceller()));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Takes back references that were marshaled for a call of the object {@code through}. */
    static void takeBack(long through, MemorySegment given) {
        try {
            check((int) TAKE_BACK.invokeExact(through, given, given.byteSize()));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    static Found query(long handle, long info, Limit limit) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment found = arena.allocate(Found.LAYOUT);
            check((int) QUERY.invokeExact(handle, info, limit.said(), limit.canceller(), found));
            return Found.at(found);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /**
     * Marshals a reference into the arguments of a call of the object {@code through}. If
     * {@code through} is 0, marshals the reference into the results of the call that this thread
     * performs.
     */
    static byte[] reference(long through, long handle, long info, Limit limit) {
        try {
            Bytes reference = new Bytes();
            check((int) REFERENCE.invokeExact(through, handle, info, limit.said(), limit.canceller(), reference.place));
            reference.settle();
            return reference.toArray();
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /**
     * Unmarshals a reference from the results of a call of the object {@code through}. If
     * {@code through} is 0, unmarshals the reference from the arguments of the call that this
     * thread performs.
     */
    static Found adopt(long through, byte[] reference, long info, Limit limit) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment found = arena.allocate(Found.LAYOUT);
            MemorySegment bytes = arena.allocateFrom(JAVA_BYTE, reference);
            check((int) ADOPT.invokeExact(through, bytes, (long) reference.length, info, limit.said(), limit.canceller(), found));
            return Found.at(found);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Exports an object and returns the handle for {@link #unexport}. */
    static long export(String name, long handle, long info) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment entry = arena.allocate(JAVA_LONG);
            check((int) EXPORT.invokeExact(arena.allocateFrom(name), handle, info, entry));
            return entry.get(JAVA_LONG, 0);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    static void unexport(long entry) {
        try {
            UNEXPORT.invokeExact(entry);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    static String listen(String binding) {
        try (Arena arena = Arena.ofConfined()) {
            Bytes taken = new Bytes();
            check((int) LISTEN.invokeExact(arena.allocateFrom(binding), taken.place));
            taken.settle();
            return new String(taken.toArray(), StandardCharsets.UTF_8);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Registers a class and returns the handle for {@link #revokeClass}. */
    static long registerClass(Guid id, long info, long maker, long object) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment registration = arena.allocate(JAVA_LONG);
            check((int) REGISTER_CLASS.invokeExact(put(id, arena.allocate(16, 8), 0), info, maker, object, registration));
            return registration.get(JAVA_LONG, 0);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    static void revokeClass(long registration) {
        try {
            REVOKE_CLASS.invokeExact(registration);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    static Found create(Guid id, boolean wantsClass, String binding, long credentials, long info, Limit limit) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment found = arena.allocate(Found.LAYOUT);
            MemorySegment halves = put(id, arena.allocate(16, 8), 0);
            MemorySegment server = arena.allocateFrom(binding);
            check((int) CREATE.invokeExact(halves, wantsClass ? 1 : 0, server, credentials, info, limit.said(), limit.canceller(), found));
            return Found.at(found);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    static long exported() {
        try {
            return (long) EXPORTED.invokeExact();
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    static void setPinging(long nanoseconds, int missed) {
        try {
            check((int) SET_PINGING.invokeExact(nanoseconds, missed));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    static void setCredentials(Credentials credentials) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment domain = arena.allocateFrom(credentials.domain());
            check((int) SET_CREDENTIALS.invokeExact(domain, arena.allocateFrom(credentials.user()), arena.allocateFrom(credentials.password())));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /**
     * Registers credentials for later connections and returns their handle, which is never freed.
     */
    static long credentials(Credentials credentials) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment domain = arena.allocateFrom(credentials.domain());
            MemorySegment user = arena.allocateFrom(credentials.user());
            MemorySegment shown = arena.allocate(JAVA_LONG);
            check((int) CREDENTIALS.invokeExact(domain, user, arena.allocateFrom(credentials.password()), shown));
            return shown.get(JAVA_LONG, 0);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    static void setAccounts(Map<String, String> passwords) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment accounts = arena.allocate(ADDRESS, 2L * passwords.size());
            long at = 0;
            for (var account : passwords.entrySet()) {
                accounts.setAtIndex(ADDRESS, at++, arena.allocateFrom(account.getKey()));
                accounts.setAtIndex(ADDRESS, at++, arena.allocateFrom(account.getValue()));
            }
            check((int) SET_ACCOUNTS.invokeExact(accounts, (long) passwords.size()));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /**
     * Returns the caller of the method that this thread performs; {@code null} if the call did not
     * come over a network.
     */
    static Caller caller() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment who = arena.allocate(8, 4);
            Bytes words = new Bytes();
            int result = (int) CALLER.invokeExact(who, words.place);
            check(result);
            if (result != Hresult.S_OK) {
                return null;
            }
            words.settle();
            return caller(who.get(JAVA_INT, 0), who.get(JAVA_INT, 4), words.memory().asSlice(0, words.length()));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Whether the caller of the method that this thread performs runs as this process's user. */
    static boolean isOwnUser() {
        try {
            return (int) IS_OWN_USER.invokeExact() != 0;
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /**
     * Whether the caller of the method that this thread performs no longer waits for the result.
     */
    static boolean isCancelled() {
        try {
            return (int) IS_CANCELLED.invokeExact() != 0;
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Converts the library's description of a caller. */
    static Caller caller(int process, int protection, MemorySegment words) {
        String[] texts = new String(words.toArray(JAVA_BYTE), StandardCharsets.UTF_8).split("\0", -1);
        SecurityLevel level = switch (protection) {
            case 2 -> SecurityLevel.CONNECT;
            case 5 -> SecurityLevel.INTEGRITY;
            case 6 -> SecurityLevel.PRIVACY;
            default -> SecurityLevel.NONE;
        };
        String host = texts[0].isEmpty() ? null : texts[0];
        boolean isKnown = level != SecurityLevel.NONE;
        return new Caller(Integer.toUnsignedLong(process), host, isKnown ? texts[1] : null, isKnown ? texts[2] : null, level);
    }

    /** Sets the access rule of an object; handle 0 sets the default rule. */
    static void setAccess(long handle, long rule) {
        try {
            check((int) SET_ACCESS.invokeExact(handle, rule));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Sets the access rule of a class; {@code null} sets the default rule. */
    static void setClassAccess(Guid id, long rule) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment halves = id == null ? MemorySegment.NULL : put(id, arena.allocate(16, 8), 0);
            check((int) SET_CLASS_ACCESS.invokeExact(halves, rule));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /**
     * Marshals a reference as an OBJREF that can be unmarshaled once. If {@code isForOthers},
     * processes of other hosts can unmarshal it as well (MSHCTX_DIFFERENTMACHINE).
     */
    static byte[] marshal(long handle, long info, boolean isForOthers, Limit limit) {
        try {
            Bytes reference = new Bytes();
            check((int) MARSHAL.invokeExact(handle, info, isForOthers ? 2 : 0, 0, limit.said(), limit.canceller(), reference.place));
            reference.settle();
            return reference.toArray();
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    static Found unmarshal(byte[] reference, long info, Limit limit) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment found = arena.allocate(Found.LAYOUT);
            MemorySegment bytes = arena.allocateFrom(JAVA_BYTE, reference);
            check((int) UNMARSHAL.invokeExact(bytes, (long) reference.length, info, limit.said(), limit.canceller(), found));
            return Found.at(found);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    static void releaseMarshalData(byte[] reference, Limit limit) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocateFrom(JAVA_BYTE, reference);
            check((int) RELEASE_MARSHAL_DATA.invokeExact(bytes, (long) reference.length, limit.said(), limit.canceller()));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    static long newCanceller() {
        try {
            return (long) CANCELLER.invokeExact();
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    static void cancel(long canceller) {
        try {
            CANCEL.invokeExact(canceller);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    static void freeCanceller(long canceller) {
        try {
            FREE_CANCELLER.invokeExact(canceller);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }
}
