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

/** Lists made to bytes, and bytes to lists. Each way has virtual machines of its own, so that none is compiled with another in mind. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 2, jvmArgsAppend = {"-Xms512m", "-Xmx512m", "-Xss8m", "--sun-misc-unsafe-memory-access=allow"})
@Warmup(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@State(Scope.Thread)
public class Lists {
    /** What elements have: a number, or a number and an array. */
    @Param({"LL", "LBA"})
    public String shape;

    /** How many there are. */
    @Param({"10", "100", "500"})
    public int length;

    /** Who does it. */
    @Param({"tree", "graph", "fory", "fory-references", "serialization"})
    public String by;

    private Coder coder;
    private Object list;

    /** Makes the list, and its bytes. */
    @Setup
    public void makeList() throws Exception {
        coder = Coder.of(by, shape);
        list = coder.list(shape, length);
        coder.write(list);
        check();
    }

    /** Looks whether what went in comes out. */
    @TearDown
    public void check() throws Exception {
        Sample.check(coder.read(), length);
        coder.done();
    }

    /** Makes bytes of the list. */
    @Benchmark
    public int marshal() throws Exception {
        return coder.write(list);
    }

    /** Makes a list of the bytes: a view of those that were checked, where there are views. */
    @Benchmark
    public Object unmarshal() throws Exception {
        Object found = coder.read();
        coder.done();
        return found;
    }

    /** The same, and looks at every element once. */
    @Benchmark
    public long walk() throws Exception {
        long sum = Sample.walk(coder.read());
        coder.done();
        return sum;
    }

    /** Makes a list of objects of the bytes, where there are views. */
    @Benchmark
    public Object build() {
        ByFrames frames = (ByFrames) coder;
        Object built = frames.build();
        frames.done();
        return built;
    }
}
