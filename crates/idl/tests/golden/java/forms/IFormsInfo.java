// Made by obvia-idl 0.1.0 from forms.idl. Change the IDL, not this.
package forms;

import java.lang.foreign.MemorySegment;
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

/** {@link IForms} as the runtime knows it: its description, its proxy and its stub. */
public final class IFormsInfo {
    private static final String IDL =
            """
            typedef enum {
                RED = 1,
                GREEN = 2,
                BLUE = 4,
                AZURE = 4
            } Color;
            typedef [open] enum {
                GRADE_LOW = 0,
                GRADE_HIGH = 7
            } GRADE;
            typedef [v1_enum, open] enum {
                LEVEL_NONE = -1,
                default_level = 0
            } Level;
            struct POINT;
            struct Row;
            struct POINT {
                small x;
                unsigned hyper y;
                short class;
            };
            struct Row {
                wchar_t letters[5];
                boolean flags[3];
                Color colors[2];
                struct POINT points[2][2];
                GUID key;
                float hashCode;
                GRADE grade;
            };
            [object, uuid(d3a1b2c4-1111-4222-8333-944455566601), pointer_default(unique)]
            interface IBase : IUnknown {
                HRESULT first_thing([in] unsigned small call, [in, out] unsigned short *length, [out] char *letter);
                HRESULT Wait([in] hyper class);
            }
            [object, uuid(d3a1b2c4-1111-4222-8333-944455566603), version(2.5), pointer_default(unique)]
            interface IForms : IBase {
                HRESULT Values([in] boolean yes, [in] Color color, [in] GRADE grade, [in] Level level, [in] wchar_t letter, [in] float f, [in] HRESULT result);
                HRESULT Swap([in, out] struct Row *row, [in, out] Color *color, [in, out] boolean *yes, [in, out, range(-5, 5)] short *number);
                HRESULT Fixed([in] byte seal[16], [in] GUID *key, [in] Color colors[2], [out] struct POINT *point);
                HRESULT Both([in] unsigned small count, [in, size_is(count)] float *a, [in, size_is(count)] boolean *b, [in, range(0, 9)] unsigned long others, [in, size_is(others)] Color *colors);
                HRESULT Change([in] unsigned short n, [in, out, size_is(n)] struct Row *rows, [in] unsigned long m, [in, out, size_is(m)] wchar_t *letters);
                HRESULT Expression([in] long width, [in] unsigned hyper height, [in, size_is(((((width + 1) * height) / 2) << 1))] double *cells, [in] long shown, [in, size_is((shown ? 4 : -(width)))] byte *more);
                HRESULT Filled([in, out] unsigned long *n, [out, size_is(*n), length_is(*n)] long *data, [in] unsigned long rowsCount, [out, size_is(rowsCount)] struct Row *rows);
                HRESULT Texts([in, string] char *narrow, [in, unique, string] wchar_t *wide, [out, string] char **loud, [out, string] wchar_t **quiet);
                HRESULT Maybe([in, unique] struct Row *row, [in, unique] long *number, [in, unique] boolean *yes);
                HRESULT Allocated([out] unsigned long *n, [out, size_is(, *n)] hyper **numbers, [out] unsigned short *m, [out, size_is(, *m)] Color **colors);
                HRESULT Objects([in] IBase *base, [in] IUnknown *any, [in] GUID *iid, [in, iid_is(iid)] IUnknown *object, [out] IForms **forms, [out] long *number, [out, iid_is(iid)] IUnknown **other);
                [oneway] HRESULT Tell([in, string] char *what, [in] IBase *to);
                HRESULT TELL([in] long what);
            }
            """;

    /** The description. */
    public static final InterfaceInfo<IForms> INFO = new InterfaceInfo<>(
        IForms.class,
        "IForms",
        Guid.of("d3a1b2c4-1111-4222-8333-944455566603"),
        2 | 5 << 16,
        0x163a2993b5b9334aL,
        0x82baaccd31a1b7d3L,
        IBaseInfo.INFO,
        IFormsProxy::new,
        IFormsInfo::perform,
        IDL,
        FormsIdl::interfaces);

    private IFormsInfo() {}

    /** Performs a call. */
    static void perform(IForms object, InCall call) {
        switch (call.opnum) {
            case 3 -> firstThing(object, call);
            case 4 -> wait_(object, call);
            case 5 -> values(object, call);
            case 6 -> swap(object, call);
            case 7 -> fixed(object, call);
            case 8 -> both(object, call);
            case 9 -> change(object, call);
            case 10 -> expression(object, call);
            case 11 -> filled(object, call);
            case 12 -> texts(object, call);
            case 13 -> maybe(object, call);
            case 14 -> allocated(object, call);
            case 15 -> objects(object, call);
            case 16 -> tell(object, call);
            case 17 -> tell_(object, call);
            default -> throw call.noMethod();
        }
    }

    private static void firstThing(IForms object, InCall call) {
        call.expect(8);
        byte call_ = call.memory.get(Flat.BYTE, call.at);
        short length_ = call.memory.get(Flat.SHORT, call.at + 2);
        IForms.FirstThingResult outcome = object.firstThing(call_, length_);
        call.reply(8);
        call.replyMemory.set(Flat.SHORT, call.replyAt, outcome.length());
        call.replyMemory.set(Flat.BYTE, call.replyAt + 2, outcome.letter());
        call.replyMemory.set(Flat.BYTE, call.replyAt + 3, (byte) 0);
        call.replyMemory.set(Flat.INT, call.replyAt + 4, 0);
    }

    private static void wait_(IForms object, InCall call) {
        call.expect(8);
        long class_ = call.memory.get(Flat.LONG, call.at);
        object.wait_(class_);
    }

    private static void values(IForms object, InCall call) {
        FrameReader arguments = new FrameReader(call, 32);
        boolean yes = arguments.getBoolean(0);
        Color color = Color.read(arguments, 4);
        Grade grade = Grade.read(arguments, 8);
        Level level = Level.read(arguments, 12);
        char letter = arguments.getChar(16);
        float f = arguments.getFloat(20);
        int result = arguments.getInt(24);
        arguments.end();
        object.values(yes, color, grade, level, letter, f, result);
    }

    private static void swap(IForms object, InCall call) {
        FrameReader arguments = new FrameReader(call, 152);
        Row row = Row.read(arguments, 0);
        Color color = Color.read(arguments, 144);
        boolean yes = arguments.getBoolean(148);
        short number = arguments.getShort(150);
        arguments.checkRange(number, -5L, 5L);
        arguments.end();
        IForms.SwapResult outcome = object.swap(row, color, yes, number);
        Objects.requireNonNull(outcome.row(), "row");
        Objects.requireNonNull(outcome.color(), "color");
        call.reply(152);
        outcome.row().write(call.replyMemory, call.replyAt);
        call.replyMemory.set(Flat.INT, call.replyAt + 144, outcome.color().value());
        call.replyMemory.set(Flat.BYTE, call.replyAt + 148, (byte) (outcome.yes() ? 1 : 0));
        call.replyMemory.set(Flat.BYTE, call.replyAt + 149, (byte) 0);
        call.replyMemory.set(Flat.SHORT, call.replyAt + 150, outcome.number());
    }

    private static void fixed(IForms object, InCall call) {
        FrameReader arguments = new FrameReader(call, 40);
        byte[] seal = arguments.copyBytes(0, 16);
        Guid key = arguments.getGuid(16);
        Color[] colorsValue = new Color[2];
        for (int i = 0; i < colorsValue.length; i++) {
            colorsValue[i] = Color.read(arguments, 32 + i * 4);
        }
        Color[] colors = colorsValue;
        arguments.end();
        Point point = object.fixed(seal, key, colors);
        Objects.requireNonNull(point, "point");
        call.reply(24);
        point.write(call.replyMemory, call.replyAt);
    }

    private static void both(IForms object, InCall call) {
        FrameReader arguments = new FrameReader(call, 40);
        byte count = arguments.getByte(0);
        int others = arguments.getInt(24);
        arguments.checkRange(Integer.toUnsignedLong(others), 0L, 9L);
        int aCount = arguments.count(Byte.toUnsignedLong(count));
        float[] a = arguments.floats(8, 16, aCount);
        int bCount = arguments.count(Byte.toUnsignedLong(count));
        int bBody = arguments.find(16, 17, bCount, 1);
        boolean[] b = new boolean[bCount];
        for (int i = 0; i < b.length; i++) {
            b[i] = arguments.getBoolean(bBody + i);
        }
        int colorsCount = arguments.count(Integer.toUnsignedLong(others));
        int colorsBody = arguments.find(32, 18, colorsCount, 4);
        Color[] colors = new Color[colorsCount];
        for (int i = 0; i < colors.length; i++) {
            colors[i] = Color.read(arguments, colorsBody + i * 4);
        }
        arguments.end();
        object.both(a, b, colors);
    }

    private static void change(IForms object, InCall call) {
        FrameReader arguments = new FrameReader(call, 24);
        short n = arguments.getShort(0);
        int m = arguments.getInt(4);
        int rowsCount = arguments.count(Short.toUnsignedLong(n));
        int rowsBody = arguments.find(8, 19, rowsCount, 144);
        Row[] rows = new Row[rowsCount];
        for (int i = 0; i < rows.length; i++) {
            rows[i] = Row.read(arguments, rowsBody + i * 144);
        }
        int lettersCount = arguments.count(Integer.toUnsignedLong(m));
        char[] letters = arguments.chars(16, 20, lettersCount);
        arguments.end();
        object.change(rows, letters);
        Row[] rowsCopy = Frames.copy(rows, rows.length);
        int length = Frames.plus(16, rows.length, 144);
        length = Frames.plus(length, letters.length, 2);
        call.reply(length);
        FrameWriter results = new FrameWriter(call, 16);
        long rowsAt = results.object(0, 19, rows.length, 144);
        for (int i = 0; i < rows.length; i++) {
            rowsCopy[i].write(call.replyMemory, rowsAt + i * 144);
        }
        results.put(letters, 8, 20, letters.length);
    }

    private static void expression(IForms object, InCall call) {
        FrameReader arguments = new FrameReader(call, 40);
        int width = arguments.getInt(0);
        long height = arguments.getLong(8);
        int shown = arguments.getInt(24);
        int cellsCount = arguments.count(() -> Frames.shiftLeft(Math.divideExact(Math.multiplyExact(Math.addExact((long) width, 1L), Frames.unsigned(height)), 2L), 1L));
        double[] cells = arguments.doubles(16, 21, cellsCount);
        int moreCount = arguments.count(() -> (((long) shown) != 0 ? 4L : Math.negateExact((long) width)));
        byte[] more = arguments.bytes(32, 22, moreCount);
        arguments.end();
        object.expression(width, height, cells, shown, more);
    }

    private static void filled(IForms object, InCall call) {
        FrameReader arguments = new FrameReader(call, 8);
        int rowsCount = arguments.getInt(0);
        int n = arguments.getInt(4);
        arguments.end();
        int[] data = new int[arguments.room(arguments.count(Integer.toUnsignedLong(n)), 4)];
        Row[] rows = new Row[arguments.room(arguments.count(Integer.toUnsignedLong(rowsCount)), 144)];
        int nResult = object.filled(n, data, rows);
        int dataUsed = Frames.used(Integer.toUnsignedLong(nResult), data.length);
        int length = Frames.plus(24, dataUsed, 4);
        Row[] rows_Copy = Frames.copy(rows, rows.length);
        length = Frames.plus(length, rows.length, 144);
        call.reply(length);
        call.replyMemory.set(Flat.INT, call.replyAt, nResult);
        call.replyMemory.set(Flat.INT, call.replyAt + 4, 0);
        FrameWriter results = new FrameWriter(call, 24);
        results.put(data, 8, 23, dataUsed);
        long rows_At = results.object(16, 19, rows.length, 144);
        for (int i = 0; i < rows.length; i++) {
            rows_Copy[i].write(call.replyMemory, rows_At + i * 144);
        }
    }

    private static void texts(IForms object, InCall call) {
        FrameReader arguments = new FrameReader(call, 16);
        String narrow = arguments.notNull(arguments.text(0));
        String wide = arguments.wide(8);
        arguments.end();
        IForms.TextsResult outcome = object.texts(narrow, wide);
        byte[] loudBytes = Frames.utf8(outcome.loud());
        int length = Frames.plus(16, loudBytes);
        char[] quietCharacters = Frames.utf16(outcome.quiet());
        length = Frames.plus(length, quietCharacters);
        call.reply(length);
        FrameWriter results = new FrameWriter(call, 16);
        results.text(0, loudBytes);
        results.wide(8, quietCharacters);
    }

    private static void maybe(IForms object, InCall call) {
        FrameReader arguments = new FrameReader(call, 24);
        int rowBody = arguments.optional(0, 19, 144);
        Row row = rowBody < 0 ? null : Row.read(arguments, rowBody);
        int numberBody = arguments.optional(8, 23, 4);
        Integer number = numberBody < 0 ? null : arguments.getInt(numberBody);
        int yesBody = arguments.optional(16, 17, 1);
        Boolean yes = yesBody < 0 ? null : arguments.getBoolean(yesBody);
        arguments.end();
        object.maybe(row, number, yes);
    }

    private static void allocated(IForms object, InCall call) {
        call.expect(0);
        IForms.AllocatedResult outcome = object.allocated();
        int length = Frames.plus(32, outcome.numbers().length, 8);
        Color[] colorsCopy = Frames.copy(outcome.colors());
        length = Frames.plus(length, outcome.colors().length, 4);
        call.reply(length);
        call.replyMemory.set(Flat.INT, call.replyAt, outcome.numbers().length);
        call.replyMemory.set(Flat.INT, call.replyAt + 4, 0);
        call.replyMemory.set(Flat.SHORT, call.replyAt + 16, (short) outcome.colors().length);
        call.replyMemory.set(Flat.SHORT, call.replyAt + 18, (short) 0);
        call.replyMemory.set(Flat.INT, call.replyAt + 20, 0);
        FrameWriter results = new FrameWriter(call, 32);
        results.put(outcome.numbers(), 8, 24, outcome.numbers().length);
        long colorsAt = results.object(24, 18, colorsCopy.length, 4);
        for (int i = 0; i < colorsCopy.length; i++) {
            call.replyMemory.set(Flat.INT, colorsAt + i * 4, colorsCopy[i].value());
        }
    }

    private static void objects(IForms object, InCall call) {
        FrameReader arguments = new FrameReader(call, 40);
        Guid iid = arguments.getGuid(16);
        byte[] baseReference = arguments.reference(0);
        byte[] anyReference = arguments.reference(8);
        byte[] object_Reference = arguments.reference(32);
        arguments.end();
        IBase base = Marshal.object(call, baseReference, IBaseInfo.INFO);
        Remote any = Marshal.object(call, anyReference, InterfaceInfo.of(Remote.class));
        Remote object_ = Marshal.object(call, object_Reference, Interfaces.of(iid));
        IForms.ObjectsResult outcome = object.objects(base, any, iid, object_);
        byte[] formsReference = Marshal.reference(call, outcome.forms(), IFormsInfo.INFO);
        int length = Frames.plus(24, formsReference);
        byte[] otherReference = Marshal.reference(call, outcome.other(), Interfaces.of(iid));
        length = Frames.plus(length, otherReference);
        call.reply(length);
        call.replyMemory.set(Flat.INT, call.replyAt + 8, outcome.number());
        call.replyMemory.set(Flat.INT, call.replyAt + 12, 0);
        FrameWriter results = new FrameWriter(call, 24);
        results.reference(0, formsReference);
        results.reference(16, otherReference);
    }

    private static void tell(IForms object, InCall call) {
        FrameReader arguments = new FrameReader(call, 16);
        String what = arguments.notNull(arguments.text(0));
        byte[] toReference = arguments.reference(8);
        arguments.end();
        IBase to = Marshal.object(call, toReference, IBaseInfo.INFO);
        object.tell(what, to);
    }

    private static void tell_(IForms object, InCall call) {
        call.expect(8);
        int what = call.memory.get(Flat.INT, call.at);
        object.tell_(what);
    }

    /** Stands for an object of another process. */
    static final class IFormsProxy extends Proxy implements IForms {
        IFormsProxy(Reference reference) {
            super(reference);
        }

        @Override
        public FirstThingResult firstThing(byte call_, short length_) {
            Channel call = begin(8);
            call.memory.set(Flat.BYTE, call.at, call_);
            call.memory.set(Flat.BYTE, call.at + 1, (byte) 0);
            call.memory.set(Flat.SHORT, call.at + 2, length_);
            call.memory.set(Flat.INT, call.at + 4, 0);
            call(call, 3, 8);
            call.expect(8);
            short length_Result = call.replyMemory.get(Flat.SHORT, call.replyAt);
            byte letter = call.replyMemory.get(Flat.BYTE, call.replyAt + 2);
            call.end();
            return new FirstThingResult(length_Result, letter);
        }

        @Override
        public void wait_(long class_) {
            Channel call = begin(8);
            call.memory.set(Flat.LONG, call.at, class_);
            call(call, 4, 8);
            call.expect(0);
            call.end();
        }

        @Override
        public void values(boolean yes, Color color, Grade grade, Level level, char letter, float f, int result) {
            Objects.requireNonNull(color, "color");
            Objects.requireNonNull(grade, "grade");
            Objects.requireNonNull(level, "level");
            Channel call = begin(32);
            call.memory.set(Flat.BYTE, call.at, (byte) (yes ? 1 : 0));
            call.memory.set(Flat.BYTE, call.at + 1, (byte) 0);
            call.memory.set(Flat.SHORT, call.at + 2, (short) 0);
            call.memory.set(Flat.INT, call.at + 4, color.value());
            call.memory.set(Flat.INT, call.at + 8, grade.value());
            call.memory.set(Flat.INT, call.at + 12, level.value());
            call.memory.set(Flat.CHAR, call.at + 16, letter);
            call.memory.set(Flat.SHORT, call.at + 18, (short) 0);
            call.memory.set(Flat.FLOAT, call.at + 20, f);
            call.memory.set(Flat.INT, call.at + 24, result);
            call.memory.set(Flat.INT, call.at + 28, 0);
            call(call, 5, 32);
            call.expect(0);
            call.end();
        }

        @Override
        public SwapResult swap(Row row, Color color, boolean yes, short number) {
            Objects.requireNonNull(row, "row");
            Objects.requireNonNull(color, "color");
            Frames.checkRange(number, -5L, 5L);
            Channel call = begin(152);
            row.write(call.memory, call.at);
            call.memory.set(Flat.INT, call.at + 144, color.value());
            call.memory.set(Flat.BYTE, call.at + 148, (byte) (yes ? 1 : 0));
            call.memory.set(Flat.BYTE, call.at + 149, (byte) 0);
            call.memory.set(Flat.SHORT, call.at + 150, number);
            call(call, 6, 152);
            try {
                FrameReader results = new FrameReader(call, 152);
                Row rowResult = Row.read(results, 0);
                Color colorResult = Color.read(results, 144);
                boolean yesResult = results.getBoolean(148);
                short numberResult = results.getShort(150);
                results.checkRange(numberResult, -5L, 5L);
                results.end();
                return new SwapResult(rowResult, colorResult, yesResult, numberResult);
            } finally {
                call.end();
            }
        }

        @Override
        public Point fixed(byte[] seal, Guid key, Color[] colors) {
            Frames.checkLength(seal.length, 16);
            Objects.requireNonNull(key, "key");
            Frames.checkLength(colors.length, 2);
            Color[] colorsCopy = Frames.copy(colors);
            Channel call = begin(40);
            MemorySegment.copy(seal, 0, call.memory, Flat.BYTE, call.at, 16);
            FrameWriter.put(key, call.memory, call.at + 16);
            for (int i = 0; i < 2; i++) {
                call.memory.set(Flat.INT, call.at + 32 + i * 4, colorsCopy[i].value());
            }
            call(call, 7, 40);
            try {
                FrameReader results = new FrameReader(call, 24);
                Point point = Point.read(results, 0);
                results.end();
                return point;
            } finally {
                call.end();
            }
        }

        @Override
        public void both(float[] a, boolean[] b, Color[] colors) {
            Frames.checkLength(b.length, a.length);
            Frames.checkRange(a.length, 0, 255);
            Frames.checkRange(colors.length, 0L, 9L);
            int length = Frames.plus(40, a.length, 4);
            length = Frames.plus(length, b.length, 1);
            Color[] colorsCopy = Frames.copy(colors);
            length = Frames.plus(length, colors.length, 4);
            Channel call = begin(length);
            call.memory.set(Flat.BYTE, call.at, (byte) a.length);
            call.memory.set(Flat.BYTE, call.at + 1, (byte) 0);
            call.memory.set(Flat.SHORT, call.at + 2, (short) 0);
            call.memory.set(Flat.INT, call.at + 4, 0);
            call.memory.set(Flat.INT, call.at + 24, colors.length);
            call.memory.set(Flat.INT, call.at + 28, 0);
            FrameWriter arguments = new FrameWriter(call, 40);
            arguments.put(a, 8, 16, a.length);
            long bAt = arguments.object(16, 17, b.length, 1);
            for (int i = 0; i < b.length; i++) {
                call.memory.set(Flat.BYTE, bAt + i, (byte) (b[i] ? 1 : 0));
            }
            long colorsAt = arguments.object(32, 18, colors.length, 4);
            for (int i = 0; i < colors.length; i++) {
                call.memory.set(Flat.INT, colorsAt + i * 4, colorsCopy[i].value());
            }
            call(call, 8, length);
            call.expect(0);
            call.end();
        }

        @Override
        public void change(Row[] rows, char[] letters) {
            Frames.checkRange(rows.length, 0, 65535);
            Row[] rowsCopy = Frames.copy(rows);
            int length = Frames.plus(24, rows.length, 144);
            length = Frames.plus(length, letters.length, 2);
            Channel call = begin(length);
            call.memory.set(Flat.SHORT, call.at, (short) rows.length);
            call.memory.set(Flat.SHORT, call.at + 2, (short) 0);
            call.memory.set(Flat.INT, call.at + 4, letters.length);
            FrameWriter arguments = new FrameWriter(call, 24);
            long rowsAt = arguments.object(8, 19, rows.length, 144);
            for (int i = 0; i < rows.length; i++) {
                rowsCopy[i].write(call.memory, rowsAt + i * 144);
            }
            arguments.put(letters, 16, 20, letters.length);
            call(call, 9, length);
            try {
                FrameReader results = new FrameReader(call, 16);
                int rowsBody = results.find(0, 19, rows.length, 144);
                for (int i = 0; i < rows.length; i++) {
                    rows[i] = Row.read(results, rowsBody + i * 144);
                }
                results.into(letters, 8, 20, letters.length);
                results.end();
            } finally {
                call.end();
            }
        }

        @Override
        public void expression(int width, long height, double[] cells, int shown, byte[] more) {
            Frames.checkLength(cells.length, Frames.count(() -> Frames.shiftLeft(Math.divideExact(Math.multiplyExact(Math.addExact((long) width, 1L), Frames.unsigned(height)), 2L), 1L)));
            Frames.checkLength(more.length, Frames.count(() -> (((long) shown) != 0 ? 4L : Math.negateExact((long) width))));
            int length = Frames.plus(40, cells.length, 8);
            length = Frames.plus(length, more.length, 1);
            Channel call = begin(length);
            call.memory.set(Flat.INT, call.at, width);
            call.memory.set(Flat.INT, call.at + 4, 0);
            call.memory.set(Flat.LONG, call.at + 8, height);
            call.memory.set(Flat.INT, call.at + 24, shown);
            call.memory.set(Flat.INT, call.at + 28, 0);
            FrameWriter arguments = new FrameWriter(call, 40);
            arguments.put(cells, 16, 21, cells.length);
            arguments.put(more, 32, 22, more.length);
            call(call, 10, length);
            call.expect(0);
            call.end();
        }

        @Override
        public int filled(int n, int[] data, Row[] rows) {
            Objects.requireNonNull(data, "data");
            Frames.checkLength(data.length, Frames.count(Integer.toUnsignedLong(n)));
            Objects.requireNonNull(rows, "rows");
            Channel call = begin(8);
            call.memory.set(Flat.INT, call.at, rows.length);
            call.memory.set(Flat.INT, call.at + 4, n);
            call(call, 11, 8);
            try {
                FrameReader results = new FrameReader(call, 24);
                int nResult = results.getInt(0);
                int dataUsed = results.used(Integer.toUnsignedLong(nResult), data.length);
                results.into(data, 8, 23, dataUsed);
                int rows_Body = results.find(16, 19, rows.length, 144);
                for (int i = 0; i < rows.length; i++) {
                    rows[i] = Row.read(results, rows_Body + i * 144);
                }
                results.end();
                return nResult;
            } finally {
                call.end();
            }
        }

        @Override
        public TextsResult texts(String narrow, String wide) {
            Objects.requireNonNull(narrow, "narrow");
            byte[] narrowBytes = Frames.utf8(narrow);
            int length = Frames.plus(16, narrowBytes);
            char[] wideCharacters = Frames.utf16(wide);
            length = Frames.plus(length, wideCharacters);
            Channel call = begin(length);
            FrameWriter arguments = new FrameWriter(call, 16);
            arguments.text(0, narrowBytes);
            arguments.wide(8, wideCharacters);
            call(call, 12, length);
            try {
                FrameReader results = new FrameReader(call, 16);
                String loud = results.text(0);
                String quiet = results.wide(8);
                results.end();
                return new TextsResult(loud, quiet);
            } finally {
                call.end();
            }
        }

        @Override
        public void maybe(Row row, Integer number, Boolean yes) {
            int length = row == null ? 24 : Frames.plus(24, 1, 144);
            length = number == null ? length : Frames.plus(length, 1, 4);
            length = yes == null ? length : Frames.plus(length, 1, 1);
            Channel call = begin(length);
            FrameWriter arguments = new FrameWriter(call, 24);
            if (row == null) {
                arguments.none(0);
            } else {
                row.write(call.memory, arguments.object(0, 19, 1, 144));
            }
            if (number == null) {
                arguments.none(8);
            } else {
                call.memory.set(Flat.INT, arguments.object(8, 23, 1, 4), number);
            }
            if (yes == null) {
                arguments.none(16);
            } else {
                call.memory.set(Flat.BYTE, arguments.object(16, 17, 1, 1), (byte) (yes ? 1 : 0));
            }
            call(call, 13, length);
            call.expect(0);
            call.end();
        }

        @Override
        public AllocatedResult allocated() {
            Channel call = begin(0);
            call(call, 14, 0);
            try {
                FrameReader results = new FrameReader(call, 32);
                int n = results.getInt(0);
                short m = results.getShort(16);
                int numbersCount = results.count(Integer.toUnsignedLong(n));
                int numbersBody = results.allocated(8, 24, 8, numbersCount);
                long[] numbers = results.copyLongs(numbersBody, numbersCount);
                int colorsCount = results.count(Short.toUnsignedLong(m));
                int colorsBody = results.allocated(24, 18, 4, colorsCount);
                Color[] colors = new Color[colorsCount];
                for (int i = 0; i < colorsCount; i++) {
                    colors[i] = Color.read(results, colorsBody + i * 4);
                }
                results.end();
                return new AllocatedResult(numbers, colors);
            } finally {
                call.end();
            }
        }

        @Override
        public ObjectsResult objects(IBase base, Remote any, Guid iid, Remote object_) {
            Objects.requireNonNull(iid, "iid");
            byte[] baseReference = Marshal.reference(this, base, IBaseInfo.INFO);
            int length = Frames.plus(40, baseReference);
            byte[] anyReference = Marshal.reference(this, any, InterfaceInfo.of(Remote.class));
            length = Frames.plus(length, anyReference);
            byte[] object_Reference = Marshal.reference(this, object_, Interfaces.of(iid));
            length = Frames.plus(length, object_Reference);
            Channel call = begin(length);
            FrameWriter.put(iid, call.memory, call.at + 16);
            FrameWriter arguments = new FrameWriter(call, 40);
            arguments.reference(0, baseReference);
            arguments.reference(8, anyReference);
            arguments.reference(32, object_Reference);
            call(call, 15, length);
            byte[] formsReference;
            int number;
            byte[] otherReference;
            try {
                FrameReader results = new FrameReader(call, 24);
                number = results.getInt(8);
                formsReference = results.reference(0);
                otherReference = results.reference(16);
                results.end();
            } finally {
                call.end();
            }
            return new ObjectsResult(
                Marshal.object(this, formsReference, IFormsInfo.INFO),
                number,
                Marshal.object(this, otherReference, Interfaces.of(iid)));
        }

        @Override
        public void tell(String what, IBase to) {
            Objects.requireNonNull(what, "what");
            byte[] whatBytes = Frames.utf8(what);
            int length = Frames.plus(16, whatBytes);
            byte[] toReference = Marshal.reference(this, to, IBaseInfo.INFO);
            length = Frames.plus(length, toReference);
            Channel call = begin(length);
            FrameWriter arguments = new FrameWriter(call, 16);
            arguments.text(0, whatBytes);
            arguments.reference(8, toReference);
            oneway(call, 16, length);
        }

        @Override
        public void tell_(int what) {
            Channel call = begin(8);
            call.memory.set(Flat.INT, call.at, what);
            call.memory.set(Flat.INT, call.at + 4, 0);
            call(call, 17, 8);
            call.expect(0);
            call.end();
        }
    }
}
