// Made by obvia-idl 0.1.0 from trees.idl. Change the IDL, not this.
package trees;

import java.util.List;
import java.util.Objects;
import obvia.Guid;
import obvia.Ints;
import obvia.runtime.Channel;
import obvia.runtime.Flat;
import obvia.runtime.Frame;
import obvia.runtime.FrameReader;
import obvia.runtime.FrameWriter;
import obvia.runtime.Frames;
import obvia.runtime.GraphKinds;
import obvia.runtime.GraphReader;
import obvia.runtime.GraphType;
import obvia.runtime.GraphWriter;
import obvia.runtime.InCall;
import obvia.runtime.InterfaceInfo;
import obvia.runtime.Proxy;
import obvia.runtime.Reference;

/** {@link ITrees} as the runtime knows it: its description, its proxy and its stub. */
public final class ITreesInfo {
    private static final String IDL =
            """
            typedef enum {
                RED = 0,
                GREEN = 5,
                BLUE = 6
            } Color;
            struct Box;
            struct Chunk;
            struct Crowd;
            struct Digits;
            struct Entry;
            struct Holder;
            struct Item;
            struct Node;
            struct Pair;
            struct Point;
            struct Row;
            struct Samples;
            struct Tree;
            struct Weighed;
            typedef [ptr] struct Node *ptr_struct_Node;
            struct Item {
                long value;
                boolean marked;
                [string] wchar_t *name;
                struct Item *next;
            };
            struct Tree {
                hyper key;
                struct Tree *left;
                struct Tree *right;
            };
            union Choice switch (Color which) body {
                case 0: long number;
                case 5: struct Tree tree;
                case 6: ;
            };
            struct Box {
                Color color;
                struct Item items[2];
                struct Tree *trees[3];
                union Choice choice;
                [range(1, 9)] long digit;
                unsigned short count;
                [size_is(count)] union Choice *choices;
                [size_is(count), string] char **words;
                [size_is(count)] ptr_struct_Node *nodes;
            };
            struct Chunk {
                float part;
                boolean marked;
                unsigned small count;
                Color color;
                unsigned long more;
                [size_is(count)] byte *data;
                [size_is(more)] byte *rest;
                double whole;
                [string] char *name;
                hyper beyond;
                wchar_t mark;
                short numbers;
                [size_is(numbers)] long *values;
                struct Chunk *next;
            };
            struct Crowd {
                unsigned long count;
                [size_is(count)] ITrees **all;
                ITrees *two[2];
                GUID iid;
                [iid_is(iid)] IUnknown *other;
            };
            struct Digits {
                unsigned small room;
                unsigned small count;
                [size_is(room), length_is(count)] long all[];
            };
            [switch_type(long)] union Any {
                case 1: long number;
                case 2: double real;
                case 3: [string] wchar_t *text;
                case 4: struct Item *list;
                case 5: case 6: Color color;
                default: ;
            };
            struct Entry {
                [ref, string] char *name;
                long kind;
                [switch_is(kind)] union Any value;
            };
            struct Point {
                long x;
                Color color;
                boolean b;
            };
            struct Holder {
                struct Item item;
                Color color;
                struct Point points[2];
                long grid[2][3];
                GUID id;
                [ref, string] char *label;
                unsigned small n;
                [size_is(n)] struct Point *more;
                long *maybe;
                [size_is(n)] struct Item *items;
                struct Point p;
            };
            struct Node {
                long number;
                [string] char *label;
                [ptr] struct Node *first;
                [ptr] struct Node *second;
                [ptr] struct Item *item;
                struct Tree *tree;
            };
            struct Pair {
                ITrees *left;
                [string] char *word;
                ITrees *right;
            };
            struct Row {
                [string] char *title;
                unsigned short count;
                [size_is(count)] struct Item items[];
            };
            struct Samples {
                unsigned long count;
                [size_is(count)] double *values;
                [size_is(count)] byte *flags;
                unsigned short rows;
                unsigned short columns;
                [size_is(((rows * columns) + 1))] short *table;
                [range(0, 8)] long used;
                [ref, size_is(8), length_is(used)] long *tail;
            };
            [switch_type(hyper)] union Big {
                case 1: long number;
                case 5000000000: case 5000000001: struct Item *list;
                case -7: ;
                default: [string] wchar_t *text;
            };
            struct Weighed {
                hyper kind;
                [switch_is(kind)] union Big big;
                short level;
                unsigned small more;
                [switch_is(((level * 2) + more))] union Any any;
                [switch_is((kind % 8))] union Any other;
            };
            union Huge switch (unsigned hyper which) body {
                case 1: struct Item item;
                case 4294967297: hyper number;
                default: ;
            };
            union Several switch (long which) body {
                case 1: long three[3];
                case 2: struct Item two[2];
                case 3: ITrees *object;
            };
            [object, uuid(3d7a1f60-5b0e-4c0a-8f2d-9e1100000012), pointer_default(unique)]
            interface ITrees : IUnknown {
                HRESULT Sum([in, unique] struct Item *list, [out] hyper *sum, [out, string] wchar_t **names);
                HRESULT Range([in] long first, [in] long count, [out] struct Item **list);
                HRESULT Reverse([in, out] struct Item **list);
                HRESULT Bump([in, out] struct Item *item, [in] long by);
                HRESULT Insert([in] struct Tree *tree, [in] hyper key, [out] struct Tree **grown);
                HRESULT Average([in] struct Samples *samples, [out, retval] double *average);
                HRESULT Sampled([in] unsigned long count, [out] struct Samples *samples);
                HRESULT Hold([in] struct Holder *in, [out] struct Holder **out);
                HRESULT All([in] unsigned long count, [in, size_is(count)] struct Item *items, [in] unsigned long n, [in, size_is(n)] long *xs, [in, size_is(n)] struct Point *ps, [in, unique] struct Point *maybe, [in, string] char *text, [out] unsigned long *m, [out, size_is(, *m)] struct Item **back, [out] unsigned long *k, [out, size_is(, *k)] long **ys);
                [oneway] HRESULT Note([in, unique] struct Item *list);
                HRESULT Noted([out, retval] long *values);
                HRESULT Ring([in] long count, [out] ptr_struct_Node *ring);
                HRESULT Walk([in, ptr] struct Node *start, [in] long steps, [out, retval] long *number);
                HRESULT Shared([in, ptr] struct Node *a, [in, ptr] struct Node *b, [out] boolean *same);
                HRESULT Alone([in, unique] struct Node *start, [out, retval] long *number);
                HRESULT Turn([in, out] ptr_struct_Node *ring);
                HRESULT Describe([in] long kind, [in, switch_is(kind)] union Any *value, [out, retval, string] wchar_t **text);
                HRESULT Become([in] long kind, [out, switch_is(kind)] union Any *value);
                HRESULT Choose([in] union Choice *choice, [out, retval] hyper *sum);
                HRESULT Flip([in] struct Box *box, [out] struct Box *flipped);
                HRESULT Put([in] unsigned long count, [in, size_is(count)] struct Entry *entries);
                HRESULT List([out] unsigned long *count, [out, size_is(, *count)] struct Entry **entries);
                HRESULT Words([in] unsigned long count, [in, size_is(count), string] wchar_t **words, [out] unsigned long *lines, [out, size_is(, *lines), string] wchar_t ***upper);
                HRESULT Tell([in, unique] struct Item *list, [in] ITrees *to, [out] struct Item **same, [out] ITrees **back);
                HRESULT Meet([in] struct Pair *pair, [in, out] ITrees **last, [out] struct Pair **turned);
                HRESULT Gather([in] struct Crowd *crowd, [out] struct Crowd *turned);
                HRESULT Store([in] struct Row *row, [in, unique] struct Digits *digits, [out] struct Row **stored, [out] struct Digits **twice);
                HRESULT Sort([in] unsigned long count, [in, out, size_is(count)] struct Item *items);
                HRESULT Part([in] long room, [in, out] long *used, [in, out, size_is(room), length_is(*used)] struct Item *items);
                HRESULT Some([in] unsigned long room, [out, size_is(room), length_is(*got)] struct Entry *entries, [out] unsigned long *got);
                HRESULT Change([in] long kind, [in, out, switch_is(kind)] union Any *value);
                HRESULT Many([in] union Several *given, [out] union Several *back);
                HRESULT Chain([in, unique] struct Chunk *first, [in, unique] struct Chunk *second, [out] struct Chunk **joined);
                HRESULT Probe([in] long what, [in, unique] struct Item *list, [in] struct Samples *samples, [out, retval] hyper *answer);
                HRESULT Weigh([in] struct Weighed *given, [out] struct Weighed *back);
                HRESULT Scale([in] hyper kind, [in, switch_is(kind)] union Big *big, [in] hyper which, [in, switch_is(which)] union Any *any, [out] hyper *next, [out, switch_is(*next)] union Big *bigger, [out, switch_is(((*next % 8) + which))] union Any *other, [in, out] union Huge *huge);
            }
            """;

    /** The description. */
    public static final InterfaceInfo<ITrees> INFO = new InterfaceInfo<>(
        ITrees.class,
        "ITrees",
        Guid.of("3d7a1f60-5b0e-4c0a-8f2d-9e1100000012"),
        0,
        0x04299d5216c8c774L,
        0x6a4823c94830323fL,
        null,
        ITreesProxy::new,
        ITreesInfo::perform,
        IDL,
        TreesIdl::interfaces);

    private static final GraphKinds KINDS = GraphKinds.of(
        ItemType.TYPE,
        TreeType.TYPE,
        GraphType.DOUBLE,
        GraphType.BYTE,
        GraphType.SHORT,
        GraphType.LONG,
        PointType.TYPE,
        HolderType.TYPE,
        NodeType.TYPE,
        ChoiceType.TYPE,
        GraphType.TEXT8.pointer(GraphReader.UNIQUE),
        NodeType.TYPE.pointer(GraphReader.FULL),
        EntryType.TYPE,
        GraphType.TEXT16.pointer(GraphReader.UNIQUE),
        PairType.TYPE,
        GraphType.object(ITrees.class),
        RowType.TYPE,
        DigitsType.TYPE,
        ChunkType.TYPE);

    private ITreesInfo() {}

    /** Performs a call. */
    static void perform(ITrees object, InCall call) {
        switch (call.opnum) {
            case 3 -> sum(object, call);
            case 4 -> range(object, call);
            case 5 -> reverse(object, call);
            case 6 -> bump(object, call);
            case 7 -> insert(object, call);
            case 8 -> average(object, call);
            case 9 -> sampled(object, call);
            case 10 -> hold(object, call);
            case 11 -> all(object, call);
            case 12 -> note(object, call);
            case 13 -> noted(object, call);
            case 14 -> ring(object, call);
            case 15 -> walk(object, call);
            case 16 -> shared(object, call);
            case 17 -> alone(object, call);
            case 18 -> turn(object, call);
            case 19 -> describe(object, call);
            case 20 -> become(object, call);
            case 21 -> choose(object, call);
            case 22 -> flip(object, call);
            case 23 -> put(object, call);
            case 24 -> list(object, call);
            case 25 -> words(object, call);
            case 26 -> tell(object, call);
            case 27 -> meet(object, call);
            case 28 -> gather(object, call);
            case 29 -> store(object, call);
            case 30 -> sort(object, call);
            case 31 -> part(object, call);
            case 32 -> some(object, call);
            case 33 -> change(object, call);
            case 34 -> many(object, call);
            case 35 -> chain(object, call);
            case 36 -> probe(object, call);
            case 37 -> weigh(object, call);
            case 38 -> scale(object, call);
            default -> throw call.noMethod();
        }
    }

    private static void sum(ITrees object, InCall call) {
        GraphReader arguments = GraphReader.of(call, 8, KINDS);
        try {
            arguments.checkOne(0, ItemType.TYPE, GraphReader.UNIQUE);
            arguments.verify();
            Frame frame = arguments.frame();
            Item list = frame.place(0) == 0 ? null : new Item.View(frame, frame.place(0));
            ITrees.SumResult outcome = object.sum(list);
            char[] namesCharacters = Frames.utf16(outcome.names());
            int length = Frames.plus(16, namesCharacters);
            call.reply(length);
            call.replyMemory.set(Flat.LONG, call.replyAt, outcome.sum());
            FrameWriter results = new FrameWriter(call, 16);
            results.wide(8, namesCharacters);
        } finally {
            arguments.close();
        }
    }

    private static void range(ITrees object, InCall call) {
        call.expect(8);
        int first = call.memory.get(Flat.INT, call.at);
        int count = call.memory.get(Flat.INT, call.at + 4);
        Item list = object.range(first, count);
        GraphWriter results = GraphWriter.of(KINDS, 8);
        results.one(0, ItemType.TYPE, list);
        call.reply(results);
    }

    private static void reverse(ITrees object, InCall call) {
        GraphReader arguments = GraphReader.of(call, 8, KINDS);
        try {
            arguments.checkOne(0, ItemType.TYPE, GraphReader.UNIQUE);
            arguments.verify();
            Frame frame = arguments.frame();
            Item list = frame.place(0) == 0 ? null : new Item.View(frame, frame.place(0));
            Item listResult = object.reverse(list);
            GraphWriter results = GraphWriter.of(KINDS, 8);
            results.one(0, ItemType.TYPE, listResult);
            call.reply(results);
        } finally {
            arguments.close();
        }
    }

    private static void bump(ITrees object, InCall call) {
        GraphReader arguments = GraphReader.of(call, 32, KINDS);
        try {
            arguments.checkBoolean(8 + 4);
            arguments.checkText16(8 + 8, GraphReader.UNIQUE);
            arguments.checkOne(8 + 16, ItemType.TYPE, GraphReader.UNIQUE);
            arguments.verify();
            Frame frame = arguments.frame();
            int by = arguments.getInt(0);
            Item item = new Item.View(frame, 8);
            Item itemResult = object.bump(item, by);
            Objects.requireNonNull(itemResult, "item");
            GraphWriter results = GraphWriter.of(KINDS, 24);
            results.inner(0, ItemType.TYPE, itemResult);
            call.reply(results);
        } finally {
            arguments.close();
        }
    }

    private static void insert(ITrees object, InCall call) {
        GraphReader arguments = GraphReader.of(call, 32, KINDS);
        try {
            arguments.checkOne(8, TreeType.TYPE, GraphReader.UNIQUE);
            arguments.checkOne(16, TreeType.TYPE, GraphReader.UNIQUE);
            arguments.verify();
            Frame frame = arguments.frame();
            Tree tree = new Tree.View(frame, 0);
            long key = arguments.getLong(24);
            Tree grown = object.insert(tree, key);
            GraphWriter results = GraphWriter.of(KINDS, 8);
            results.one(0, TreeType.TYPE, grown);
            call.reply(results);
        } finally {
            arguments.close();
        }
    }

    private static void average(ITrees object, InCall call) {
        GraphReader arguments = GraphReader.of(call, 56, KINDS);
        try {
            arguments.checkMany(8, GraphType.DOUBLE, GraphReader.UNIQUE, Integer.toUnsignedLong(arguments.getInt(0)));
            arguments.checkMany(16, GraphType.BYTE, GraphReader.UNIQUE, Integer.toUnsignedLong(arguments.getInt(0)));
            arguments.checkMany(32, GraphType.SHORT, GraphReader.UNIQUE, arguments.value(0, () -> Math.addExact(Math.multiplyExact(Short.toUnsignedLong(arguments.getShort(24)), Short.toUnsignedLong(arguments.getShort(26))), 1L)));
            arguments.checkRange(40, arguments.getInt(40), 0L, 8L);
            arguments.checkMany(48, GraphType.LONG, GraphReader.REF, arguments.getInt(40), 8);
            arguments.verify();
            Frame frame = arguments.frame();
            Samples samples = new Samples.View(frame, 0);
            double average = object.average(samples);
            call.reply(8);
            call.replyMemory.set(Flat.DOUBLE, call.replyAt, average);
        } finally {
            arguments.close();
        }
    }

    private static void sampled(ITrees object, InCall call) {
        call.expect(8);
        int count = call.memory.get(Flat.INT, call.at);
        Samples samples = object.sampled(count);
        Objects.requireNonNull(samples, "samples");
        GraphWriter results = GraphWriter.of(KINDS, 56);
        results.inner(0, SamplesType.TYPE, samples);
        call.reply(results);
    }

    private static void hold(ITrees object, InCall call) {
        GraphReader arguments = GraphReader.of(call, 152, KINDS);
        try {
            arguments.checkBoolean(4);
            arguments.checkText16(8, GraphReader.UNIQUE);
            arguments.checkOne(16, ItemType.TYPE, GraphReader.UNIQUE);
            switch (arguments.getInt(24)) {
                case 0, 5, 6 -> {}
                default -> throw arguments.badEnum(24);
            }
            for (int i0 = 0; i0 < 2; i0++) {
                int at0 = 28 + i0 * 12;
                switch (arguments.getInt(at0 + 4)) {
                    case 0, 5, 6 -> {}
                    default -> throw arguments.badEnum(at0 + 4);
                }
                arguments.checkBoolean(at0 + 8);
            }
            arguments.checkText8(96, GraphReader.REF);
            arguments.checkMany(112, PointType.TYPE, GraphReader.UNIQUE, Byte.toUnsignedLong(arguments.getByte(104)));
            arguments.checkOne(120, GraphType.LONG, GraphReader.UNIQUE);
            arguments.checkMany(128, ItemType.TYPE, GraphReader.UNIQUE, Byte.toUnsignedLong(arguments.getByte(104)));
            switch (arguments.getInt(136 + 4)) {
                case 0, 5, 6 -> {}
                default -> throw arguments.badEnum(136 + 4);
            }
            arguments.checkBoolean(136 + 8);
            arguments.verify();
            Frame frame = arguments.frame();
            Holder in = new Holder.View(frame, 0);
            Holder out = object.hold(in);
            GraphWriter results = GraphWriter.of(KINDS, 8);
            results.one(0, HolderType.TYPE, out);
            call.reply(results);
        } finally {
            arguments.close();
        }
    }

    private static void all(ITrees object, InCall call) {
        GraphReader arguments = GraphReader.of(call, 56, KINDS);
        try {
            arguments.checkMany(8, ItemType.TYPE, GraphReader.REF, Integer.toUnsignedLong(arguments.getInt(0)));
            arguments.checkMany(24, GraphType.LONG, GraphReader.REF, Integer.toUnsignedLong(arguments.getInt(16)));
            arguments.checkMany(32, PointType.TYPE, GraphReader.REF, Integer.toUnsignedLong(arguments.getInt(16)));
            arguments.checkOne(40, PointType.TYPE, GraphReader.UNIQUE);
            arguments.checkText8(48, GraphReader.REF);
            arguments.verify();
            Frame frame = arguments.frame();
            int count = arguments.getInt(0);
            List<Item> items = frame.list(8, ItemType.TYPE);
            int n = arguments.getInt(16);
            int[] xs = Frames.array(arguments.frame().ints(24));
            Point[] ps = arguments.frame().list(32, PointType.TYPE).toArray(new Point[0]);
            Point maybe = (Point) arguments.frame().one(40, PointType.TYPE);
            String text = arguments.text8(48);
            ITrees.AllResult outcome = object.all(items, xs, ps, maybe, text);
            GraphWriter results = GraphWriter.of(KINDS, 32);
            results.putInt(0, Frames.length(outcome.back()));
            results.list(8, ItemType.TYPE, outcome.back());
            results.putInt(16, outcome.ys().length);
            results.array(24, GraphType.LONG, Ints.of(outcome.ys()));
            call.reply(results);
        } finally {
            arguments.close();
        }
    }

    private static void note(ITrees object, InCall call) {
        GraphReader arguments = GraphReader.of(call, 8, KINDS);
        try {
            arguments.checkOne(0, ItemType.TYPE, GraphReader.UNIQUE);
            arguments.verify();
            Frame frame = arguments.frame();
            Item list = frame.place(0) == 0 ? null : new Item.View(frame, frame.place(0));
            object.note(list);
        } finally {
            arguments.close();
        }
    }

    private static void noted(ITrees object, InCall call) {
        call.expect(0);
        int values = object.noted();
        call.reply(8);
        call.replyMemory.set(Flat.INT, call.replyAt, values);
        call.replyMemory.set(Flat.INT, call.replyAt + 4, 0);
    }

    private static void ring(ITrees object, InCall call) {
        call.expect(8);
        int count = call.memory.get(Flat.INT, call.at);
        Node ring = object.ring(count);
        GraphWriter results = GraphWriter.of(KINDS, 8);
        results.shared(0, NodeType.TYPE, ring);
        call.reply(results);
    }

    private static void walk(ITrees object, InCall call) {
        GraphReader arguments = GraphReader.of(call, 16, KINDS);
        try {
            arguments.checkOne(0, NodeType.TYPE, GraphReader.FULL);
            arguments.verify();
            Frame frame = arguments.frame();
            Node start = frame.place(0) == 0 ? null : new Node.View(frame, frame.place(0));
            int steps = arguments.getInt(8);
            int number = object.walk(start, steps);
            call.reply(8);
            call.replyMemory.set(Flat.INT, call.replyAt, number);
            call.replyMemory.set(Flat.INT, call.replyAt + 4, 0);
        } finally {
            arguments.close();
        }
    }

    private static void shared(ITrees object, InCall call) {
        GraphReader arguments = GraphReader.of(call, 16, KINDS);
        try {
            arguments.checkOne(0, NodeType.TYPE, GraphReader.FULL);
            arguments.checkOne(8, NodeType.TYPE, GraphReader.FULL);
            arguments.verify();
            Frame frame = arguments.frame();
            Node a = frame.place(0) == 0 ? null : new Node.View(frame, frame.place(0));
            Node b = frame.place(8) == 0 ? null : new Node.View(frame, frame.place(8));
            boolean same = object.shared(a, b);
            call.reply(8);
            call.replyMemory.set(Flat.BYTE, call.replyAt, (byte) (same ? 1 : 0));
            call.replyMemory.set(Flat.BYTE, call.replyAt + 1, (byte) 0);
            call.replyMemory.set(Flat.SHORT, call.replyAt + 2, (short) 0);
            call.replyMemory.set(Flat.INT, call.replyAt + 4, 0);
        } finally {
            arguments.close();
        }
    }

    private static void alone(ITrees object, InCall call) {
        GraphReader arguments = GraphReader.of(call, 8, KINDS);
        try {
            arguments.checkOne(0, NodeType.TYPE, GraphReader.UNIQUE);
            arguments.verify();
            Frame frame = arguments.frame();
            Node start = frame.place(0) == 0 ? null : new Node.View(frame, frame.place(0));
            int number = object.alone(start);
            call.reply(8);
            call.replyMemory.set(Flat.INT, call.replyAt, number);
            call.replyMemory.set(Flat.INT, call.replyAt + 4, 0);
        } finally {
            arguments.close();
        }
    }

    private static void turn(ITrees object, InCall call) {
        GraphReader arguments = GraphReader.of(call, 8, KINDS);
        try {
            arguments.checkOne(0, NodeType.TYPE, GraphReader.FULL);
            arguments.verify();
            Frame frame = arguments.frame();
            Node ring = frame.place(0) == 0 ? null : new Node.View(frame, frame.place(0));
            Node ringResult = object.turn(ring);
            GraphWriter results = GraphWriter.of(KINDS, 8);
            results.shared(0, NodeType.TYPE, ringResult);
            call.reply(results);
        } finally {
            arguments.close();
        }
    }

    private static void describe(ITrees object, InCall call) {
        GraphReader arguments = GraphReader.of(call, 16, KINDS);
        try {
            switch (arguments.getInt(0)) {
                case 1 -> {}
                case 2 -> {}
                case 3 -> {
                    arguments.checkText16(8, GraphReader.UNIQUE);
                }
                case 4 -> {
                    arguments.checkOne(8, ItemType.TYPE, GraphReader.UNIQUE);
                }
                case 5, 6 -> {
                    switch (arguments.getInt(8)) {
                        case 0, 5, 6 -> {}
                        default -> throw arguments.badEnum(8);
                    }
                }
                default -> {}
            }
            arguments.verify();
            Frame frame = arguments.frame();
            int kind = arguments.getInt(0);
            Any value = AnyType.view(frame, 8, arguments.getInt(0));
            String text = object.describe(kind, value);
            char[] textCharacters = Frames.utf16(text);
            int length = Frames.plus(8, textCharacters);
            call.reply(length);
            FrameWriter results = new FrameWriter(call, 8);
            results.wide(0, textCharacters);
        } finally {
            arguments.close();
        }
    }

    private static void become(ITrees object, InCall call) {
        call.expect(8);
        int kind = call.memory.get(Flat.INT, call.at);
        Any value = object.become(kind);
        Objects.requireNonNull(value, "value");
        Frames.checkCase(value.which(), kind);
        GraphWriter results = GraphWriter.of(KINDS, 8);
        AnyType.put(results, value, 0);
        call.reply(results);
    }

    private static void choose(ITrees object, InCall call) {
        GraphReader arguments = GraphReader.of(call, 32, KINDS);
        try {
            switch (arguments.getInt(0)) {
                case 0 -> {}
                case 5 -> {
                    arguments.checkOne(8 + 8, TreeType.TYPE, GraphReader.UNIQUE);
                    arguments.checkOne(8 + 16, TreeType.TYPE, GraphReader.UNIQUE);
                }
                case 6 -> {}
                default -> throw arguments.bad(8, "the union has no arm for its discriminant");
            }
            arguments.verify();
            Frame frame = arguments.frame();
            Choice choice = ChoiceType.TYPE.view(frame, 0);
            long sum = object.choose(choice);
            call.reply(8);
            call.replyMemory.set(Flat.LONG, call.replyAt, sum);
        } finally {
            arguments.close();
        }
    }

    private static void flip(ITrees object, InCall call) {
        GraphReader arguments = GraphReader.of(call, 144, KINDS);
        try {
            switch (arguments.getInt(0)) {
                case 0, 5, 6 -> {}
                default -> throw arguments.badEnum(0);
            }
            for (int i0 = 0; i0 < 2; i0++) {
                int at0 = 8 + i0 * 24;
                arguments.checkBoolean(at0 + 4);
                arguments.checkText16(at0 + 8, GraphReader.UNIQUE);
                arguments.checkOne(at0 + 16, ItemType.TYPE, GraphReader.UNIQUE);
            }
            for (int i0 = 0; i0 < 3; i0++) {
                int at0 = 56 + i0 * 8;
                arguments.checkOne(at0, TreeType.TYPE, GraphReader.UNIQUE);
            }
            switch (arguments.getInt(80)) {
                case 0 -> {}
                case 5 -> {
                    arguments.checkOne(80 + 16, TreeType.TYPE, GraphReader.UNIQUE);
                    arguments.checkOne(80 + 24, TreeType.TYPE, GraphReader.UNIQUE);
                }
                case 6 -> {}
                default -> throw arguments.bad(80 + 8, "the union has no arm for its discriminant");
            }
            arguments.checkRange(112, arguments.getInt(112), 1L, 9L);
            arguments.checkMany(120, ChoiceType.TYPE, GraphReader.UNIQUE, Short.toUnsignedLong(arguments.getShort(116)));
            arguments.checkMany(128, GraphType.TEXT8.pointer(GraphReader.UNIQUE), GraphReader.UNIQUE, Short.toUnsignedLong(arguments.getShort(116)));
            arguments.checkMany(136, NodeType.TYPE.pointer(GraphReader.FULL), GraphReader.UNIQUE, Short.toUnsignedLong(arguments.getShort(116)));
            arguments.verify();
            Frame frame = arguments.frame();
            Box box = new Box.View(frame, 0);
            Box flipped = object.flip(box);
            Objects.requireNonNull(flipped, "flipped");
            GraphWriter results = GraphWriter.of(KINDS, 144);
            results.inner(0, BoxType.TYPE, flipped);
            call.reply(results);
        } finally {
            arguments.close();
        }
    }

    private static void put(ITrees object, InCall call) {
        GraphReader arguments = GraphReader.of(call, 16, KINDS);
        try {
            arguments.checkMany(8, EntryType.TYPE, GraphReader.REF, Integer.toUnsignedLong(arguments.getInt(0)));
            arguments.verify();
            Frame frame = arguments.frame();
            int count = arguments.getInt(0);
            List<Entry> entries = frame.list(8, EntryType.TYPE);
            object.put(entries);
        } finally {
            arguments.close();
        }
    }

    private static void list(ITrees object, InCall call) {
        call.expect(0);
        List<Entry> entries = object.list();
        GraphWriter results = GraphWriter.of(KINDS, 16);
        results.putInt(0, Frames.length(entries));
        results.list(8, EntryType.TYPE, entries);
        call.reply(results);
    }

    private static void words(ITrees object, InCall call) {
        GraphReader arguments = GraphReader.of(call, 16, KINDS);
        try {
            arguments.checkMany(8, GraphType.TEXT16.pointer(GraphReader.UNIQUE), GraphReader.REF, Integer.toUnsignedLong(arguments.getInt(0)));
            arguments.verify();
            Frame frame = arguments.frame();
            int count = arguments.getInt(0);
            List<String> words = frame.list(8, GraphType.TEXT16.pointer(GraphReader.UNIQUE));
            List<String> upper = object.words(words);
            GraphWriter results = GraphWriter.of(KINDS, 16);
            results.putInt(0, Frames.length(upper));
            results.list(8, GraphType.TEXT16.pointer(GraphReader.UNIQUE), upper);
            call.reply(results);
        } finally {
            arguments.close();
        }
    }

    private static void tell(ITrees object, InCall call) {
        GraphReader arguments = GraphReader.of(call, 16, KINDS);
        try {
            arguments.checkOne(0, ItemType.TYPE, GraphReader.UNIQUE);
            arguments.checkReference(8, ITreesInfo.INFO);
            arguments.verify();
            arguments.resolve(call);
            Frame frame = arguments.frame();
            Item list = frame.place(0) == 0 ? null : new Item.View(frame, frame.place(0));
            ITrees to = frame.object(8);
            ITrees.TellResult outcome = object.tell(list, to);
            GraphWriter results = GraphWriter.of(KINDS, 16);
            results.one(0, ItemType.TYPE, outcome.same());
            results.reference(8, outcome.back(), ITreesInfo.INFO);
            call.reply(results);
        } finally {
            arguments.close();
        }
    }

    private static void meet(ITrees object, InCall call) {
        GraphReader arguments = GraphReader.of(call, 32, KINDS);
        try {
            arguments.checkReference(0, ITreesInfo.INFO);
            arguments.checkText8(8, GraphReader.UNIQUE);
            arguments.checkReference(16, ITreesInfo.INFO);
            arguments.checkReference(24, ITreesInfo.INFO);
            arguments.verify();
            arguments.resolve(call);
            Frame frame = arguments.frame();
            Pair pair = new Pair.View(frame, 0);
            ITrees last = frame.object(24);
            ITrees.MeetResult outcome = object.meet(pair, last);
            GraphWriter results = GraphWriter.of(KINDS, 16);
            results.reference(0, outcome.last(), ITreesInfo.INFO);
            results.one(8, PairType.TYPE, outcome.turned());
            call.reply(results);
        } finally {
            arguments.close();
        }
    }

    private static void gather(ITrees object, InCall call) {
        GraphReader arguments = GraphReader.of(call, 56, KINDS);
        try {
            arguments.checkMany(8, GraphType.object(ITrees.class), GraphReader.UNIQUE, Integer.toUnsignedLong(arguments.getInt(0)));
            for (int i0 = 0; i0 < 2; i0++) {
                int at0 = 16 + i0 * 8;
                arguments.checkReference(at0, ITreesInfo.INFO);
            }
            arguments.checkReference(48, arguments.getGuid(32));
            arguments.verify();
            arguments.resolve(call);
            Frame frame = arguments.frame();
            Crowd crowd = new Crowd.View(frame, 0);
            Crowd turned = object.gather(crowd);
            Objects.requireNonNull(turned, "turned");
            GraphWriter results = GraphWriter.of(KINDS, 56);
            results.inner(0, CrowdType.TYPE, turned);
            call.reply(results);
        } finally {
            arguments.close();
        }
    }

    private static void store(ITrees object, InCall call) {
        GraphReader arguments = GraphReader.of(call, 16, KINDS);
        try {
            arguments.checkOne(0, RowType.TYPE, GraphReader.REF);
            arguments.checkOne(8, DigitsType.TYPE, GraphReader.UNIQUE);
            arguments.verify();
            Frame frame = arguments.frame();
            Row row = new Row.View(frame, frame.place(0));
            Digits digits = frame.place(8) == 0 ? null : new Digits.View(frame, frame.place(8));
            ITrees.StoreResult outcome = object.store(row, digits);
            GraphWriter results = GraphWriter.of(KINDS, 16);
            results.one(0, RowType.TYPE, outcome.stored());
            results.one(8, DigitsType.TYPE, outcome.twice());
            call.reply(results);
        } finally {
            arguments.close();
        }
    }

    private static void sort(ITrees object, InCall call) {
        GraphReader arguments = GraphReader.of(call, 16, KINDS);
        try {
            arguments.checkMany(8, ItemType.TYPE, GraphReader.REF, Integer.toUnsignedLong(arguments.getInt(0)));
            arguments.verify();
            Frame frame = arguments.frame();
            int count = arguments.getInt(0);
            List<Item> items = frame.list(8, ItemType.TYPE);
            List<Item> itemsResult = object.sort(items);
            Objects.requireNonNull(itemsResult, "items");
            Frames.checkLength(itemsResult.size(), Frames.count(Integer.toUnsignedLong(count)));
            GraphWriter results = GraphWriter.of(KINDS, 8);
            results.list(0, ItemType.TYPE, itemsResult);
            call.reply(results);
        } finally {
            arguments.close();
        }
    }

    private static void part(ITrees object, InCall call) {
        GraphReader arguments = GraphReader.of(call, 16, KINDS);
        try {
            arguments.checkMany(8, ItemType.TYPE, GraphReader.REF, arguments.getInt(4), arguments.getInt(0));
            arguments.verify();
            Frame frame = arguments.frame();
            int room = arguments.getInt(0);
            int used = arguments.getInt(4);
            List<Item> items = frame.list(8, ItemType.TYPE);
            ITrees.PartResult outcome = object.part(room, used, items);
            Objects.requireNonNull(outcome.items(), "items");
            Frames.checkLength(outcome.items().size(), Frames.count(outcome.used()));
            Frames.checkRange(outcome.items().size(), 0, Frames.count(room));
            GraphWriter results = GraphWriter.of(KINDS, 16);
            results.putInt(0, outcome.used());
            results.list(8, ItemType.TYPE, outcome.items());
            call.reply(results);
        } finally {
            arguments.close();
        }
    }

    private static void some(ITrees object, InCall call) {
        call.expect(8);
        int room = call.memory.get(Flat.INT, call.at);
        ITrees.SomeResult outcome = object.some(room);
        Objects.requireNonNull(outcome.entries(), "entries");
        Frames.checkLength(outcome.entries().size(), Frames.count(Integer.toUnsignedLong(outcome.got())));
        Frames.checkRange(outcome.entries().size(), 0, Frames.count(Integer.toUnsignedLong(room)));
        GraphWriter results = GraphWriter.of(KINDS, 16);
        results.list(0, EntryType.TYPE, outcome.entries());
        results.putInt(8, outcome.got());
        call.reply(results);
    }

    private static void change(ITrees object, InCall call) {
        GraphReader arguments = GraphReader.of(call, 16, KINDS);
        try {
            switch (arguments.getInt(0)) {
                case 1 -> {}
                case 2 -> {}
                case 3 -> {
                    arguments.checkText16(8, GraphReader.UNIQUE);
                }
                case 4 -> {
                    arguments.checkOne(8, ItemType.TYPE, GraphReader.UNIQUE);
                }
                case 5, 6 -> {
                    switch (arguments.getInt(8)) {
                        case 0, 5, 6 -> {}
                        default -> throw arguments.badEnum(8);
                    }
                }
                default -> {}
            }
            arguments.verify();
            Frame frame = arguments.frame();
            int kind = arguments.getInt(0);
            Any value = AnyType.view(frame, 8, arguments.getInt(0));
            Any valueResult = object.change(kind, value);
            Objects.requireNonNull(valueResult, "value");
            Frames.checkCase(valueResult.which(), kind);
            GraphWriter results = GraphWriter.of(KINDS, 8);
            AnyType.put(results, valueResult, 0);
            call.reply(results);
        } finally {
            arguments.close();
        }
    }

    private static void many(ITrees object, InCall call) {
        GraphReader arguments = GraphReader.of(call, 56, KINDS);
        try {
            switch (arguments.getInt(0)) {
                case 1 -> {}
                case 2 -> {
                    for (int i0 = 0; i0 < 2; i0++) {
                        int at0 = 8 + i0 * 24;
                        arguments.checkBoolean(at0 + 4);
                        arguments.checkText16(at0 + 8, GraphReader.UNIQUE);
                        arguments.checkOne(at0 + 16, ItemType.TYPE, GraphReader.UNIQUE);
                    }
                }
                case 3 -> {
                    arguments.checkReference(8, ITreesInfo.INFO);
                }
                default -> throw arguments.bad(8, "the union has no arm for its discriminant");
            }
            arguments.verify();
            arguments.resolve(call);
            Frame frame = arguments.frame();
            Several given = SeveralType.TYPE.view(frame, 0);
            Several back = object.many(given);
            Objects.requireNonNull(back, "back");
            GraphWriter results = GraphWriter.of(KINDS, 56);
            results.inner(0, SeveralType.TYPE, back);
            call.reply(results);
        } finally {
            arguments.close();
        }
    }

    private static void chain(ITrees object, InCall call) {
        GraphReader arguments = GraphReader.of(call, 16, KINDS);
        try {
            arguments.checkOne(0, ChunkType.TYPE, GraphReader.UNIQUE);
            arguments.checkOne(8, ChunkType.TYPE, GraphReader.UNIQUE);
            arguments.verify();
            Frame frame = arguments.frame();
            Chunk first = frame.place(0) == 0 ? null : new Chunk.View(frame, frame.place(0));
            Chunk second = frame.place(8) == 0 ? null : new Chunk.View(frame, frame.place(8));
            Chunk joined = object.chain(first, second);
            GraphWriter results = GraphWriter.of(KINDS, 8);
            results.one(0, ChunkType.TYPE, joined);
            call.reply(results);
        } finally {
            arguments.close();
        }
    }

    private static void probe(ITrees object, InCall call) {
        GraphReader arguments = GraphReader.of(call, 72, KINDS);
        try {
            arguments.checkOne(8, ItemType.TYPE, GraphReader.UNIQUE);
            arguments.checkMany(16 + 8, GraphType.DOUBLE, GraphReader.UNIQUE, Integer.toUnsignedLong(arguments.getInt(16)));
            arguments.checkMany(16 + 16, GraphType.BYTE, GraphReader.UNIQUE, Integer.toUnsignedLong(arguments.getInt(16)));
            arguments.checkMany(16 + 32, GraphType.SHORT, GraphReader.UNIQUE, arguments.value(16, () -> Math.addExact(Math.multiplyExact(Short.toUnsignedLong(arguments.getShort(16 + 24)), Short.toUnsignedLong(arguments.getShort(16 + 26))), 1L)));
            arguments.checkRange(16 + 40, arguments.getInt(16 + 40), 0L, 8L);
            arguments.checkMany(16 + 48, GraphType.LONG, GraphReader.REF, arguments.getInt(16 + 40), 8);
            arguments.verify();
            Frame frame = arguments.frame();
            int what = arguments.getInt(0);
            Item list = frame.place(8) == 0 ? null : new Item.View(frame, frame.place(8));
            Samples samples = new Samples.View(frame, 16);
            long answer = object.probe(what, list, samples);
            call.reply(8);
            call.replyMemory.set(Flat.LONG, call.replyAt, answer);
        } finally {
            arguments.close();
        }
    }

    private static void weigh(ITrees object, InCall call) {
        GraphReader arguments = GraphReader.of(call, 40, KINDS);
        try {
            long which_8 = arguments.getLong(0);
            if (which_8 == 1L) {
                // Nothing to look at.
            } else if (which_8 == 5000000000L || which_8 == 5000000001L) {
                arguments.checkOne(8, ItemType.TYPE, GraphReader.UNIQUE);
            } else if (which_8 == -7L) {
                // Nothing to look at.
            } else {
                arguments.checkText16(8, GraphReader.UNIQUE);
            }
            switch (arguments.which(24, arguments.value(0, () -> Math.addExact(Math.multiplyExact((long) arguments.getShort(16), 2L), Byte.toUnsignedLong(arguments.getByte(18)))), -2147483648L, 2147483647L)) {
                case 1 -> {}
                case 2 -> {}
                case 3 -> {
                    arguments.checkText16(24, GraphReader.UNIQUE);
                }
                case 4 -> {
                    arguments.checkOne(24, ItemType.TYPE, GraphReader.UNIQUE);
                }
                case 5, 6 -> {
                    switch (arguments.getInt(24)) {
                        case 0, 5, 6 -> {}
                        default -> throw arguments.badEnum(24);
                    }
                }
                default -> {}
            }
            switch (arguments.which(32, arguments.value(0, () -> Frames.remainder(arguments.getLong(0), 8L)), -2147483648L, 2147483647L)) {
                case 1 -> {}
                case 2 -> {}
                case 3 -> {
                    arguments.checkText16(32, GraphReader.UNIQUE);
                }
                case 4 -> {
                    arguments.checkOne(32, ItemType.TYPE, GraphReader.UNIQUE);
                }
                case 5, 6 -> {
                    switch (arguments.getInt(32)) {
                        case 0, 5, 6 -> {}
                        default -> throw arguments.badEnum(32);
                    }
                }
                default -> {}
            }
            arguments.verify();
            Frame frame = arguments.frame();
            Weighed given = new Weighed.View(frame, 0);
            Weighed back = object.weigh(given);
            Objects.requireNonNull(back, "back");
            GraphWriter results = GraphWriter.of(KINDS, 40);
            results.inner(0, WeighedType.TYPE, back);
            call.reply(results);
        } finally {
            arguments.close();
        }
    }

    private static void scale(ITrees object, InCall call) {
        GraphReader arguments = GraphReader.of(call, 64, KINDS);
        try {
            long which_8 = arguments.getLong(0);
            if (which_8 == 1L) {
                // Nothing to look at.
            } else if (which_8 == 5000000000L || which_8 == 5000000001L) {
                arguments.checkOne(8, ItemType.TYPE, GraphReader.UNIQUE);
            } else if (which_8 == -7L) {
                // Nothing to look at.
            } else {
                arguments.checkText16(8, GraphReader.UNIQUE);
            }
            switch (arguments.which(24, arguments.getLong(16), -2147483648L, 2147483647L)) {
                case 1 -> {}
                case 2 -> {}
                case 3 -> {
                    arguments.checkText16(24, GraphReader.UNIQUE);
                }
                case 4 -> {
                    arguments.checkOne(24, ItemType.TYPE, GraphReader.UNIQUE);
                }
                case 5, 6 -> {
                    switch (arguments.getInt(24)) {
                        case 0, 5, 6 -> {}
                        default -> throw arguments.badEnum(24);
                    }
                }
                default -> {}
            }
            long which_40 = arguments.value(32, () -> Frames.unsigned(arguments.getLong(32)));
            if (which_40 == 1L) {
                arguments.checkBoolean(32 + 12);
                arguments.checkText16(32 + 16, GraphReader.UNIQUE);
                arguments.checkOne(32 + 24, ItemType.TYPE, GraphReader.UNIQUE);
            }
            arguments.verify();
            Frame frame = arguments.frame();
            long kind = arguments.getLong(0);
            Big big = BigType.view(frame, 8, arguments.getLong(0));
            long which = arguments.getLong(16);
            Any any = AnyType.view(frame, 24, (int) arguments.getLong(16));
            Huge huge = HugeType.TYPE.view(frame, 32);
            ITrees.ScaleResult outcome = object.scale(kind, big, which, any, huge);
            Objects.requireNonNull(outcome.huge(), "huge");
            Objects.requireNonNull(outcome.bigger(), "bigger");
            Objects.requireNonNull(outcome.other(), "other");
            Frames.checkCase(outcome.bigger().which(), outcome.next());
            Frames.checkCase(outcome.other().which(), () -> Math.addExact(Frames.remainder(outcome.next(), 8L), which));
            GraphWriter results = GraphWriter.of(KINDS, 56);
            results.inner(0, HugeType.TYPE, outcome.huge());
            results.putLong(32, outcome.next());
            BigType.put(results, outcome.bigger(), 40);
            AnyType.put(results, outcome.other(), 48);
            call.reply(results);
        } finally {
            arguments.close();
        }
    }

    /** Stands for an object of another process. */
    static final class ITreesProxy extends Proxy implements ITrees {
        ITreesProxy(Reference reference) {
            super(reference);
        }

        @Override
        public SumResult sum(Item list) {
            GraphWriter arguments = GraphWriter.of(KINDS, 8);
            arguments.one(0, ItemType.TYPE, list);
            Channel call = begin(arguments);
            call(call, 3, call.length);
            try {
                FrameReader results = new FrameReader(call, 16);
                long sum = results.getLong(0);
                String names = results.wide(8);
                results.end();
                return new SumResult(sum, names);
            } finally {
                call.end();
            }
        }

        @Override
        public Item range(int first, int count) {
            Channel call = begin(8);
            call.memory.set(Flat.INT, call.at, first);
            call.memory.set(Flat.INT, call.at + 4, count);
            call(call, 4, 8);
            GraphReader results = GraphReader.of(call, 8, KINDS);
            try {
                results.checkOne(0, ItemType.TYPE, GraphReader.UNIQUE);
                results.verify();
                results.build();
                Item list = (Item) results.one(0);
                return list;
            } finally {
                call.end();
                results.close();
            }
        }

        @Override
        public Item reverse(Item list) {
            GraphWriter arguments = GraphWriter.of(KINDS, 8);
            arguments.one(0, ItemType.TYPE, list);
            Channel call = begin(arguments);
            call(call, 5, call.length);
            GraphReader results = GraphReader.of(call, 8, KINDS);
            try {
                results.checkOne(0, ItemType.TYPE, GraphReader.UNIQUE);
                results.verify();
                results.build();
                Item listResult = (Item) results.one(0);
                return listResult;
            } finally {
                call.end();
                results.close();
            }
        }

        @Override
        public Item bump(Item item, int by) {
            Objects.requireNonNull(item, "item");
            GraphWriter arguments = GraphWriter.of(KINDS, 32);
            arguments.putInt(0, by);
            arguments.inner(8, ItemType.TYPE, item);
            Channel call = begin(arguments);
            call(call, 6, call.length);
            GraphReader results = GraphReader.of(call, 24, KINDS);
            try {
                results.checkBoolean(4);
                results.checkText16(8, GraphReader.UNIQUE);
                results.checkOne(16, ItemType.TYPE, GraphReader.UNIQUE);
                results.verify();
                results.build();
                Item itemResult = ItemType.TYPE.build(results, 0);
                return itemResult;
            } finally {
                call.end();
                results.close();
            }
        }

        @Override
        public Tree insert(Tree tree, long key) {
            Objects.requireNonNull(tree, "tree");
            GraphWriter arguments = GraphWriter.of(KINDS, 32);
            arguments.inner(0, TreeType.TYPE, tree);
            arguments.putLong(24, key);
            Channel call = begin(arguments);
            call(call, 7, call.length);
            GraphReader results = GraphReader.of(call, 8, KINDS);
            try {
                results.checkOne(0, TreeType.TYPE, GraphReader.UNIQUE);
                results.verify();
                results.build();
                Tree grown = (Tree) results.one(0);
                return grown;
            } finally {
                call.end();
                results.close();
            }
        }

        @Override
        public double average(Samples samples) {
            Objects.requireNonNull(samples, "samples");
            GraphWriter arguments = GraphWriter.of(KINDS, 56);
            arguments.inner(0, SamplesType.TYPE, samples);
            Channel call = begin(arguments);
            call(call, 8, call.length);
            call.expect(8);
            double average = call.replyMemory.get(Flat.DOUBLE, call.replyAt);
            call.end();
            return average;
        }

        @Override
        public Samples sampled(int count) {
            Channel call = begin(8);
            call.memory.set(Flat.INT, call.at, count);
            call.memory.set(Flat.INT, call.at + 4, 0);
            call(call, 9, 8);
            GraphReader results = GraphReader.of(call, 56, KINDS);
            try {
                results.checkMany(8, GraphType.DOUBLE, GraphReader.UNIQUE, Integer.toUnsignedLong(results.getInt(0)));
                results.checkMany(16, GraphType.BYTE, GraphReader.UNIQUE, Integer.toUnsignedLong(results.getInt(0)));
                results.checkMany(32, GraphType.SHORT, GraphReader.UNIQUE, results.value(0, () -> Math.addExact(Math.multiplyExact(Short.toUnsignedLong(results.getShort(24)), Short.toUnsignedLong(results.getShort(26))), 1L)));
                results.checkRange(40, results.getInt(40), 0L, 8L);
                results.checkMany(48, GraphType.LONG, GraphReader.REF, results.getInt(40), 8);
                results.verify();
                results.build();
                Samples samples = SamplesType.TYPE.build(results, 0);
                return samples;
            } finally {
                call.end();
                results.close();
            }
        }

        @Override
        public Holder hold(Holder in) {
            Objects.requireNonNull(in, "in");
            GraphWriter arguments = GraphWriter.of(KINDS, 152);
            arguments.inner(0, HolderType.TYPE, in);
            Channel call = begin(arguments);
            call(call, 10, call.length);
            GraphReader results = GraphReader.of(call, 8, KINDS);
            try {
                results.checkOne(0, HolderType.TYPE, GraphReader.UNIQUE);
                results.verify();
                results.build();
                Holder out = (Holder) results.one(0);
                return out;
            } finally {
                call.end();
                results.close();
            }
        }

        @Override
        public AllResult all(List<Item> items, int[] xs, Point[] ps, Point maybe, String text) {
            Objects.requireNonNull(items, "items");
            Frames.checkLength(ps.length, xs.length);
            Objects.requireNonNull(text, "text");
            GraphWriter arguments = GraphWriter.of(KINDS, 56);
            arguments.putInt(0, Frames.length(items));
            arguments.list(8, ItemType.TYPE, items);
            arguments.putInt(16, xs.length);
            arguments.array(24, GraphType.LONG, Ints.of(xs));
            arguments.list(32, PointType.TYPE, List.of(ps));
            arguments.one(40, PointType.TYPE, maybe);
            arguments.text8(48, text);
            Channel call = begin(arguments);
            call(call, 11, call.length);
            GraphReader results = GraphReader.of(call, 32, KINDS);
            try {
                results.checkMany(8, ItemType.TYPE, GraphReader.UNIQUE, Integer.toUnsignedLong(results.getInt(0)));
                results.checkMany(24, GraphType.LONG, GraphReader.UNIQUE, Integer.toUnsignedLong(results.getInt(16)));
                results.verify();
                results.build();
                List<Item> back = results.list(8);
                int[] ys = Frames.array(results.frame().ints(24));
                return new AllResult(back, ys);
            } finally {
                call.end();
                results.close();
            }
        }

        @Override
        public void note(Item list) {
            GraphWriter arguments = GraphWriter.of(KINDS, 8);
            arguments.one(0, ItemType.TYPE, list);
            Channel call = begin(arguments);
            oneway(call, 12, call.length);
        }

        @Override
        public int noted() {
            Channel call = begin(0);
            call(call, 13, 0);
            call.expect(8);
            int values = call.replyMemory.get(Flat.INT, call.replyAt);
            call.end();
            return values;
        }

        @Override
        public Node ring(int count) {
            Channel call = begin(8);
            call.memory.set(Flat.INT, call.at, count);
            call.memory.set(Flat.INT, call.at + 4, 0);
            call(call, 14, 8);
            GraphReader results = GraphReader.of(call, 8, KINDS);
            try {
                results.checkOne(0, NodeType.TYPE, GraphReader.FULL);
                results.verify();
                results.build();
                Node ring = (Node) results.one(0);
                return ring;
            } finally {
                call.end();
                results.close();
            }
        }

        @Override
        public int walk(Node start, int steps) {
            GraphWriter arguments = GraphWriter.of(KINDS, 16);
            arguments.shared(0, NodeType.TYPE, start);
            arguments.putInt(8, steps);
            Channel call = begin(arguments);
            call(call, 15, call.length);
            call.expect(8);
            int number = call.replyMemory.get(Flat.INT, call.replyAt);
            call.end();
            return number;
        }

        @Override
        public boolean shared(Node a, Node b) {
            GraphWriter arguments = GraphWriter.of(KINDS, 16);
            arguments.shared(0, NodeType.TYPE, a);
            arguments.shared(8, NodeType.TYPE, b);
            Channel call = begin(arguments);
            call(call, 16, call.length);
            try {
                FrameReader results = new FrameReader(call, 8);
                boolean same = results.getBoolean(0);
                results.end();
                return same;
            } finally {
                call.end();
            }
        }

        @Override
        public int alone(Node start) {
            GraphWriter arguments = GraphWriter.of(KINDS, 8);
            arguments.one(0, NodeType.TYPE, start);
            Channel call = begin(arguments);
            call(call, 17, call.length);
            call.expect(8);
            int number = call.replyMemory.get(Flat.INT, call.replyAt);
            call.end();
            return number;
        }

        @Override
        public Node turn(Node ring) {
            GraphWriter arguments = GraphWriter.of(KINDS, 8);
            arguments.shared(0, NodeType.TYPE, ring);
            Channel call = begin(arguments);
            call(call, 18, call.length);
            GraphReader results = GraphReader.of(call, 8, KINDS);
            try {
                results.checkOne(0, NodeType.TYPE, GraphReader.FULL);
                results.verify();
                results.build();
                Node ringResult = (Node) results.one(0);
                return ringResult;
            } finally {
                call.end();
                results.close();
            }
        }

        @Override
        public String describe(int kind, Any value) {
            Objects.requireNonNull(value, "value");
            Frames.checkCase(value.which(), kind);
            GraphWriter arguments = GraphWriter.of(KINDS, 16);
            arguments.putInt(0, kind);
            AnyType.put(arguments, value, 8);
            Channel call = begin(arguments);
            call(call, 19, call.length);
            try {
                FrameReader results = new FrameReader(call, 8);
                String text = results.wide(0);
                results.end();
                return text;
            } finally {
                call.end();
            }
        }

        @Override
        public Any become(int kind) {
            Channel call = begin(8);
            call.memory.set(Flat.INT, call.at, kind);
            call.memory.set(Flat.INT, call.at + 4, 0);
            call(call, 20, 8);
            GraphReader results = GraphReader.of(call, 8, KINDS);
            try {
                switch (kind) {
                    case 1 -> {}
                    case 2 -> {}
                    case 3 -> {
                        results.checkText16(0, GraphReader.UNIQUE);
                    }
                    case 4 -> {
                        results.checkOne(0, ItemType.TYPE, GraphReader.UNIQUE);
                    }
                    case 5, 6 -> {
                        switch (results.getInt(0)) {
                            case 0, 5, 6 -> {}
                            default -> throw results.badEnum(0);
                        }
                    }
                    default -> {}
                }
                results.verify();
                results.build();
                Any value = AnyType.build(results, 0, kind);
                return value;
            } finally {
                call.end();
                results.close();
            }
        }

        @Override
        public long choose(Choice choice) {
            Objects.requireNonNull(choice, "choice");
            GraphWriter arguments = GraphWriter.of(KINDS, 32);
            arguments.inner(0, ChoiceType.TYPE, choice);
            Channel call = begin(arguments);
            call(call, 21, call.length);
            call.expect(8);
            long sum = call.replyMemory.get(Flat.LONG, call.replyAt);
            call.end();
            return sum;
        }

        @Override
        public Box flip(Box box) {
            Objects.requireNonNull(box, "box");
            GraphWriter arguments = GraphWriter.of(KINDS, 144);
            arguments.inner(0, BoxType.TYPE, box);
            Channel call = begin(arguments);
            call(call, 22, call.length);
            GraphReader results = GraphReader.of(call, 144, KINDS);
            try {
                switch (results.getInt(0)) {
                    case 0, 5, 6 -> {}
                    default -> throw results.badEnum(0);
                }
                for (int i0 = 0; i0 < 2; i0++) {
                    int at0 = 8 + i0 * 24;
                    results.checkBoolean(at0 + 4);
                    results.checkText16(at0 + 8, GraphReader.UNIQUE);
                    results.checkOne(at0 + 16, ItemType.TYPE, GraphReader.UNIQUE);
                }
                for (int i0 = 0; i0 < 3; i0++) {
                    int at0 = 56 + i0 * 8;
                    results.checkOne(at0, TreeType.TYPE, GraphReader.UNIQUE);
                }
                switch (results.getInt(80)) {
                    case 0 -> {}
                    case 5 -> {
                        results.checkOne(80 + 16, TreeType.TYPE, GraphReader.UNIQUE);
                        results.checkOne(80 + 24, TreeType.TYPE, GraphReader.UNIQUE);
                    }
                    case 6 -> {}
                    default -> throw results.bad(80 + 8, "the union has no arm for its discriminant");
                }
                results.checkRange(112, results.getInt(112), 1L, 9L);
                results.checkMany(120, ChoiceType.TYPE, GraphReader.UNIQUE, Short.toUnsignedLong(results.getShort(116)));
                results.checkMany(128, GraphType.TEXT8.pointer(GraphReader.UNIQUE), GraphReader.UNIQUE, Short.toUnsignedLong(results.getShort(116)));
                results.checkMany(136, NodeType.TYPE.pointer(GraphReader.FULL), GraphReader.UNIQUE, Short.toUnsignedLong(results.getShort(116)));
                results.verify();
                results.build();
                Box flipped = BoxType.TYPE.build(results, 0);
                return flipped;
            } finally {
                call.end();
                results.close();
            }
        }

        @Override
        public void put(List<Entry> entries) {
            Objects.requireNonNull(entries, "entries");
            GraphWriter arguments = GraphWriter.of(KINDS, 16);
            arguments.putInt(0, Frames.length(entries));
            arguments.list(8, EntryType.TYPE, entries);
            Channel call = begin(arguments);
            call(call, 23, call.length);
            call.expect(0);
            call.end();
        }

        @Override
        public List<Entry> list() {
            Channel call = begin(0);
            call(call, 24, 0);
            GraphReader results = GraphReader.of(call, 16, KINDS);
            try {
                results.checkMany(8, EntryType.TYPE, GraphReader.UNIQUE, Integer.toUnsignedLong(results.getInt(0)));
                results.verify();
                results.build();
                List<Entry> entries = results.list(8);
                return entries;
            } finally {
                call.end();
                results.close();
            }
        }

        @Override
        public List<String> words(List<String> words) {
            Objects.requireNonNull(words, "words");
            GraphWriter arguments = GraphWriter.of(KINDS, 16);
            arguments.putInt(0, Frames.length(words));
            arguments.list(8, GraphType.TEXT16.pointer(GraphReader.UNIQUE), words);
            Channel call = begin(arguments);
            call(call, 25, call.length);
            GraphReader results = GraphReader.of(call, 16, KINDS);
            try {
                results.checkMany(8, GraphType.TEXT16.pointer(GraphReader.UNIQUE), GraphReader.UNIQUE, Integer.toUnsignedLong(results.getInt(0)));
                results.verify();
                results.build();
                List<String> upper = results.list(8);
                return upper;
            } finally {
                call.end();
                results.close();
            }
        }

        @Override
        public TellResult tell(Item list, ITrees to) {
            GraphWriter arguments = GraphWriter.of(KINDS, 16);
            arguments.one(0, ItemType.TYPE, list);
            arguments.reference(8, to, ITreesInfo.INFO);
            Channel call = begin(arguments);
            call(call, 26, call.length);
            GraphReader results = GraphReader.of(call, 16, KINDS);
            try {
                results.checkOne(0, ItemType.TYPE, GraphReader.UNIQUE);
                results.checkReference(8, ITreesInfo.INFO);
                results.verify();
                results.resolve(this);
                results.build();
                Item same = (Item) results.one(0);
                ITrees back = results.object(8);
                return new TellResult(same, back);
            } finally {
                call.end();
                results.close();
            }
        }

        @Override
        public MeetResult meet(Pair pair, ITrees last) {
            Objects.requireNonNull(pair, "pair");
            GraphWriter arguments = GraphWriter.of(KINDS, 32);
            arguments.inner(0, PairType.TYPE, pair);
            arguments.reference(24, last, ITreesInfo.INFO);
            Channel call = begin(arguments);
            call(call, 27, call.length);
            GraphReader results = GraphReader.of(call, 16, KINDS);
            try {
                results.checkReference(0, ITreesInfo.INFO);
                results.checkOne(8, PairType.TYPE, GraphReader.UNIQUE);
                results.verify();
                results.resolve(this);
                results.build();
                ITrees lastResult = results.object(0);
                Pair turned = (Pair) results.one(8);
                return new MeetResult(lastResult, turned);
            } finally {
                call.end();
                results.close();
            }
        }

        @Override
        public Crowd gather(Crowd crowd) {
            Objects.requireNonNull(crowd, "crowd");
            GraphWriter arguments = GraphWriter.of(KINDS, 56);
            arguments.inner(0, CrowdType.TYPE, crowd);
            Channel call = begin(arguments);
            call(call, 28, call.length);
            GraphReader results = GraphReader.of(call, 56, KINDS);
            try {
                results.checkMany(8, GraphType.object(ITrees.class), GraphReader.UNIQUE, Integer.toUnsignedLong(results.getInt(0)));
                for (int i0 = 0; i0 < 2; i0++) {
                    int at0 = 16 + i0 * 8;
                    results.checkReference(at0, ITreesInfo.INFO);
                }
                results.checkReference(48, results.getGuid(32));
                results.verify();
                results.resolve(this);
                results.build();
                Crowd turned = CrowdType.TYPE.build(results, 0);
                return turned;
            } finally {
                call.end();
                results.close();
            }
        }

        @Override
        public StoreResult store(Row row, Digits digits) {
            Objects.requireNonNull(row, "row");
            GraphWriter arguments = GraphWriter.of(KINDS, 16);
            arguments.one(0, RowType.TYPE, row);
            arguments.one(8, DigitsType.TYPE, digits);
            Channel call = begin(arguments);
            call(call, 29, call.length);
            GraphReader results = GraphReader.of(call, 16, KINDS);
            try {
                results.checkOne(0, RowType.TYPE, GraphReader.UNIQUE);
                results.checkOne(8, DigitsType.TYPE, GraphReader.UNIQUE);
                results.verify();
                results.build();
                Row stored = (Row) results.one(0);
                Digits twice = (Digits) results.one(8);
                return new StoreResult(stored, twice);
            } finally {
                call.end();
                results.close();
            }
        }

        @Override
        public List<Item> sort(List<Item> items) {
            Objects.requireNonNull(items, "items");
            GraphWriter arguments = GraphWriter.of(KINDS, 16);
            arguments.putInt(0, Frames.length(items));
            arguments.list(8, ItemType.TYPE, items);
            Channel call = begin(arguments);
            call(call, 30, call.length);
            GraphReader results = GraphReader.of(call, 8, KINDS);
            try {
                results.checkMany(0, ItemType.TYPE, GraphReader.REF, Frames.length(items));
                results.verify();
                results.build();
                List<Item> itemsResult = results.list(0);
                return itemsResult;
            } finally {
                call.end();
                results.close();
            }
        }

        @Override
        public PartResult part(int room, int used, List<Item> items) {
            Objects.requireNonNull(items, "items");
            Frames.checkLength(items.size(), Frames.count(used));
            Frames.checkRange(items.size(), 0, Frames.count(room));
            GraphWriter arguments = GraphWriter.of(KINDS, 16);
            arguments.putInt(0, room);
            arguments.putInt(4, used);
            arguments.list(8, ItemType.TYPE, items);
            Channel call = begin(arguments);
            call(call, 31, call.length);
            GraphReader results = GraphReader.of(call, 16, KINDS);
            try {
                results.checkMany(8, ItemType.TYPE, GraphReader.REF, results.getInt(0), room);
                results.verify();
                results.build();
                int usedResult = results.getInt(0);
                List<Item> itemsResult = results.list(8);
                return new PartResult(usedResult, itemsResult);
            } finally {
                call.end();
                results.close();
            }
        }

        @Override
        public SomeResult some(int room) {
            Frames.count(Integer.toUnsignedLong(room));
            Channel call = begin(8);
            call.memory.set(Flat.INT, call.at, room);
            call.memory.set(Flat.INT, call.at + 4, 0);
            call(call, 32, 8);
            GraphReader results = GraphReader.of(call, 16, KINDS);
            try {
                results.checkMany(0, EntryType.TYPE, GraphReader.REF, Integer.toUnsignedLong(results.getInt(8)), Integer.toUnsignedLong(room));
                results.verify();
                results.build();
                List<Entry> entries = results.list(0);
                int got = results.getInt(8);
                return new SomeResult(entries, got);
            } finally {
                call.end();
                results.close();
            }
        }

        @Override
        public Any change(int kind, Any value) {
            Objects.requireNonNull(value, "value");
            Frames.checkCase(value.which(), kind);
            GraphWriter arguments = GraphWriter.of(KINDS, 16);
            arguments.putInt(0, kind);
            AnyType.put(arguments, value, 8);
            Channel call = begin(arguments);
            call(call, 33, call.length);
            GraphReader results = GraphReader.of(call, 8, KINDS);
            try {
                switch (kind) {
                    case 1 -> {}
                    case 2 -> {}
                    case 3 -> {
                        results.checkText16(0, GraphReader.UNIQUE);
                    }
                    case 4 -> {
                        results.checkOne(0, ItemType.TYPE, GraphReader.UNIQUE);
                    }
                    case 5, 6 -> {
                        switch (results.getInt(0)) {
                            case 0, 5, 6 -> {}
                            default -> throw results.badEnum(0);
                        }
                    }
                    default -> {}
                }
                results.verify();
                results.build();
                Any valueResult = AnyType.build(results, 0, kind);
                return valueResult;
            } finally {
                call.end();
                results.close();
            }
        }

        @Override
        public Several many(Several given) {
            Objects.requireNonNull(given, "given");
            GraphWriter arguments = GraphWriter.of(KINDS, 56);
            arguments.inner(0, SeveralType.TYPE, given);
            Channel call = begin(arguments);
            call(call, 34, call.length);
            GraphReader results = GraphReader.of(call, 56, KINDS);
            try {
                switch (results.getInt(0)) {
                    case 1 -> {}
                    case 2 -> {
                        for (int i0 = 0; i0 < 2; i0++) {
                            int at0 = 8 + i0 * 24;
                            results.checkBoolean(at0 + 4);
                            results.checkText16(at0 + 8, GraphReader.UNIQUE);
                            results.checkOne(at0 + 16, ItemType.TYPE, GraphReader.UNIQUE);
                        }
                    }
                    case 3 -> {
                        results.checkReference(8, ITreesInfo.INFO);
                    }
                    default -> throw results.bad(8, "the union has no arm for its discriminant");
                }
                results.verify();
                results.resolve(this);
                results.build();
                Several back = SeveralType.TYPE.build(results, 0);
                return back;
            } finally {
                call.end();
                results.close();
            }
        }

        @Override
        public Chunk chain(Chunk first, Chunk second) {
            GraphWriter arguments = GraphWriter.of(KINDS, 16);
            arguments.one(0, ChunkType.TYPE, first);
            arguments.one(8, ChunkType.TYPE, second);
            Channel call = begin(arguments);
            call(call, 35, call.length);
            GraphReader results = GraphReader.of(call, 8, KINDS);
            try {
                results.checkOne(0, ChunkType.TYPE, GraphReader.UNIQUE);
                results.verify();
                results.build();
                Chunk joined = (Chunk) results.one(0);
                return joined;
            } finally {
                call.end();
                results.close();
            }
        }

        @Override
        public long probe(int what, Item list, Samples samples) {
            Objects.requireNonNull(samples, "samples");
            GraphWriter arguments = GraphWriter.of(KINDS, 72);
            arguments.putInt(0, what);
            arguments.one(8, ItemType.TYPE, list);
            arguments.inner(16, SamplesType.TYPE, samples);
            Channel call = begin(arguments);
            call(call, 36, call.length);
            call.expect(8);
            long answer = call.replyMemory.get(Flat.LONG, call.replyAt);
            call.end();
            return answer;
        }

        @Override
        public Weighed weigh(Weighed given) {
            Objects.requireNonNull(given, "given");
            GraphWriter arguments = GraphWriter.of(KINDS, 40);
            arguments.inner(0, WeighedType.TYPE, given);
            Channel call = begin(arguments);
            call(call, 37, call.length);
            GraphReader results = GraphReader.of(call, 40, KINDS);
            try {
                long which_8 = results.getLong(0);
                if (which_8 == 1L) {
                    // Nothing to look at.
                } else if (which_8 == 5000000000L || which_8 == 5000000001L) {
                    results.checkOne(8, ItemType.TYPE, GraphReader.UNIQUE);
                } else if (which_8 == -7L) {
                    // Nothing to look at.
                } else {
                    results.checkText16(8, GraphReader.UNIQUE);
                }
                switch (results.which(24, results.value(0, () -> Math.addExact(Math.multiplyExact((long) results.getShort(16), 2L), Byte.toUnsignedLong(results.getByte(18)))), -2147483648L, 2147483647L)) {
                    case 1 -> {}
                    case 2 -> {}
                    case 3 -> {
                        results.checkText16(24, GraphReader.UNIQUE);
                    }
                    case 4 -> {
                        results.checkOne(24, ItemType.TYPE, GraphReader.UNIQUE);
                    }
                    case 5, 6 -> {
                        switch (results.getInt(24)) {
                            case 0, 5, 6 -> {}
                            default -> throw results.badEnum(24);
                        }
                    }
                    default -> {}
                }
                switch (results.which(32, results.value(0, () -> Frames.remainder(results.getLong(0), 8L)), -2147483648L, 2147483647L)) {
                    case 1 -> {}
                    case 2 -> {}
                    case 3 -> {
                        results.checkText16(32, GraphReader.UNIQUE);
                    }
                    case 4 -> {
                        results.checkOne(32, ItemType.TYPE, GraphReader.UNIQUE);
                    }
                    case 5, 6 -> {
                        switch (results.getInt(32)) {
                            case 0, 5, 6 -> {}
                            default -> throw results.badEnum(32);
                        }
                    }
                    default -> {}
                }
                results.verify();
                results.build();
                Weighed back = WeighedType.TYPE.build(results, 0);
                return back;
            } finally {
                call.end();
                results.close();
            }
        }

        @Override
        public ScaleResult scale(long kind, Big big, long which, Any any, Huge huge) {
            Objects.requireNonNull(big, "big");
            Objects.requireNonNull(any, "any");
            Objects.requireNonNull(huge, "huge");
            Frames.checkCase(big.which(), kind);
            Frames.checkCase(any.which(), which);
            GraphWriter arguments = GraphWriter.of(KINDS, 64);
            arguments.putLong(0, kind);
            BigType.put(arguments, big, 8);
            arguments.putLong(16, which);
            AnyType.put(arguments, any, 24);
            arguments.inner(32, HugeType.TYPE, huge);
            Channel call = begin(arguments);
            call(call, 38, call.length);
            GraphReader results = GraphReader.of(call, 56, KINDS);
            try {
                long which_8 = results.value(0, () -> Frames.unsigned(results.getLong(0)));
                if (which_8 == 1L) {
                    results.checkBoolean(8 + 4);
                    results.checkText16(8 + 8, GraphReader.UNIQUE);
                    results.checkOne(8 + 16, ItemType.TYPE, GraphReader.UNIQUE);
                }
                long which_40 = results.getLong(32);
                if (which_40 == 1L) {
                    // Nothing to look at.
                } else if (which_40 == 5000000000L || which_40 == 5000000001L) {
                    results.checkOne(40, ItemType.TYPE, GraphReader.UNIQUE);
                } else if (which_40 == -7L) {
                    // Nothing to look at.
                } else {
                    results.checkText16(40, GraphReader.UNIQUE);
                }
                switch (results.which(48, results.value(0, () -> Math.addExact(Frames.remainder(results.getLong(32), 8L), which)), -2147483648L, 2147483647L)) {
                    case 1 -> {}
                    case 2 -> {}
                    case 3 -> {
                        results.checkText16(48, GraphReader.UNIQUE);
                    }
                    case 4 -> {
                        results.checkOne(48, ItemType.TYPE, GraphReader.UNIQUE);
                    }
                    case 5, 6 -> {
                        switch (results.getInt(48)) {
                            case 0, 5, 6 -> {}
                            default -> throw results.badEnum(48);
                        }
                    }
                    default -> {}
                }
                results.verify();
                results.build();
                Huge hugeResult = HugeType.TYPE.build(results, 0);
                long next = results.getLong(32);
                Big bigger = BigType.build(results, 40, results.getLong(32));
                Any other = AnyType.build(results, 48, (int) Math.addExact(Frames.remainder(results.getLong(32), 8L), which));
                return new ScaleResult(next, bigger, other, hugeResult);
            } finally {
                call.end();
                results.close();
            }
        }
    }
}
