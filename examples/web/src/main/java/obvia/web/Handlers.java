package obvia.web;

import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/**
 * Finds handlers by {@code CLASS[@JAR][:ARGUMENT]}. The class is on the class path or in a jar. A
 * handler of this package may be given by its short name.
 *
 * <p>The class needs a constructor that takes the argument, or one without parameters if there is
 * no argument. A jar is loaded again each time it is named.
 */
final class Handlers {
    private static final Map<String, String> SHORT = Map.of("echo", Echo.class.getName(), "pages", Pages.class.getName(), "recent", Recent.class.getName());

    private Handlers() {}

    /**
     * Creates a handler.
     *
     * @throws IllegalArgumentException if there is no such handler
     */
    static IHandler make(String spec) {
        String[] halves = spec.split(":", 2);
        String[] place = halves[0].split("@", 2);
        String name = SHORT.getOrDefault(place[0], place[0]);
        try {
            Class<?> found = Class.forName(name, true, place.length == 1 ? Handlers.class.getClassLoader() : loader(place[1]));
            Class<? extends IHandler> type = found.asSubclass(IHandler.class);
            return halves.length == 1 ? type.getDeclaredConstructor().newInstance() : type.getDeclaredConstructor(String.class).newInstance(halves[1]);
        } catch (ReflectiveOperationException | ClassCastException | LinkageError e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            throw new IllegalArgumentException("there is no handler `" + spec + "`: " + cause, e);
        }
    }

    // The class loader lives as long as the handler.
    @SuppressWarnings("resource")
    private static ClassLoader loader(String jar) {
        Path path = Path.of(jar);
        if (!Files.isReadable(path)) {
            throw new IllegalArgumentException("there is no file " + jar);
        }
        try {
            return new URLClassLoader(new URL[] {path.toUri().toURL()}, Handlers.class.getClassLoader());
        } catch (MalformedURLException e) {
            throw new IllegalArgumentException(jar + " cannot be loaded", e);
        }
    }
}
