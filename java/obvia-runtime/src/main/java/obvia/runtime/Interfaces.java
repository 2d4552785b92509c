package obvia.runtime;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import obvia.Guid;
import obvia.Hresult;
import obvia.Remote;
import obvia.RpcException;

/**
 * The interfaces that this process knows.
 *
 * <p>Each class loader may have its own class of an interface. An IID alone therefore means the
 * class that was registered last. An IID together with an object means the class that the object
 * implements. A description lives as long as the interface's class: this table does not keep class
 * loaders alive.
 */
public final class Interfaces {
    /** The descriptions by IID, the newest first. */
    private static final Map<Guid, List<WeakReference<InterfaceInfo<?>>>> BY_IID = new HashMap<>();

    /** IUnknown, which every object implements. */
    static final InterfaceInfo<Remote> UNKNOWN = new InterfaceInfo<>(
            Remote.class,
            "IUnknown",
            Guid.IUNKNOWN,
            0,
            0,
            0,
            null,
            UnknownProxy::new,
            (object, call) -> {
                throw call.noMethod();
            },
            "",
            List::of);

    private static final ClassValue<InterfaceInfo<?>> BY_TYPE = new ClassValue<>() {
        @Override
        protected InterfaceInfo<?> computeValue(Class<?> type) {
            return find(type);
        }
    };

    static {
        add(UNKNOWN);
    }

    private Interfaces() {}

    /** A proxy of an object with an unknown interface. */
    private static final class UnknownProxy extends Proxy {
        UnknownProxy(Reference reference) {
            super(reference);
        }
    }

    @SuppressWarnings("unchecked")
    static <T> InterfaceInfo<T> of(Class<T> type) {
        InterfaceInfo<T> info = (InterfaceInfo<T>) BY_TYPE.get(type);
        add(info);
        return info;
    }

    /** Adds an interface and the interfaces to which its description refers. */
    private static void add(InterfaceInfo<?> info) {
        if (isNew(info)) {
            info.module().get().forEach(Interfaces::add);
            // A client that knows only the base interface calls the object by the base interface.
            if (info.base() != null) {
                add(info.base());
            }
        }
    }

    private static boolean isNew(InterfaceInfo<?> info) {
        synchronized (BY_IID) {
            List<WeakReference<InterfaceInfo<?>>> same = BY_IID.computeIfAbsent(info.iid(), iid -> new ArrayList<>());
            if (same.stream().anyMatch(known -> known.get() == info)) {
                return false;
            }
            same.addFirst(new WeakReference<>(info));
            Iterator<List<WeakReference<InterfaceInfo<?>>>> all = BY_IID.values().iterator();
            while (all.hasNext()) {
                List<WeakReference<InterfaceInfo<?>>> some = all.next();
                some.removeIf(known -> known.refersTo(null));
                if (some.isEmpty()) {
                    all.remove();
                }
            }
            return true;
        }
    }

    private static InterfaceInfo<?> find(Class<?> type) {
        if (type == Remote.class) {
            return UNKNOWN;
        }
        String name = type.getName() + "Info";
        try {
            Object info = Class.forName(name, true, type.getClassLoader()).getField("INFO").get(null);
            if (info instanceof InterfaceInfo<?> found && found.type() == type) {
                return found;
            }
            throw new IllegalArgumentException(name + " describes another interface");
        } catch (IllegalAccessException e) {
            throw new IllegalArgumentException(unexported(type, name), e);
        } catch (ReflectiveOperationException e) {
            throw new IllegalArgumentException(type.getName() + " is not an interface that the compiler generated: there is no " + name, e);
        }
    }

    /** Returns the message for a class that exists but is not accessible to this module. */
    private static String unexported(Class<?> type, String name) {
        if (!type.getModule().isNamed()) {
            return name + " is not public, or its INFO is not";
        }
        String own = Interfaces.class.getModule().isNamed() ? Interfaces.class.getModule().getName() : "obvia.runtime";
        return "module " + type.getModule().getName() + " does not export " + name + ": its module-info.java needs `exports " + type.getPackageName() + " to " + own + ";`";
    }

    /** Returns the descriptions of an IID, the newest first. */
    public static List<InterfaceInfo<?>> all(Guid iid) {
        synchronized (BY_IID) {
            return present(BY_IID.getOrDefault(iid, List.of())).toList();
        }
    }

    private static Stream<InterfaceInfo<?>> present(List<WeakReference<InterfaceInfo<?>>> some) {
        return some.stream().<InterfaceInfo<?>>map(WeakReference::get).filter(Objects::nonNull);
    }

    /**
     * Returns an interface by its IID.
     *
     * @throws RpcException with E_NOINTERFACE if this process does not know the interface
     */
    public static InterfaceInfo<?> find(Guid iid) {
        return find(iid, null);
    }

    /**
     * Returns an interface by its IID: the interface that the object implements, or else the
     * interface that was registered last.
     *
     * @throws RpcException with E_NOINTERFACE if this process does not know the interface
     */
    public static InterfaceInfo<?> find(Guid iid, Object object) {
        List<InterfaceInfo<?>> all = all(iid);
        for (InterfaceInfo<?> info : all) {
            if (info.type().isInstance(object)) {
                return info;
            }
        }
        if (all.isEmpty()) {
            throw RpcException.of(Hresult.E_NOINTERFACE, "this process does not know interface {" + iid + "}");
        }
        return all.getFirst();
    }

    /** Returns one description of each IID. */
    public static List<InterfaceInfo<?>> all() {
        synchronized (BY_IID) {
            return BY_IID.values().stream().<InterfaceInfo<?>>flatMap(some -> present(some).limit(1)).toList();
        }
    }

    /**
     * Returns the interface with this IID, for an object whose interface is given by an argument.
     *
     * @throws RpcException with E_NOINTERFACE if this process does not know the interface, or the
     *     interface does not extend {@link Remote}
     */
    static InterfaceInfo<? extends Remote> of(Guid iid) {
        return of(iid, null);
    }

    /**
     * Returns the interface with this IID for an object. If several class loaders have the
     * interface, the object's class decides: see {@link #find(Guid, Object)}.
     *
     * @throws RpcException with E_NOINTERFACE if this process does not know the interface, or the
     *     interface does not extend {@link Remote}
     */
    @SuppressWarnings("unchecked")
    static InterfaceInfo<? extends Remote> of(Guid iid, Object object) {
        InterfaceInfo<?> info = find(iid, object);
        if (!Remote.class.isAssignableFrom(info.type())) {
            throw RpcException.of(Hresult.E_NOINTERFACE, info.type().getName() + " does not extend " + Remote.class.getName());
        }
        return (InterfaceInfo<? extends Remote>) info;
    }
}
