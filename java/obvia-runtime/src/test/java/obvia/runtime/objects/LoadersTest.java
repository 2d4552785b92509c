package obvia.runtime.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;

import java.io.IOException;
import java.io.InputStream;
import java.lang.ref.WeakReference;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.util.concurrent.atomic.AtomicInteger;
import obvia.Endpoint;
import obvia.Export;
import obvia.Obvia;
import obvia.runtime.shm.Wires;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trees.ITrees;

/**
 * Tests programs that are deployed and undeployed within one process, each with a class loader, as
 * in containers.
 */
@Timeout(120)
class LoadersTest {
    private static final AtomicInteger NEXT = new AtomicInteger();

    /** A class loader that loads the generated classes of {@code trees.idl} again. */
    private static final class Deployed extends ClassLoader {
        Deployed() {
            super(LoadersTest.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith("trees.")) {
                return super.loadClass(name, resolve);
            }
            synchronized (getClassLoadingLock(name)) {
                Class<?> loaded = findLoadedClass(name);
                return loaded != null ? loaded : define(name);
            }
        }

        private Class<?> define(String name) throws ClassNotFoundException {
            try (InputStream file = ITrees.class.getResourceAsStream(name.substring("trees.".length()) + ".class")) {
                byte[] bytes = file.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    /** Returns an object of a program. The methods of the object return {@code result}. */
    private static <T> T object(Class<T> type, Object result) {
        InvocationHandler answers = (self, method, arguments) -> switch (method.getName()) {
            case "hashCode" -> System.identityHashCode(self);
            case "equals" -> self == arguments[0];
            case "toString" -> "an object of " + type.getClassLoader();
            default -> result;
        };
        return type.cast(java.lang.reflect.Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, answers));
    }

    /**
     * Deploys a program that exports an object, calls the object as another process does, and
     * undeploys the program. Returns a weak reference to the program's class loader.
     */
    private static WeakReference<ClassLoader> deploy(String name) throws Exception {
        Deployed program = new Deployed();
        Class<?> type = program.loadClass(ITrees.class.getName());
        assertNotSame(ITrees.class, type);
        try (Endpoint others = Obvia.loopback()) {
            use(others, type, name);
        }
        return new WeakReference<>(program);
    }

    private static <T> void use(Endpoint others, Class<T> type, String name) throws Exception {
        Method method = type.getMethod("words", java.util.List.class);
        try (Export export = Obvia.export(object(type, java.util.List.of("deployed")), type, name)) {
            T there = others.bind(type, export.name());
            assertEquals(java.util.List.of("deployed"), method.invoke(there, java.util.List.of("who", "is", "there")));
            export.replace(object(type, java.util.List.of("replaced")));
            assertEquals(java.util.List.of("replaced"), method.invoke(there, java.util.List.of()));
            Obvia.release(there);
        }
    }

    @Test
    void programsCanBeRedeployedRepeatedly() throws Exception {
        String name = "deployed-" + ProcessHandle.current().pid() + "-" + NEXT.incrementAndGet();
        long warm = IdleConnections.warm;
        IdleConnections.warm = 50;
        WeakReference<ClassLoader> first;
        WeakReference<ClassLoader> second;
        try {
            first = deploy(name);
            second = deploy(name);
        } finally {
            IdleConnections.warm = warm;
        }
        for (WeakReference<ClassLoader> gone : java.util.List.of(first, second)) {
            Wires.await("nothing keeps a program that is gone", () -> {
                System.gc();
                return gone.refersTo(null);
            });
        }
    }

    @Test
    void objectsCanBeReplacedAcrossClassLoaders() throws Exception {
        String name = "deployed-" + ProcessHandle.current().pid() + "-" + NEXT.incrementAndGet();
        Class<?> type = new Deployed().loadClass(ITrees.class.getName());
        try (Export export = Obvia.export(new Trees(), ITrees.class, name);
                Endpoint others = Obvia.loopback()) {
            ITrees there = others.bind(ITrees.class, name);
            replace(export, type);
            assertEquals(java.util.List.of("newer"), there.words(java.util.List.of("who")));
        }
    }

    private static <T> void replace(Export export, Class<T> type) {
        export.replace(object(type, java.util.List.of("newer")), type);
    }
}
