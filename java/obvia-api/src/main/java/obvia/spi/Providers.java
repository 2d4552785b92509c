package obvia.spi;

import java.util.Iterator;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.function.Function;

/** Finding what provides a service of this library's. */
public final class Providers {
    private Providers() {}

    /**
     * The first provider that there is: beside the service itself, by the class loader that has it, or else where the current thread's context is.
     *
     * <p>A thread's context says nothing of where this library is: in a container it is whoever the thread works for at the moment, who may have the library once more.
     *
     * @param <T> the service
     * @param service its class
     * @param load looks for providers by a class loader, as {@link ServiceLoader} wants it: called by the module that uses the service
     * @return the provider, or {@code null} where there is none
     */
    public static <T> T first(Class<T> service, Function<ClassLoader, ServiceLoader<T>> load) {
        T found = find(load, service.getClassLoader());
        return found != null ? found : find(load, Thread.currentThread().getContextClassLoader());
    }

    private static <T> T find(Function<ClassLoader, ServiceLoader<T>> load, ClassLoader loader) {
        Iterator<T> all = load.apply(loader).iterator();
        while (true) {
            try {
                return all.hasNext() ? all.next() : null;
            } catch (ServiceConfigurationError e) {
                if (e.getCause() != null) {
                    // It is the right one, and cannot be made.
                    throw e;
                }
                // It provides what has the same name in another class loader.
            }
        }
    }
}
