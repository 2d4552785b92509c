package obvia.network;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import obvia.Hresult;
import obvia.RpcException;

/** Finds and loads the native library. */
final class Library {
    private static final String NAME = "libobvia_java.so";

    private static SymbolLookup loaded;

    private Library() {}

    /**
     * Returns the symbols of the library.
     *
     * @throws RpcException with E_FAIL if the library is missing, E_ACCESSDENIED if native access
     *     is not enabled
     */
    static synchronized SymbolLookup load() {
        if (loaded == null) {
            try {
                loaded = find();
            } catch (IllegalCallerException e) {
                throw RpcException.of(Hresult.E_ACCESSDENIED, "networks need native code, which this virtual machine does not permit: start it with "
                        + "--enable-native-access=obvia.network (or ALL-UNNAMED, for the class path)", e);
            }
        }
        return loaded;
    }

    /** Whether the library has been loaded. */
    static synchronized boolean isLoaded() {
        return loaded != null;
    }

    private static SymbolLookup find() {
        String property = System.getProperty("obvia.native");
        String named = property != null ? property : System.getenv("OBVIA_NATIVE");
        if (named != null) {
            return open(Path.of(named));
        }
        String resource = "/META-INF/native/" + platform() + "/" + NAME;
        try (InputStream bytes = Library.class.getResourceAsStream(resource)) {
            if (bytes == null) {
                throw RpcException.of(Hresult.E_FAIL, "there is no native library for " + platform()
                        + " in obvia-native's jar: set its path by -Dobvia.native=PATH or OBVIA_NATIVE");
            }
            return unpack(bytes);
        } catch (IOException e) {
            throw RpcException.of(Hresult.E_FAIL, "the native library cannot be unpacked: " + e.getMessage(), e);
        }
    }

    /** Returns the platform's folder of native libraries: {@code linux-x86_64}. */
    private static String platform() {
        String machine = System.getProperty("os.arch");
        return System.getProperty("os.name").toLowerCase(Locale.ROOT) + "-" + (machine.equals("amd64") ? "x86_64" : machine);
    }

    private static SymbolLookup unpack(InputStream bytes) throws IOException {
        // Only this user can write to the folder.
        Path folder = Files.createTempDirectory("obvia-native");
        Path file = folder.resolve(NAME);
        try {
            Files.copy(bytes, file);
            return open(file);
        } finally {
            // A loaded library needs no file name.
            Files.deleteIfExists(file);
            Files.delete(folder);
        }
    }

    // The only place where this module loads native code.
    @SuppressWarnings("restricted")
    private static SymbolLookup open(Path file) {
        try {
            return SymbolLookup.libraryLookup(file, Arena.global());
        } catch (IllegalArgumentException e) {
            throw RpcException.of(Hresult.E_FAIL, "the native library " + file + " cannot be loaded: does it exist, and is it for this machine?", e);
        }
    }
}
