package obvia.bench;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Encoding and decoding of lists. Each encoding has virtual machines of its own, so that the
 * compiled code of one encoding does not depend on another encoding.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 2, jvmArgsAppend = {"-Xms512m", "-Xmx512m", "-Xss8m", "--sun-misc-unsafe-memory-access=allow"})
@Warmup(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@State(Scope.Thread)
public class Lists {
    /** The content of elements: a number, or a number and an array. */
    @Param({"LL", "LBA"})
    public String shape;

    /** The number of elements of the list. */
    @Param({"10", "100", "500"})
    public int length;

    /** The name of the encoding. */
    @Param({"tree", "graph", "fory", "fory-references", "serialization"})
    public String by;

    private Coder coder;
    private Object list;

    /** Creates and encodes the list. */
    @Setup
    public void makeList() throws Exception {
        coder = Coder.of(by, shape);
        list = coder.list(shape, length);
        coder.write(list);
        check();
    }

    /** Compares the decoded list with the original. */
    @TearDown
    public void check() throws Exception {
        Sample.check(coder.read(), length);
        coder.done();
    }

    /** Encodes the list. */
    @Benchmark
    public int marshal() throws Exception {
        return coder.write(list);
    }

    /** Decodes the list: as a view of the verified frame, if the encoding has views. */
    @Benchmark
    public Object unmarshal() throws Exception {
        Object found = coder.read();
        coder.done();
        return found;
    }

    /** Decodes the list, and reads every element once. */
    @Benchmark
    public long walk() throws Exception {
        long sum = Sample.walk(coder.read());
        coder.done();
        return sum;
    }

    /** Decodes the list as objects, if the encoding has views. */
    @Benchmark
    public Object build() {
        ByFrames frames = (ByFrames) coder;
        Object built = frames.build();
        frames.done();
        return built;
    }
}
