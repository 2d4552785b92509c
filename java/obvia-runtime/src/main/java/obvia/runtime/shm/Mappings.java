package obvia.runtime.shm;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import obvia.Hresult;
import obvia.RpcException;

/**
 * A share of the mappings that the kernel permits to a process ({@code vm.max_map_count}).
 *
 * <p>A virtual machine that cannot map memory for its heap ends. Peers decide how many of their
 * files this process maps, so these files get only a part of the mappings.
 */
final class Mappings {
    private static final int USUAL = 65_530;
    private static final int ALL = all();

    /** The mappings of regions. */
    static final Mappings OF_REGIONS = new Mappings(ALL / 4, "peers' regions");
    /** The mappings of the connections that clients open. */
    static final Mappings OF_CLIENTS = new Mappings(ALL / 8 * 3, "connections of clients");
    /**
     * The mappings of the connections that this process opens. Clients cannot use up these
     * mappings.
     */
    static final Mappings OF_CALLS = new Mappings(ALL / 8, "connections to servers");

    /** The number of mappings that a connection may need: its two segments and a larger area. */
    static final int PER_CONNECTION = 3;

    private final int max;
    private final String users;
    private final AtomicInteger taken = new AtomicInteger();

    Mappings(int max, String users) {
        this.max = max;
        this.users = users;
    }

    private static int all() {
        // procfs returns the number only if the first read has room for the whole number, as the
        // first read of a `BufferedReader` has.
        try (BufferedReader file = Files.newBufferedReader(Path.of("/proc/sys/vm/max_map_count"))) {
            return Integer.parseInt(file.readLine());
        } catch (IOException | NumberFormatException e) {
            return USUAL;
        }
    }

    /**
     * Takes mappings.
     *
     * @throws RpcException with E_OUTOFMEMORY if the share is used up
     */
    void take(int count) {
        int before;
        do {
            before = taken.get();
            if (count > max - before) {
                throw full();
            }
        } while (!taken.compareAndSet(before, before + count));
    }

    private RpcException full() {
        return RpcException.of(Hresult.E_OUTOFMEMORY, users + " already use the " + max + " mappings that this process allows them: raise vm.max_map_count by sysctl");
    }

    void giveBack(int count) {
        taken.addAndGet(-count);
    }
}
