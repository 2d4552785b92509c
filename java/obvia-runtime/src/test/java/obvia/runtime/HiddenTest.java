package obvia.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.module.Configuration;
import java.lang.module.ModuleFinder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.spi.ToolProvider;
import obvia.Remote;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests a module that does not export its interfaces. */
@Timeout(120)
class HiddenTest {
    @TempDir
    private Path folder;

    private String write(String name, String text) throws Exception {
        Path file = folder.resolve(name);
        Files.createDirectories(file.getParent());
        return Files.writeString(file, text).toString();
    }

    private static String place(Class<?> type) throws Exception {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
    }

    @Test
    void errorsAboutUnexportedPackagesNameThePackage() throws Exception {
        Path classes = folder.resolve("classes");
        var sources = List.of(
                write("chat/module-info.java", "module chat { requires obvia.api; exports other; }"),
                write("chat/other/Other.java", "package other; public class Other {}"),
                write("chat/rooms/Room.java", "package rooms; public interface Room extends obvia.Remote {}"),
                write("chat/rooms/RoomInfo.java", "package rooms; public class RoomInfo { public static final Object INFO = null; }"));
        List<String> arguments = new java.util.ArrayList<>(List.of("-d", classes.toString(), "-p", place(Remote.class)));
        arguments.addAll(sources);
        assertEquals(0, ToolProvider.findFirst("javac").orElseThrow().run(System.out, System.err, arguments.toArray(String[]::new)));
        ModuleLayer parent = Remote.class.getModule().getLayer();
        if (parent == null) {
            // The library is on the class path, so the module gets a copy of the library.
            parent = ModuleLayer.boot();
        }
        Configuration found = parent.configuration().resolve(ModuleFinder.of(classes), ModuleFinder.of(Path.of(place(Remote.class))), Set.of("chat"));
        Class<?> room = parent.defineModulesWithOneLoader(found, HiddenTest.class.getClassLoader()).findLoader("chat").loadClass("rooms.Room");
        String why = assertThrows(IllegalArgumentException.class, () -> InterfaceInfo.of(room)).getMessage();
        assertTrue(why.contains("module chat") && why.contains("`exports rooms to obvia.runtime;`"), why);
    }
}
