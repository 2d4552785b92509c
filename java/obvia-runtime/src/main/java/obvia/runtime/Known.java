package obvia.runtime;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import obvia.Guid;
import obvia.Hresult;
import obvia.Remote;
import obvia.RpcException;

/** The interfaces that this process knows. */
final class Known {
    private static final Map<Guid, InterfaceInfo<?>> BY_IID = new ConcurrentHashMap<>();

    private static final ClassValue<InterfaceInfo<?>> BY_TYPE = new ClassValue<>() {
        @Override
        protected InterfaceInfo<?> computeValue(Class<?> type) {
            return find(type);
        }
    };

    static {
        BY_IID.put(Guid.IUNKNOWN, ProcessRuntime.UNKNOWN);
    }

    private Known() {}

    @SuppressWarnings("unchecked")
    static <T> InterfaceInfo<T> of(Class<T> type) {
        InterfaceInfo<T> info = (InterfaceInfo<T>) BY_TYPE.get(type);
        add(info);
        return info;
    }

    /** Adds an interface, and all that it knows of others. */
    private static void add(InterfaceInfo<?> info) {
        if (BY_IID.putIfAbsent(info.iid(), info) == null) {
            info.module().get().forEach(Known::add);
            // Who has an older interface alone calls the newer one by that.
            if (info.base() != null) {
                add(info.base());
            }
        }
    }

    private static InterfaceInfo<?> find(Class<?> type) {
        if (type == Remote.class) {
            return ProcessRuntime.UNKNOWN;
        }
        String name = type.getName() + "Info";
        try {
            Object info = Class.forName(name, true, type.getClassLoader()).getField("INFO").get(null);
            if (info instanceof InterfaceInfo<?> found && found.type() == type) {
                return found;
            }
            throw new IllegalArgumentException(name + " describes another interface");
        } catch (ReflectiveOperationException e) {
            throw new IllegalArgumentException(type.getName() + " is no interface that the compiler has made: there is no " + name, e);
        }
    }

    /** An interface by its IID. */
    static InterfaceInfo<?> find(Guid iid) {
        InterfaceInfo<?> info = BY_IID.get(iid);
        if (info == null) {
            throw new RpcException(Hresult.E_NOINTERFACE, "this process does not know interface {" + iid + "}");
        }
        return info;
    }

    static boolean has(Guid iid) {
        return BY_IID.containsKey(iid);
    }

    static Iterable<InterfaceInfo<?>> all() {
        return BY_IID.values();
    }
}
