package obvia.runtime.objects;

import static java.util.Objects.requireNonNull;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import obvia.Caller;
import obvia.Export;
import obvia.Guid;
import obvia.Hresult;
import obvia.RpcException;
import obvia.Threading;
import obvia.runtime.InterfaceInfo;
import obvia.runtime.Interfaces;
import obvia.runtime.shm.Directory;

/** The objects that this process exports under names. */
final class NamedExports {
    private final ProcessRuntime runtime;
    private final Networks networks;
    private final Map<String, NamedExport> names = new ConcurrentHashMap<>();

    NamedExports(ProcessRuntime runtime, Networks networks) {
        this.runtime = runtime;
        this.networks = networks;
    }

    /** Returns the export of a name, or {@code null}. */
    NamedExport get(String name) {
        return names.get(name);
    }

    /** See {@link obvia.Obvia#export}. */
    <T> Export export(T object, Class<T> type, String name, Threading threading) {
        ProcessRuntime.refuseProxy(requireNonNull(object, "object"));
        NamedExport named = new NamedExport(type.cast(object), InterfaceInfo.of(type), threading == Threading.VIRTUAL);
        runtime.serve();
        Directory.Name bound = Directory.own().bind(name);
        Export exported = new Exported(name, bound);
        boolean isDone = false;
        try {
            synchronized (names) {
                networks.export(object, named.info(), name);
                names.put(name, named);
            }
            runtime.accept(bound, name, false);
            isDone = true;
            return exported;
        } finally {
            if (!isDone) {
                exported.close();
            }
        }
    }

    private final class Exported implements Export {
        private final String name;
        private final Directory.Name bound;

        Exported(String name, Directory.Name bound) {
            this.name = name;
            this.bound = bound;
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public void replace(Object object) {
            put(object, null);
        }

        @Override
        public <T> void replace(T object, Class<T> type) {
            put(type.cast(object), InterfaceInfo.of(type));
        }

        @Override
        public <T> void rebind(T object, Class<T> type) {
            ProcessRuntime.refuseProxy(requireNonNull(object, "object"));
            InterfaceInfo<T> info = InterfaceInfo.of(type);
            synchronized (names) {
                checkOpen();
                networks.rebind(object, info, name);
                names.computeIfPresent(name, (n, named) -> new NamedExport(type.cast(object), info, named.isVirtual()));
            }
        }

        private void checkOpen() {
            if (!bound.isServed()) {
                throw RpcException.of(Hresult.RPC_E_DISCONNECTED, "the export is closed");
            }
        }

        private void put(Object object, InterfaceInfo<?> newer) {
            ProcessRuntime.refuseProxy(requireNonNull(object, "object"));
            synchronized (names) {
                checkOpen();
                Object former = names.get(name).object();
                Map<String, NamedExport> renewed = new HashMap<>();
                names.forEach((key, named) -> {
                    if (named.object() == former) {
                        InterfaceInfo<?> info = named.infoFor(object);
                        Exports.checkInterface(object, info);
                        boolean isNewer = newer != null && key.equals(name);
                        renewed.put(key, new NamedExport(object, isNewer ? newer : info, named.isVirtual()));
                    }
                });
                boolean isNamed = names.values().stream().anyMatch(named -> named.object() == object);
                networks.replace(former, object, runtime.exports(), isNamed);
                names.putAll(renewed);
                // Callers that already have references to the new object must be checked by the rule
                // that it may have inherited just now.
                runtime.recall();
            }
        }

        @Override
        public void close() {
            synchronized (names) {
                if (bound.isServed()) {
                    bound.close();
                    names.remove(name);
                    networks.end(name);
                }
            }
        }
    }

    /** See {@link obvia.Obvia#listen}. */
    String listen(String binding) {
        synchronized (names) {
            return networks.listen(binding, names);
        }
    }

    /**
     * Marshals a reference to the object that is exported under a name, with references counted for
     * the client.
     *
     * @param caller the process of the client
     * @param client the OXID of the client
     */
    ObjRef marshal(String name, Guid iid, Caller caller, long client) {
        while (true) {
            NamedExport named = names.get(name);
            if (named == null) {
                throw RpcException.of(Hresult.RPC_E_DISCONNECTED, "nothing is exported as `" + name + "`");
            }
            // The program's rule may take long, so it is evaluated without the lock.
            runtime.rules().admit(named.object(), "the object " + name, caller);
            // The lock prevents a concurrent replacement of the object.
            synchronized (names) {
                if (names.get(name) == named) {
                    return runtime.marshalOwn(named.object(), Interfaces.find(iid, named.object()), client, named.isVirtual());
                }
            }
        }
    }

    /** Returns the names with their interfaces, as lines of text. */
    String list() {
        StringBuilder lines = new StringBuilder();
        names.forEach((name, named) -> lines.append(
                name + "\t" + named.info().name() + "\t" + RuntimeCalls.text(named.info().iid()) + "\n"));
        return lines.toString();
    }
}
