package obvia.network;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import obvia.Access;
import obvia.Caller;
import obvia.Credentials;
import obvia.Guid;
import obvia.RpcException;
import obvia.runtime.InterfaceInfo;
import obvia.runtime.Network;

/**
 * The networks of the library: {@code ncacn_vi_udp}, {@code ncacn_ip_tcp}, {@code ncadg_ip_udp},
 * and the other protocol sequences with which the library was built.
 */
public final class NativeNetwork implements Network {
    /**
     * The library's handles of credentials. Equal credentials have one handle and thus share
     * connections.
     */
    private static final Map<Credentials, Long> SHOWN = new ConcurrentHashMap<>();

    /** Creates the network. {@link java.util.ServiceLoader} calls this constructor. */
    public NativeNetwork() {}

    @Override
    public <T> T bind(String binding, Credentials credentials, InterfaceInfo<T> info, String name) {
        Library.load();
        String whole = withName(binding, name);
        long known = NativeTransport.INSTANCE.describe(info);
        long shown = shown(credentials);
        return NativeTransport.INSTANCE.found(Limit.run(NativeTransport.time(), limit -> Functions.connect(whole, shown, known, limit)), info);
    }

    @Override
    public <T> T create(String binding, Credentials credentials, Guid classId, InterfaceInfo<T> info, boolean wantsClass) {
        Library.load();
        long known = NativeTransport.INSTANCE.describe(info);
        long shown = shown(credentials);
        Functions.Found found = Limit.run(NativeTransport.time(), limit -> Functions.create(classId, wantsClass, binding, shown, known, limit));
        return NativeTransport.INSTANCE.found(found, info);
    }

    /** Returns the library's handle of credentials; 0 for the credentials of the process. */
    private static long shown(Credentials credentials) {
        return credentials == null ? 0 : SHOWN.computeIfAbsent(credentials, Functions::credentials);
    }

    /** Returns the string binding with the name of an object: {@code host[port,name=NAME]}. */
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
        long known = NativeTransport.INSTANCE.describe(info);
        long handle = Objects.wrap(object);
        try {
            long entry = Functions.export(name, handle, known);
            return () -> Functions.unexport(entry);
        } finally {
            Functions.release(handle);
        }
    }

    @Override
    public Runnable registerClass(Guid classId, InterfaceInfo<?> info, Supplier<?> make, Object classObject) {
        long known = NativeTransport.INSTANCE.describe(info);
        long maker = Objects.addMaker(make);
        long handle = classObject == null ? 0 : Objects.wrap(classObject);
        try {
            long registration = Functions.registerClass(classId, known, maker, handle);
            return () -> {
                Functions.revokeClass(registration);
                Objects.removeMaker(maker);
            };
        } catch (RpcException e) {
            Objects.removeMaker(maker);
            throw e;
        } finally {
            Functions.release(handle);
        }
    }

    @Override
    public long held() {
        return Library.isLoaded() ? Functions.exported() : 0;
    }

    @Override
    public void setPinging(Duration period, int missed) {
        Library.load();
        Functions.setPinging(period.toNanos(), missed);
    }

    @Override
    public void setCredentials(Credentials credentials) {
        Library.load();
        Functions.setCredentials(credentials);
    }

    @Override
    public void setAccounts(Map<String, String> passwords) {
        Library.load();
        Functions.setAccounts(passwords);
    }

    @Override
    public void setAccess(Object object, Access rule) {
        Library.load();
        if (object == null) {
            Functions.setAccess(0, Objects.addRule(rule));
        } else {
            Objects.setAccess(object, rule);
        }
    }

    @Override
    public void setClassAccess(Guid classId, Access rule) {
        Library.load();
        Functions.setClassAccess(classId, Objects.addRule(rule));
    }

    @Override
    public Caller caller() {
        return Library.isLoaded() ? Functions.caller() : null;
    }

    @Override
    public boolean isCancelled() {
        return Library.isLoaded() && Functions.isCancelled();
    }

    @Override
    public byte[] marshal(Object object, InterfaceInfo<?> info, boolean isForOthers) {
        Library.load();
        return NativeTransport.INSTANCE.marshal(object, info, isForOthers);
    }

    @Override
    public <T> T unmarshal(byte[] reference, InterfaceInfo<T> info) {
        Library.load();
        long known = NativeTransport.INSTANCE.describe(info);
        return NativeTransport.INSTANCE.found(Limit.run(NativeTransport.time(), limit -> Functions.unmarshal(reference, known, limit)), info);
    }

    @Override
    public void releaseMarshalData(byte[] reference) {
        Library.load();
        Limit.run(NativeTransport.time(), limit -> {
            Functions.releaseMarshalData(reference, limit);
            return null;
        });
    }

    @Override
    public void replace(Object former, Object object) {
        Objects.replace(former, object);
    }
}
