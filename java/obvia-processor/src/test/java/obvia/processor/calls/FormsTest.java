package obvia.processor.calls;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Arrays;
import java.util.List;
import obvia.Hresult;
import obvia.Obvia;
import obvia.Remote;
import obvia.RpcException;
import obvia.processor.calls.Forms.Account;
import obvia.processor.calls.Forms.Color;
import obvia.processor.calls.Forms.Elem;
import obvia.processor.calls.Forms.Node;
import obvia.processor.calls.Forms.Point;
import obvia.processor.calls.Forms.Savings;
import obvia.processor.calls.Forms.Seat;
import obvia.processor.calls.Forms.Shape;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class FormsTest {
    private static Peer peer;
    private static Forms there;

    @BeforeAll
    static void start() throws Exception {
        peer = new Peer();
        there = Obvia.bind(Forms.class, peer.name + "-forms");
    }

    @AfterAll
    static void stop() {
        peer.close();
    }

    @Test
    void recordsAreCopied() {
        Elem list = new Elem(1, new byte[] {1, 2}, new Elem(2, null, new Elem(3, new byte[5000], null)));
        Elem echo = there.echo(list);
        assertNotSame(list, echo);
        assertArrayEquals(list.data(), echo.data());
        assertNull(echo.next().data());
        assertArrayEquals(new byte[5000], echo.next().next().data());
        assertNull(echo.next().next().next());
        assertNull(there.echo(null));
        assertEquals(5008, there.sum(list));
        assertEquals(0, there.sum(null));
    }

    @Test
    void longListsNeedNoDeepStack() {
        Elem list = there.range(0, 200_000);
        assertEquals(200_000L * 199_999 / 2 + 200_000, there.sum(list));
    }

    @Test
    void arraysAndListsHoldEveryPassableType() {
        var names = there.names(Arrays.asList("a", null, "ü"), new int[][] {{1, 2}, null, {}}, 7, new FormsSubject());
        assertArrayEquals(new String[] {"a+null+ü", "[[1, 2], null, []]", "7", "Elem[i=5, data=null, next=null]"}, names);
        assertArrayEquals(new String[] {"", "[]", null, null}, there.names(List.of(), new int[0][], null, null));
        Point leaf = new Point(0.5, Color.GREEN, "leaf", false, List.of(), new String[] {"t", null}, 4, new long[100], 'z');
        Point root = new Point(-1, Color.RED, null, true, List.of(leaf, leaf), null, null, null, '\0');
        List<Point> all = there.points(List.of(root), new Point[] {leaf}, List.of(8, 9), new boolean[] {true, false});
        Point eight = new Point(8, Color.RED, null, true, null, null, 8, null, 'x');
        assertEquals(List.of(root, leaf, eight), all.subList(0, 3));
        assertEquals(101, there.boxed(true, new Integer[] {1, null}));
        assertNull(there.boxed(null, new Integer[0]));
        assertArrayEquals(new Color[] {Color.GREEN, Color.RED}, there.colors(List.of(Color.GREEN, Color.RED), leaf));
        assertEquals(
                Arrays.asList(List.of("a", "b"), null, List.of()),
                there.deep(Arrays.asList(new String[] {"a", "b"}, null, new String[0])));
    }

    @Test
    void nullIsRefusedWhereAValueIsRequired() {
        assertThrows(NullPointerException.class, () -> there.names(null, new int[0][], null, null));
        assertThrows(NullPointerException.class, () -> there.points(Arrays.asList((Point) null), new Point[0], List.of(), new boolean[0]));
        assertThrows(NullPointerException.class, () -> there.points(List.of(), new Point[0], Arrays.asList(1, null), new boolean[0]));
        assertEquals(Hresult.RPC_E_SERVERFAULT, assertThrows(RpcException.class, () -> there.colors(List.of(), null)).result(), "a result that is null");
        assertNull(there.echo(null), "it goes on");
    }

    @Test
    void graphsKeepSharedNodes() {
        Node node = new Node();
        Node other = new Node();
        node.value = 1;
        node.name("n");
        node.left = node.right = other;
        other.left = node;
        node.all = List.of(other, node, other);
        Node back = there.graph(node);
        assertEquals("ntruetruetrue", back.name());
        assertEquals("made here", back.cache, "a transient field stays as it is made");
        assertSame(back.left, back.right);
        assertSame(back, back.left.left);
        assertNull(back.all);
        assertNull(there.graph(null));
        Node[] reversed = there.graphs(new Node[] {node, null, other, node});
        assertSame(reversed[0], reversed[3]);
        assertSame(reversed[0].left, reversed[1]);
        assertNull(reversed[2]);
    }

    @Test
    void privateFieldsOfClassesArePassed() {
        Account account = new Account(30, Arrays.asList("x", null), "ann");
        assertEquals("30 [x, null] ann", there.account(account).toString());
        account.owner = "nobody";
        assertNull(there.account(account));
        var more = new Account(1, null, "bob") {};
        assertEquals(Hresult.E_INVALIDARG, assertThrows(RpcException.class, () -> there.account(more)).result(), "it would lose what it has more");
    }

    @Test
    void remoteObjectsArePassedAsMembers() {
        FormsSubject own = new FormsSubject();
        Seat seat = new Seat("a", own, Arrays.asList(null, own, there), new Remote[] {there, null}, new Seat("b", null, null, null, null));
        Seat back = there.sit(seat, own);
        assertEquals("a3", back.name());
        assertEquals(there, back.guest(), "the object itself");
        assertSame(own, back.others().get(0));
        assertSame(own, back.others().get(1));
        assertEquals(there, back.more()[0]);
        assertNull(back.more()[1]);
        assertEquals(Arrays.asList(null, own, there), back.next().others());
        assertNull(back.next().next().guest());
        Node node = new Node();
        node.friend = there;
        assertEquals(Arrays.asList(own, null, there, there), there.around(new Forms[] {own, null, there}, node));
    }

    @Test
    void inheritedFieldsArePassed() {
        Savings savings = new Savings();
        savings.rate = 2;
        savings.owner = "ann";
        savings.owned("bob");
        savings.count = 7;
        savings.bank = there;
        savings.hold(List.of(new Account(1, null, "x"), new Account(2, null, "y")));
        Savings back = there.savings(savings);
        assertEquals(4, back.rate);
        assertEquals("ann", back.owner);
        assertEquals("bob+ann+20", back.ownedBy());
        assertEquals("1 null x", back.held.toString());
        assertEquals("2 null y", back.all().get(1).toString());
        assertEquals(there, back.bank);
    }

    @Test
    void sealedTypesArePassedAsTheirSubtype() {
        Shape circle = new Shape.Circle(0.5);
        assertEquals(new Shape.Group("a circle", circle, null, there), there.shape(circle));
        assertEquals(new Shape.Nothing(), there.shape(null));
        assertNull(there.shape(new Shape.Nothing()));
        Shape group = new Shape.Group(null, new Shape.Group("x", null, List.of(), null), List.of(circle, new Shape.Nothing(), circle), there);
        assertEquals(group, there.shape(group));
        var drawn = new Shape.Drawn();
        drawn.hold(List.of("d"));
        var back = assertInstanceOf(Shape.Group.class, there.shape(drawn));
        assertEquals("d", back.name());
        assertEquals(List.of("d"), assertInstanceOf(Shape.Drawn.class, back.more().get(0)).all());
        assertEquals(List.of(group, circle, new Shape.Nothing(), circle), there.shapes(new Shape[] {group, circle, new Shape.Nothing()}, new Shape.Circle(0.5)));
        assertThrows(NullPointerException.class, () -> there.shapes(new Shape[1], null));
        Shape deep = circle;
        for (int at = 0; at < 100_000; at++) {
            deep = new Shape.Group(null, deep, null, null);
        }
        Shape left = there.shape(deep);
        while (left instanceof Shape.Group next) {
            left = next.first();
        }
        assertEquals(circle, left);
    }
}
