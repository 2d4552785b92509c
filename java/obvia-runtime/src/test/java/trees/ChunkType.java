// Made by obvia-idl 0.1.0 from trees.idl. Change the IDL, not this.
package trees;

import obvia.runtime.Frame;
import obvia.runtime.Frames;
import obvia.runtime.GraphReader;
import obvia.runtime.GraphType;
import obvia.runtime.GraphWriter;

/** {@link Chunk} as the runtime knows it. */
final class ChunkType extends GraphType {
    static final ChunkType TYPE = new ChunkType();

    private ChunkType() {
        super(80);
    }

    @Override
    protected void verify(GraphReader in, int at) {
        in.checkBoolean(at + 4);
        switch (in.getInt(at + 8)) {
            case 0, 5, 6 -> {}
            default -> throw in.badEnum(at + 8);
        }
        in.checkMany(at + 16, GraphType.BYTE, GraphReader.UNIQUE, Byte.toUnsignedLong(in.getByte(at + 5)));
        in.checkMany(at + 24, GraphType.BYTE, GraphReader.UNIQUE, Integer.toUnsignedLong(in.getInt(at + 12)));
        in.checkText8(at + 40, GraphReader.UNIQUE);
        in.checkMany(at + 64, GraphType.LONG, GraphReader.UNIQUE, in.getShort(at + 58));
        in.checkOne(at + 72, ChunkType.TYPE, GraphReader.UNIQUE);
    }

    @Override
    protected void write(GraphWriter out, Object value, int at) {
        Chunk of = (Chunk) value;
        int word = at >> 3;
        do {
            out.word(word, Frames.bits(of.part(), 0) | Frames.bits(of.marked(), 32) | Frames.bits((byte) Frames.length(of.data()), 40));
            out.word(word + 1, Frames.bits(of.color().value(), 0) | Frames.bits(Frames.length(of.rest()), 32));
            int end = out.array(word + 2, word + 10, GraphType.BYTE, of.data());
            end = out.array(word + 3, end, GraphType.BYTE, of.rest());
            out.word(word + 4, Frames.bits(of.whole(), 0));
            out.text8(8 * word + 40, of.name());
            out.word(word + 6, Frames.bits(of.beyond(), 0));
            out.word(word + 7, Frames.bits(of.mark(), 0) | Frames.bits((short) Frames.length(of.values()), 16));
            out.array(8 * word + 64, GraphType.LONG, of.values());
            of = of.next();
            word = out.last(word + 9, out.end(), TYPE, of);
        } while (word != 0);
    }

    @Override
    protected Chunk view(Frame frame, int at) {
        return new Chunk.View(frame, at);
    }

    @Override
    protected Chunk.Rec build(GraphReader in, int at) {
        return new Chunk.Rec(
            in.getFloat(at),
            in.getBoolean(at + 4),
            Color.of(in.getInt(at + 8)),
            in.bytes(at + 16),
            in.bytes(at + 24),
            in.getDouble(at + 32),
            in.text8(at + 40),
            in.getLong(at + 48),
            in.getChar(at + 56),
            in.ints(at + 64),
            (Chunk) in.one(at + 72));
    }
}
