package obvia.spi;

import java.util.Iterator;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.function.Function;

/** Finds providers of this library's services. */
public final class Providers {
    private Providers() {}

    /**
     * Returns the first provider of a service. This method first searches the class loader of the
     * service, and then the context class loader of the current thread.
     *
     * <p>In a container, the context class loader belongs to the application for which the thread
     * works at the moment. That application may have another copy of this library.
     *
     * @param <T> the service
     * @param service the class of the service
     * @param load loads providers by a class loader; the module that uses the service has to supply
     *     this function, because {@link ServiceLoader} accepts calls only from that module
     * @return the provider, or {@code null} if there is none
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
                    // The provider implements this service, but could not be instantiated.
                    throw e;
                }
                // The provider implements a service of the same name from another class loader.
            }
        }
    }
}
