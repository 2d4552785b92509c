package obvia.runtime.objects;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import obvia.Guid;
import obvia.runtime.Channel;
import obvia.runtime.Flat;
import obvia.runtime.InCall;
import obvia.runtime.InterfaceInfo;
import obvia.runtime.Marshal;
import obvia.runtime.Proxy;
import obvia.runtime.Reference;

/** Proxy and stub of {@link ICalc}. */
public final class ICalcInfo {
    public static final InterfaceInfo<ICalc> INFO = new InterfaceInfo<>(
            ICalc.class,
            "ICalc",
            Guid.of("1c0a75e2-3a4b-4d5c-9e6f-708192a3b4c5"),
            0,
            0x1122334455667788L,
            0x99aabbccddeeff00L,
            null,
            CalcProxy::new,
            ICalcInfo::perform,
            "",
            () -> List.of(ICalcInfo.INFO));

    private ICalcInfo() {}

    private static void put(MemorySegment memory, long at, byte[] reference, int what) {
        memory.set(Flat.INT, at, what);
        memory.set(Flat.INT, at + 4, reference.length);
        MemorySegment.copy(MemorySegment.ofArray(reference), 0, memory, at + 8, reference.length);
    }

    private static byte[] reference(MemorySegment memory, long at, int length) {
        return memory.asSlice(at + 8, Math.min(length - 8, memory.get(Flat.INT, at + 4))).toArray(ValueLayout.JAVA_BYTE);
    }

    private static void answer(InCall call, long word) {
        call.reply(8);
        call.replyMemory.set(Flat.LONG, call.replyAt, word);
    }

    static void perform(ICalc object, InCall call) throws Throwable {
        call.expectAtLeast(8);
        int one = call.memory.get(Flat.INT, call.at);
        int two = call.memory.get(Flat.INT, call.at + 4);
        switch (call.opnum) {
            case 3 -> answer(call, object.add(one, two));
            case 4 -> answer(call, object.about(one));
            case 5 -> answer(call, object.visit(Marshal.object(call, reference(call.memory, call.at, call.length), INFO), one));
            case 6 -> {
                byte[] self = Marshal.reference(call, one == 0 ? object.self() : new Calcs.Old(), INFO);
                if (one != 0) {
                    throw new IllegalStateException("something fails between a reference and its way");
                }
                call.reply(8 + self.length + 7 & -8);
                put(call.replyMemory, call.replyAt, self, 0);
            }
            default -> {
                if (!(object instanceof ICalc2 newer) || call.opnum != 7) {
                    throw call.noMethod();
                }
                answer(call, newer.multiply(one, two));
            }
        }
    }

    /** The proxy, with additional methods. */
    static class CalcProxy extends Proxy implements ICalc {
        CalcProxy(Reference reference) {
            super(reference);
        }

        long call(int opnum, int one, int two) {
            Channel call = begin(8);
            call.memory.set(Flat.LONG, call.at, one & 0xffffffffL | (long) two << 32);
            call(call, opnum, 8);
            call.expect(8);
            long result = call.replyMemory.get(Flat.LONG, call.replyAt);
            call.end();
            return result;
        }

        @Override
        public int add(int a, int b) {
            return (int) call(3, a, b);
        }

        @Override
        public long about(int what) {
            return call(4, what, 0);
        }

        @Override
        public long visit(ICalc other, int what) {
            return visit(5, other, what);
        }

        private Channel beginVisit(ICalc other, int what) {
            byte[] reference = Marshal.reference(this, other, INFO);
            int length = 8 + reference.length + 7 & -8;
            Channel call = begin(length);
            put(call.memory, call.at, reference, what);
            call.length = length;
            return call;
        }

        /** Passes an object in a call without response. */
        void tell(ICalc other) {
            Channel call = beginVisit(other, Calcs.VERSION);
            oneway(call, 5, call.length);
        }

        long visit(int opnum, ICalc other, int what) {
            Channel call = beginVisit(other, what);
            call(call, opnum, call.length);
            call.expect(8);
            long result = call.replyMemory.get(Flat.LONG, call.replyAt);
            call.end();
            return result;
        }

        @Override
        public ICalc self() {
            return self(0);
        }

        /**
         * Returns a reference to the object itself. If {@code failing} is not 0, the server fails
         * after it has counted the reference.
         */
        ICalc self(int failing) {
            Channel call = begin(8);
            call.memory.set(Flat.LONG, call.at, failing);
            call(call, 6, 8);
            byte[] reference = reference(call.replyMemory, call.replyAt, call.length);
            call.end();
            return Marshal.object(this, reference, INFO);
        }

        void visitTooLong(ICalc other) {
            Marshal.reference(this, other, INFO);
            begin(Integer.MAX_VALUE);
        }

        /** Calls the method that adds numbers, without response. */
        void tell() {
            tell(3, 0);
        }

        /** Calls a method with a number as argument, without response. */
        void tell(int opnum, int one) {
            Channel call = begin(8);
            call.memory.set(Flat.LONG, call.at, one);
            oneway(call, opnum, 8);
        }

        /** Calls the method that adds numbers {@code times} times, without response. */
        void tell(int times) {
            for (int turn = 0; turn < times; turn++) {
                tell();
            }
        }

        /** Takes a channel for a call, and loses the channel through an exception. */
        void loseChannel() {
            begin(8);
            throw new StackOverflowError("as it were");
        }
    }
}
