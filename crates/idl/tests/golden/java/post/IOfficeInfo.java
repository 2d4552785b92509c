// Made by obvia-idl 0.1.0 from post.idl. Change the IDL, not this.
package post;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
import obvia.Guid;
import obvia.Remote;
import obvia.runtime.Channel;
import obvia.runtime.Flat;
import obvia.runtime.FrameReader;
import obvia.runtime.FrameWriter;
import obvia.runtime.Frames;
import obvia.runtime.InCall;
import obvia.runtime.InterfaceInfo;
import obvia.runtime.Interfaces;
import obvia.runtime.Marshal;
import obvia.runtime.Proxy;
import obvia.runtime.Reference;

/** {@link IOffice} as the runtime knows it: its description, its proxy and its stub. */
public final class IOfficeInfo {
    private static final String IDL =
            """
            interface IReader;
            typedef enum {
                LETTER = 0,
                PARCEL = 4,
                FREIGHT = 5
            } Class;
            struct Stamp;
            struct Stamp {
                Class class;
                boolean used;
                hyper number;
                double cost[2];
            };
            [object, uuid(8b1c5a10-2f6e-4c55-9a51-6a0d3f7e2002), version(1.1), pointer_default(unique)]
            interface IOffice : IUnknown {
                HRESULT Cost([in] Class class, [in, range(1, 20000)] long weight, [out, retval] double *cost);
                HRESULT Print([in] struct Stamp *stamp, [in, out] hyper *number, [out] struct Stamp *printed);
                HRESULT Frank([in] unsigned long count, [in, size_is(count)] struct Stamp *stamps, [in] byte seal[16]);
                HRESULT Fetch([in] unsigned long room, [out, size_is(room), length_is(*got)] short *letters, [out] unsigned long *got);
                HRESULT List([out] unsigned long *count, [out, size_is(, *count)] struct Stamp **stamps);
                HRESULT Send([in, string] wchar_t *to, [in, unique, string] char *from, [out, retval, string] wchar_t **receipt);
                HRESULT Wait([in] IReader *reader, [out] IReader **before);
                HRESULT Find([in] GUID *iid, [out, retval, iid_is(iid)] IUnknown **found);
            }
            """;

    /** The description. */
    public static final InterfaceInfo<IOffice> INFO = new InterfaceInfo<>(
        IOffice.class,
        "IOffice",
        Guid.of("8b1c5a10-2f6e-4c55-9a51-6a0d3f7e2002"),
        1 | 1 << 16,
        0x8ba68e5dc40e9894L,
        0x2c34b186aaeaa67bL,
        null,
        IOfficeProxy::new,
        IOfficeInfo::perform,
        IDL,
        PostIdl::interfaces);

    private IOfficeInfo() {}

    /** Performs a call. */
    static void perform(IOffice object, InCall call) {
        switch (call.opnum) {
            case 3 -> cost(object, call);
            case 4 -> print(object, call);
            case 5 -> frank(object, call);
            case 6 -> fetch(object, call);
            case 7 -> list(object, call);
            case 8 -> send(object, call);
            case 9 -> wait_(object, call);
            case 10 -> find(object, call);
            default -> throw call.noMethod();
        }
    }

    private static void cost(IOffice object, InCall call) {
        FrameReader arguments = new FrameReader(call, 8);
        Class_ class_ = Class_.read(arguments, 0);
        int weight = arguments.getInt(4);
        arguments.checkRange(weight, 1L, 20000L);
        arguments.end();
        double cost = object.cost(class_, weight);
        call.reply(8);
        call.replyMemory.set(Flat.DOUBLE, call.replyAt, cost);
    }

    private static void print(IOffice object, InCall call) {
        FrameReader arguments = new FrameReader(call, 40);
        Stamp stamp = Stamp.read(arguments, 0);
        long number = arguments.getLong(32);
        arguments.end();
        IOffice.PrintResult outcome = object.print(stamp, number);
        Objects.requireNonNull(outcome.printed(), "printed");
        call.reply(40);
        call.replyMemory.set(Flat.LONG, call.replyAt, outcome.number());
        outcome.printed().write(call.replyMemory, call.replyAt + 8);
    }

    private static void frank(IOffice object, InCall call) {
        FrameReader arguments = new FrameReader(call, 32);
        int count = arguments.getInt(0);
        byte[] seal = arguments.copyBytes(16, 16);
        int stampsCount = arguments.count(Integer.toUnsignedLong(count));
        int stampsBody = arguments.find(8, 16, stampsCount, 32);
        Stamp[] stamps = new Stamp[stampsCount];
        for (int i = 0; i < stamps.length; i++) {
            stamps[i] = Stamp.read(arguments, stampsBody + i * 32);
        }
        arguments.end();
        object.frank(stamps, seal);
    }

    private static void fetch(IOffice object, InCall call) {
        FrameReader arguments = new FrameReader(call, 8);
        int room = arguments.getInt(0);
        arguments.end();
        short[] letters = new short[arguments.room(arguments.count(Integer.toUnsignedLong(room)), 2)];
        int got = object.fetch(letters);
        int lettersUsed = Frames.used(Integer.toUnsignedLong(got), letters.length);
        int length = Frames.plus(16, lettersUsed, 2);
        call.reply(length);
        call.replyMemory.set(Flat.INT, call.replyAt + 8, got);
        call.replyMemory.set(Flat.INT, call.replyAt + 12, 0);
        FrameWriter results = new FrameWriter(call, 16);
        results.put(letters, 0, 17, lettersUsed);
    }

    private static void list(IOffice object, InCall call) {
        call.expect(0);
        Stamp[] stamps = object.list();
        Stamp[] stampsCopy = Frames.copy(stamps);
        int length = Frames.plus(16, stamps.length, 32);
        call.reply(length);
        call.replyMemory.set(Flat.INT, call.replyAt, stamps.length);
        call.replyMemory.set(Flat.INT, call.replyAt + 4, 0);
        FrameWriter results = new FrameWriter(call, 16);
        long stampsAt = results.object(8, 16, stampsCopy.length, 32);
        for (int i = 0; i < stampsCopy.length; i++) {
            stampsCopy[i].write(call.replyMemory, stampsAt + i * 32);
        }
    }

    private static void send(IOffice object, InCall call) {
        FrameReader arguments = new FrameReader(call, 16);
        String to = arguments.notNull(arguments.wide(0));
        String from = arguments.text(8);
        arguments.end();
        String receipt = object.send(to, from);
        char[] receiptCharacters = Frames.utf16(receipt);
        int length = Frames.plus(8, receiptCharacters);
        call.reply(length);
        FrameWriter results = new FrameWriter(call, 8);
        results.wide(0, receiptCharacters);
    }

    private static void wait_(IOffice object, InCall call) {
        FrameReader arguments = new FrameReader(call, 8);
        byte[] readerReference = arguments.reference(0);
        arguments.end();
        IReader reader = Marshal.object(call, readerReference, IReaderInfo.INFO);
        IReader before = object.wait_(reader);
        byte[] beforeReference = Marshal.reference(call, before, IReaderInfo.INFO);
        int length = Frames.plus(8, beforeReference);
        call.reply(length);
        FrameWriter results = new FrameWriter(call, 8);
        results.reference(0, beforeReference);
    }

    private static void find(IOffice object, InCall call) {
        FrameReader arguments = new FrameReader(call, 16);
        Guid iid = arguments.getGuid(0);
        arguments.end();
        Remote found = object.find(iid);
        byte[] foundReference = Marshal.reference(call, found, Interfaces.of(iid));
        int length = Frames.plus(8, foundReference);
        call.reply(length);
        FrameWriter results = new FrameWriter(call, 8);
        results.reference(0, foundReference);
    }

    /** Stands for an object of another process. */
    static final class IOfficeProxy extends Proxy implements IOffice {
        IOfficeProxy(Reference reference) {
            super(reference);
        }

        @Override
        public double cost(Class_ class_, int weight) {
            Objects.requireNonNull(class_, "class_");
            Frames.checkRange(weight, 1L, 20000L);
            Channel call = begin(8);
            call.memory.set(Flat.INT, call.at, class_.value());
            call.memory.set(Flat.INT, call.at + 4, weight);
            call(call, 3, 8);
            call.expect(8);
            double cost = call.replyMemory.get(Flat.DOUBLE, call.replyAt);
            call.end();
            return cost;
        }

        @Override
        public PrintResult print(Stamp stamp, long number) {
            Objects.requireNonNull(stamp, "stamp");
            Channel call = begin(40);
            stamp.write(call.memory, call.at);
            call.memory.set(Flat.LONG, call.at + 32, number);
            call(call, 4, 40);
            try {
                FrameReader results = new FrameReader(call, 40);
                long numberResult = results.getLong(0);
                Stamp printed = Stamp.read(results, 8);
                results.end();
                return new PrintResult(numberResult, printed);
            } finally {
                call.end();
            }
        }

        @Override
        public void frank(Stamp[] stamps, byte[] seal) {
            Frames.checkLength(seal.length, 16);
            Stamp[] stampsCopy = Frames.copy(stamps);
            int length = Frames.plus(32, stamps.length, 32);
            Channel call = begin(length);
            call.memory.set(Flat.INT, call.at, stamps.length);
            call.memory.set(Flat.INT, call.at + 4, 0);
            MemorySegment.copy(seal, 0, call.memory, Flat.BYTE, call.at + 16, 16);
            FrameWriter arguments = new FrameWriter(call, 32);
            long stampsAt = arguments.object(8, 16, stamps.length, 32);
            for (int i = 0; i < stamps.length; i++) {
                stampsCopy[i].write(call.memory, stampsAt + i * 32);
            }
            call(call, 5, length);
            call.expect(0);
            call.end();
        }

        @Override
        public int fetch(short[] letters) {
            Objects.requireNonNull(letters, "letters");
            Channel call = begin(8);
            call.memory.set(Flat.INT, call.at, letters.length);
            call.memory.set(Flat.INT, call.at + 4, 0);
            call(call, 6, 8);
            try {
                FrameReader results = new FrameReader(call, 16);
                int got = results.getInt(8);
                int lettersUsed = results.used(Integer.toUnsignedLong(got), letters.length);
                results.into(letters, 0, 17, lettersUsed);
                results.end();
                return got;
            } finally {
                call.end();
            }
        }

        @Override
        public Stamp[] list() {
            Channel call = begin(0);
            call(call, 7, 0);
            try {
                FrameReader results = new FrameReader(call, 16);
                int count = results.getInt(0);
                int stampsCount = results.count(Integer.toUnsignedLong(count));
                int stampsBody = results.allocated(8, 16, 32, stampsCount);
                Stamp[] stamps = new Stamp[stampsCount];
                for (int i = 0; i < stampsCount; i++) {
                    stamps[i] = Stamp.read(results, stampsBody + i * 32);
                }
                results.end();
                return stamps;
            } finally {
                call.end();
            }
        }

        @Override
        public String send(String to, String from) {
            Objects.requireNonNull(to, "to");
            char[] toCharacters = Frames.utf16(to);
            int length = Frames.plus(16, toCharacters);
            byte[] fromBytes = Frames.utf8(from);
            length = Frames.plus(length, fromBytes);
            Channel call = begin(length);
            FrameWriter arguments = new FrameWriter(call, 16);
            arguments.wide(0, toCharacters);
            arguments.text(8, fromBytes);
            call(call, 8, length);
            try {
                FrameReader results = new FrameReader(call, 8);
                String receipt = results.wide(0);
                results.end();
                return receipt;
            } finally {
                call.end();
            }
        }

        @Override
        public IReader wait_(IReader reader) {
            byte[] readerReference = Marshal.reference(this, reader, IReaderInfo.INFO);
            int length = Frames.plus(8, readerReference);
            Channel call = begin(length);
            FrameWriter arguments = new FrameWriter(call, 8);
            arguments.reference(0, readerReference);
            call(call, 9, length);
            byte[] beforeReference;
            try {
                FrameReader results = new FrameReader(call, 8);
                beforeReference = results.reference(0);
                results.end();
            } finally {
                call.end();
            }
            return Marshal.object(this, beforeReference, IReaderInfo.INFO);
        }

        @Override
        public Remote find(Guid iid) {
            Objects.requireNonNull(iid, "iid");
            Channel call = begin(16);
            FrameWriter.put(iid, call.memory, call.at);
            call(call, 10, 16);
            byte[] foundReference;
            try {
                FrameReader results = new FrameReader(call, 8);
                foundReference = results.reference(0);
                results.end();
            } finally {
                call.end();
            }
            return Marshal.object(this, foundReference, Interfaces.of(iid));
        }
    }
}
