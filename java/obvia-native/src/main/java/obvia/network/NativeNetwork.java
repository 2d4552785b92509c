package obvia.network;

import obvia.runtime.InterfaceInfo;
import obvia.runtime.Network;

/** What the library has: {@code ncacn_vi_udp}, {@code ncacn_ip_tcp}, {@code ncadg_ip_udp}, and what else it was built with. */
public final class NativeNetwork implements Network {
    /** For {@link java.util.ServiceLoader}. */
    public NativeNetwork() {}

    @Override
    public <T> T bind(String binding, InterfaceInfo<T> info, String name) {
        Library.load();
        String whole = withName(binding, name);
        long known = NativeWay.INSTANCE.describe(info);
        return NativeWay.INSTANCE.found(Limit.run(NativeWay.time(), limit -> Functions.connect(whole, known, limit)), info);
    }

    /** The binding of one name, as the runtime's string bindings have it: {@code host[port,name=NAME]}. */
    private static String withName(String binding, String name) {
        String open = binding.endsWith("]") ? binding.substring(0, binding.length() - 1) : binding + "[";
        return open + ",name=" + name + "]";
    }

    @Override
    public String listen(String binding) {
        Library.load();
        return Functions.listen(binding);
    }

    @Override
    public Runnable export(Object object, InterfaceInfo<?> info, String name) {
        long known = NativeWay.INSTANCE.describe(info);
        long handle = Objects.wrap(object);
        try {
            long entry = Functions.export(name, handle, known);
            return () -> Functions.unexport(entry);
        } finally {
            Functions.release(handle);
        }
    }

    @Override
    public void replace(Object former, Object object) {
        Objects.replace(former, object);
    }
}
