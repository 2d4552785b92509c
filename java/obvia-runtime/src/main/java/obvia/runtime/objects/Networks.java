package obvia.runtime.objects;

import java.util.HashMap;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.function.Supplier;
import obvia.Access;
import obvia.Caller;
import obvia.Credentials;
import obvia.Endpoint;
import obvia.Guid;
import obvia.Hresult;
import obvia.RpcException;
import obvia.runtime.InterfaceInfo;
import obvia.runtime.Network;
import obvia.spi.Providers;

/**
 * The network of this process, if any, and the exports to it. From the first listening endpoint on,
 * the network has all exports of this process.
 */
final class Networks {
    private Network network;
    private boolean isHeard;
    private final Rules rules;
    private final Map<String, Runnable> exports = new HashMap<>();
    private final Map<Guid, Registered> classes = new HashMap<>();

    /** A class, with the action that ends its registration, if any. */
    private static final class Registered {
        final InterfaceInfo<?> info;
        final Supplier<?> make;
        final Object classObject;
        Runnable end;

        Registered(InterfaceInfo<?> info, Supplier<?> make, Object classObject) {
            this.info = info;
            this.make = make;
            this.classObject = classObject;
        }
    }

    Networks(Rules rules) {
        this.rules = rules;
    }

    /**
     * Returns the network.
     *
     * @param what the purpose, for the error message
     */
    synchronized Network network(String what) {
        if (network == null) {
            Network found = Providers.first(Network.class, loader -> ServiceLoader.load(Network.class, loader));
            if (found == null) {
                String why = ": only ncacn_vi_shm works without obvia-native, which is not on the module path or class path";
                throw RpcException.of(Hresult.E_INVALIDARG, what + why);
            }
            rules.tell(found);
            network = found;
        }
        return network;
    }

    Endpoint connect(String binding, Credentials credentials) {
        Network network = network("`" + binding + "`");
        return new ClosableEndpoint() {
            @Override
            <T> T find(Class<T> type, String name) {
                return network.bind(binding, credentials, InterfaceInfo.of(type), name);
            }

            @Override
            <T> T create(Guid classId, Class<T> type, boolean wantsClass) {
                return network.create(binding, credentials, classId, InterfaceInfo.of(type), wantsClass);
            }
        };
    }

    synchronized String listen(String binding, Map<String, NamedExport> names) {
        String taken = network("`" + binding + "`").listen(binding);
        isHeard = true;
        names.forEach((name, named) -> export(named.object(), named.info(), name));
        classes.forEach(this::register);
        return taken;
    }

    synchronized void export(Object object, InterfaceInfo<?> info, String name) {
        if (isHeard && !exports.containsKey(name)) {
            exports.put(name, network.export(object, info, name));
        }
    }

    /**
     * Exports another object under a name. No other process can take the name during the change,
     * but a client that looks up the name during the change does not find it.
     */
    synchronized void rebind(Object object, InterfaceInfo<?> info, String name) {
        end(name);
        export(object, info, name);
    }

    /**
     * Replaces an object for all existing references, by networks and through shared memory, or
     * throws and changes nothing. A rule of the former object also applies to the new object, unless
     * the new object has a rule of its own.
     *
     * @param shared the references through shared memory
     * @param isNamed whether the new object has a name already
     */
    synchronized void replace(Object former, Object object, Exports shared, boolean isNamed) {
        if (isHeard && isNamed && former != object) {
            throw RpcException.of(Hresult.E_INVALIDARG, "the new object already has a name on networks, so it cannot take over the references of the former one");
        }
        shared.replace(former, object, () -> {
            if (network != null) {
                network.replace(former, object);
            }
            rules.inherit(former, object);
        });
    }

    /** See {@link obvia.ObviaRuntime#setAccess}. */
    synchronized void setAccess(Object object, Access rule) {
        if (network != null) {
            network.setAccess(object, rule);
        }
        rules.setAccess(object, rule);
    }

    /** See {@link obvia.ObviaRuntime#setClassAccess}. */
    synchronized void setClassAccess(Guid id, Access rule) {
        if (network != null) {
            network.setClassAccess(id, rule);
        }
        rules.setClassAccess(id, rule);
    }

    synchronized void end(String name) {
        Runnable end = exports.remove(name);
        if (end != null) {
            end.run();
        }
    }

    synchronized void registerClass(Guid id, InterfaceInfo<?> info, Supplier<?> make, Object classObject) {
        Registered registered = new Registered(info, make, classObject);
        if (isHeard) {
            register(id, registered);
        }
        classes.put(id, registered);
    }

    private void register(Guid id, Registered registered) {
        if (registered.end == null) {
            registered.end = network.registerClass(id, registered.info, registered.make, registered.classObject);
        }
    }

    synchronized void endClass(Guid id) {
        Registered registered = classes.remove(id);
        if (registered != null && registered.end != null) {
            registered.end.run();
        }
    }

    /** Returns the number of interface pointers to which clients hold references over networks. */
    synchronized long held() {
        return network == null ? 0 : network.held();
    }

    /**
     * Returns the caller of the method that this thread performs, or {@code null} if the call did
     * not come over a network.
     */
    synchronized Caller caller() {
        return network == null ? null : network.caller();
    }

    /** Whether the caller over a network has given up. */
    synchronized boolean isCancelled() {
        return network != null && network.isCancelled();
    }

    byte[] marshal(Object object, InterfaceInfo<?> info) {
        Network network = network("references as bytes");
        boolean isForOthers;
        synchronized (this) {
            isForOthers = isHeard;
        }
        return network.marshal(object, info, isForOthers);
    }
}
