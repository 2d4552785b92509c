// Made by obvia-idl 0.1.0 from trees.idl. Change the IDL, not this.
package trees;

import java.util.List;
import obvia.Remote;

/** {@code interface ITrees} */
public interface ITrees extends Remote {
    /**
     * {@code Sum}
     *
     * @param list may be {@code null}
     */
    SumResult sum(Item list);

    /**
     * What {@link #sum} returns.
     *
     * @param names may be {@code null}
     */
    record SumResult(long sum, String names) {}

    /**
     * {@code Range}
     *
     * @return may be {@code null}
     */
    Item range(int first, int count);

    /**
     * {@code Reverse}
     *
     * @param list may be {@code null}
     * @return may be {@code null}
     */
    Item reverse(Item list);

    /** {@code Bump} */
    Item bump(Item item, int by);

    /**
     * {@code Insert}
     *
     * @return may be {@code null}
     */
    Tree insert(Tree tree, long key);

    /** {@code Average} */
    double average(Samples samples);

    /**
     * {@code Sampled}
     *
     * @param count an unsigned long
     */
    Samples sampled(int count);

    /**
     * {@code Hold}
     *
     * @return may be {@code null}
     */
    Holder hold(Holder in);

    /**
     * {@code All}
     *
     * @param maybe may be {@code null}
     */
    AllResult all(List<Item> items, int[] xs, Point[] ps, Point maybe, String text);

    /**
     * What {@link #all} returns.
     *
     * @param back may be {@code null}
     */
    record AllResult(List<Item> back, int[] ys) {}

    /**
     * {@code Note}
     *
     * @param list may be {@code null}
     */
    void note(Item list);

    /** {@code Noted} */
    int noted();

    /**
     * {@code Ring}
     *
     * @return may be {@code null}
     */
    Node ring(int count);

    /**
     * {@code Walk}
     *
     * @param start may be {@code null}
     */
    int walk(Node start, int steps);

    /**
     * {@code Shared}
     *
     * @param a may be {@code null}
     * @param b may be {@code null}
     */
    boolean shared(Node a, Node b);

    /**
     * {@code Alone}
     *
     * @param start may be {@code null}
     */
    int alone(Node start);

    /**
     * {@code Turn}
     *
     * @param ring may be {@code null}
     * @return may be {@code null}
     */
    Node turn(Node ring);

    /**
     * {@code Describe}
     *
     * @return may be {@code null}
     */
    String describe(int kind, Any value);

    /** {@code Become} */
    Any become(int kind);

    /** {@code Choose} */
    long choose(Choice choice);

    /** {@code Flip} */
    Box flip(Box box);

    /** {@code Put} */
    void put(List<Entry> entries);

    /**
     * {@code List}
     *
     * @return may be {@code null}
     */
    List<Entry> list();

    /**
     * {@code Words}
     *
     * @return may be {@code null}
     */
    List<String> words(List<String> words);

    /**
     * {@code Tell}
     *
     * @param list may be {@code null}
     * @param to may be {@code null}
     */
    TellResult tell(Item list, ITrees to);

    /**
     * What {@link #tell} returns.
     *
     * @param same may be {@code null}
     * @param back may be {@code null}
     */
    record TellResult(Item same, ITrees back) {}

    /**
     * {@code Meet}
     *
     * @param last may be {@code null}
     */
    MeetResult meet(Pair pair, ITrees last);

    /**
     * What {@link #meet} returns.
     *
     * @param last may be {@code null}
     * @param turned may be {@code null}
     */
    record MeetResult(ITrees last, Pair turned) {}

    /** {@code Gather} */
    Crowd gather(Crowd crowd);

    /**
     * {@code Store}
     *
     * @param digits may be {@code null}
     */
    StoreResult store(Row row, Digits digits);

    /**
     * What {@link #store} returns.
     *
     * @param stored may be {@code null}
     * @param twice may be {@code null}
     */
    record StoreResult(Row stored, Digits twice) {}

    /** {@code Sort} */
    List<Item> sort(List<Item> items);

    /** {@code Part} */
    PartResult part(int room, int used, List<Item> items);

    /** What {@link #part} returns. */
    record PartResult(int used, List<Item> items) {}

    /**
     * {@code Some}
     *
     * @param room an unsigned long
     */
    SomeResult some(int room);

    /**
     * What {@link #some} returns.
     *
     * @param got an unsigned long
     */
    record SomeResult(List<Entry> entries, int got) {}

    /** {@code Change} */
    Any change(int kind, Any value);

    /** {@code Many} */
    Several many(Several given);

    /**
     * {@code Chain}
     *
     * @param first may be {@code null}
     * @param second may be {@code null}
     * @return may be {@code null}
     */
    Chunk chain(Chunk first, Chunk second);

    /**
     * {@code Probe}
     *
     * @param list may be {@code null}
     */
    long probe(int what, Item list, Samples samples);

    /** {@code Weigh} */
    Weighed weigh(Weighed given);

    /** {@code Scale} */
    ScaleResult scale(long kind, Big big, long which, Any any, Huge huge);

    /** What {@link #scale} returns. */
    record ScaleResult(long next, Big bigger, Any other, Huge huge) {}
}
