package obvia.runtime;

import java.util.HashMap;
import java.util.Map;
import java.util.ServiceLoader;
import obvia.Endpoint;
import obvia.Hresult;
import obvia.RpcException;

/** The network of this process, where there is one, and what is exported to it: everything, from when it is first listened on. */
final class Networks {
    private Network network;
    private boolean isHeard;
    private final Map<String, Runnable> exports = new HashMap<>();

    private synchronized Network network(String binding) {
        if (network == null) {
            network = ServiceLoader.load(Network.class).findFirst().orElseThrow(() -> new RpcException(
                    Hresult.E_INVALIDARG, "`" + binding + "`: for other than ncacn_vi_shm: there has to be an obvia-native on the module path or class path"));
        }
        return network;
    }

    Endpoint connect(String binding) {
        Network network = network(binding);
        return new Endpoint() {
            @Override
            public <T> T bind(Class<T> type, String name) {
                return network.bind(binding, Known.of(type), name);
            }

            @Override
            public void close() {}
        };
    }

    synchronized String listen(String binding, Map<String, ProcessRuntime.Named> names) {
        String taken = network(binding).listen(binding);
        isHeard = true;
        names.forEach((name, named) -> export(named.object(), named.info(), name));
        return taken;
    }

    synchronized void export(Object object, InterfaceInfo<?> info, String name) {
        if (isHeard && !exports.containsKey(name)) {
            exports.put(name, network.export(object, info, name));
        }
    }

    synchronized void replace(Object former, Object object) {
        if (isHeard) {
            network.replace(former, object);
        }
    }

    synchronized void end(String name) {
        Runnable end = exports.remove(name);
        if (end != null) {
            end.run();
        }
    }
}
