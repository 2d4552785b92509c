package obvia.runtime.objects;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import obvia.Guid;
import obvia.runtime.Channel;
import obvia.runtime.Flat;
import obvia.runtime.FrameReader;
import obvia.runtime.FrameWriter;
import obvia.runtime.Frames;
import obvia.runtime.InCall;
import obvia.runtime.InterfaceInfo;
import obvia.runtime.Marshal;
import obvia.runtime.Proxy;
import obvia.runtime.Reference;

/** Proxy and stub of {@link ITest}. */
public final class ITestInfo {
    public static final InterfaceInfo<ITest> INFO = new InterfaceInfo<>(
            ITest.class,
            "ITest",
            Guid.of("9a4e1d2c-5b6f-4c7a-8d9e-0f1a2b3c4d5e"),
            0,
            0x0123456789abcdefL,
            0xfedcba9876543210L,
            null,
            TestProxy::new,
            ITestInfo::perform,
            "",
            () -> List.of(ITestInfo.INFO));

    private ITestInfo() {}

    private static void putReference(MemorySegment memory, long at, byte[] reference) {
        memory.set(Flat.LONG, at, reference == null ? 0 : 16);
        if (reference != null) {
            memory.set(Flat.INT, at + 8, 1);
            memory.set(Flat.INT, at + 12, reference.length);
            MemorySegment.copy(MemorySegment.ofArray(reference), 0, memory, at + 16, reference.length);
        }
    }

    private static int room(byte[] reference) {
        return reference == null ? 8 : 16 + reference.length + 7 & -8;
    }

    private static byte[] reference(MemorySegment memory, long at, int length) {
        return memory.get(Flat.LONG, at) == 0 ? null : memory.asSlice(at + 16, Math.min(length - 16, memory.get(Flat.INT, at + 12))).toArray(ValueLayout.JAVA_BYTE);
    }

    private static void perform(ITest object, InCall call) throws Throwable {
        switch (call.opnum) {
            case 3 -> {
                call.expect(8);
                int sum = object.add(call.memory.get(Flat.INT, call.at), call.memory.get(Flat.INT, call.at + 4));
                call.reply(8);
                call.replyMemory.set(Flat.LONG, call.replyAt, Integer.toUnsignedLong(sum));
            }
            case 4 -> {
                call.expectAtLeast(8);
                int count = call.memory.get(Flat.INT, call.at);
                if (count < 0 || call.length != (8 + 4L * count + 7 & -8)) {
                    throw call.bad("a count of " + count);
                }
                int[] values = new int[count];
                MemorySegment.copy(call.memory, Flat.INT, call.at + 8, values, 0, count);
                long sum = object.sum(values);
                call.reply(8);
                call.replyMemory.set(Flat.LONG, call.replyAt, sum);
            }
            case 5 -> {
                call.expectAtLeast(8);
                byte[] other = reference(call.memory, call.at, call.length);
                int result = object.visit(Marshal.object(call, other, INFO));
                call.reply(8);
                call.replyMemory.set(Flat.LONG, call.replyAt, Integer.toUnsignedLong(result));
            }
            case 6 -> {
                call.expect(8);
                byte[] made = Marshal.reference(call, object.make(call.memory.get(Flat.BYTE, call.at) != 0), INFO);
                call.reply(room(made));
                putReference(call.replyMemory, call.replyAt, made);
            }
            case 7 -> {
                call.expect(8);
                object.fail(call.memory.get(Flat.INT, call.at));
            }
            case 8 -> {
                call.expect(0);
                int held = object.held();
                call.reply(8);
                call.replyMemory.set(Flat.LONG, call.replyAt, Integer.toUnsignedLong(held));
            }
            case 9 -> {
                call.expect(8);
                object.sleep(call.memory.get(Flat.INT, call.at));
            }
            case 10 -> {
                FrameReader arguments = new FrameReader(call, 16);
                int count = arguments.getInt(0);
                MemorySegment values = arguments.segment(8, 16, arguments.count(count), 4).asReadOnly();
                arguments.end();
                reply(call, object.total(values));
            }
            case 12 -> {
                call.expect(16);
                long reference = call.memory.get(Flat.LONG, call.at + 8);
                int count = call.memory.get(Flat.INT, call.at);
                reply(call, object.total(call.shared(reference, false, Integer.toUnsignedLong(count), 4, 4)));
            }
            case 13 -> {
                call.expect(16);
                long reference = call.memory.get(Flat.LONG, call.at + 8);
                object.stain(call.shared(reference, true, call.memory.get(Flat.LONG, call.at), 1, 1));
            }
            default -> throw call.noMethod();
        }
    }

    private static void reply(InCall call, long result) {
        call.reply(8);
        call.replyMemory.set(Flat.LONG, call.replyAt, result);
    }

    private static final class TestProxy extends Proxy implements ITest {
        TestProxy(Reference reference) {
            super(reference);
        }

        private int call(int opnum, long word) {
            Channel call = begin(8);
            call.memory.set(Flat.LONG, call.at, word);
            call(call, opnum, 8);
            int result = call.length == 8 ? call.replyMemory.get(Flat.INT, call.replyAt) : 0;
            call.end();
            return result;
        }

        @Override
        public int add(int a, int b) {
            return call(3, a & 0xffffffffL | (long) b << 32);
        }

        @Override
        public long sum(int[] values) {
            int length = 8 + 4 * values.length + 7 & -8;
            Channel call = begin(length);
            call.memory.set(Flat.INT, call.at, values.length);
            MemorySegment.copy(values, 0, call.memory, Flat.INT, call.at + 8, values.length);
            call(call, 4, length);
            call.expect(8);
            long sum = call.replyMemory.get(Flat.LONG, call.replyAt);
            call.end();
            return sum;
        }

        @Override
        public int visit(ITest other) {
            byte[] reference = Marshal.reference(this, other, INFO);
            int length = room(reference);
            Channel call = begin(length);
            putReference(call.memory, call.at, reference);
            call(call, 5, length);
            call.expect(8);
            int result = call.replyMemory.get(Flat.INT, call.replyAt);
            call.end();
            return result;
        }

        @Override
        public ITest make(boolean isNew) {
            Channel call = begin(8);
            call.memory.set(Flat.LONG, call.at, isNew ? 1 : 0);
            call(call, 6, 8);
            byte[] reference = reference(call.replyMemory, call.replyAt, call.length);
            call.end();
            return Marshal.object(this, reference, INFO);
        }

        @Override
        public void fail(int result) {
            call(7, result);
        }

        @Override
        public int held() {
            Channel call = begin(0);
            call(call, 8, 0);
            call.expect(8);
            int held = call.replyMemory.get(Flat.INT, call.replyAt);
            call.end();
            return held;
        }

        @Override
        public void sleep(int millis) {
            call(9, millis);
        }

        @Override
        public long total(MemorySegment values) {
            Frames.check(values, false, 4);
            if (isShared(values, false)) {
                Channel call = begin(16);
                long reference = call.refer(values, false, 16);
                if (reference != 0) {
                    return total(call, 12, values, reference, 16);
                }
                call.end();
            }
            int length = Frames.plus(16, values);
            Channel call = begin(length);
            new FrameWriter(call, 16).put(values, 8, 16, 4);
            return total(call, 10, values, call.memory.get(Flat.LONG, call.at + 8), length);
        }

        private long total(Channel call, int opnum, MemorySegment values, long reference, int length) {
            call.memory.set(Flat.LONG, call.at, values.byteSize() / 4);
            call.memory.set(Flat.LONG, call.at + 8, reference);
            call(call, opnum, length);
            call.expect(8);
            long total = call.replyMemory.get(Flat.LONG, call.replyAt);
            call.end();
            return total;
        }

        @Override
        public void stain(MemorySegment bytes) {
            Frames.check(bytes, true, 1);
            if (isShared(bytes, true)) {
                Channel call = begin(16);
                long reference = call.refer(bytes, true, 16);
                if (reference != 0) {
                    call.memory.set(Flat.LONG, call.at, bytes.byteSize());
                    call.memory.set(Flat.LONG, call.at + 8, reference);
                    call(call, 13, 16);
                    call.expect(0);
                    call.end();
                    return;
                }
                call.end();
            }
            checkCopied();
        }
    }
}
