package obvia.processor.calls;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/** The exported object. */
final class FormsSubject implements Forms {
    @Override
    public Elem echo(Elem elem) {
        return elem;
    }

    @Override
    public long sum(Elem head) {
        long sum = 0;
        for (Elem elem = head; elem != null; elem = elem.next()) {
            sum += elem.i() + (elem.data() == null ? 0 : elem.data().length);
        }
        return sum;
    }

    @Override
    public Elem range(int first, int count) {
        Elem head = null;
        for (int at = count; at-- > 0; ) {
            head = new Elem(first + at, new byte[] {(byte) at}, head);
        }
        return head;
    }

    @Override
    public String[] names(List<String> names, int[][] rows, Integer maybe, Forms other) {
        String echoed = other == null ? null : other.echo(new Elem(5, null, null)).toString();
        return new String[] {String.join("+", names), Arrays.deepToString(rows), maybe == null ? null : maybe.toString(), echoed};
    }

    @Override
    public List<Point> points(List<Point> points, Point[] more, List<Integer> numbers, boolean[] flags) {
        List<Point> all = new ArrayList<>(points);
        Collections.addAll(all, more);
        numbers.forEach(number -> all.add(new Point(number, Color.RED, null, flags[0], null, null, number, null, 'x')));
        return all;
    }

    @Override
    public Long boxed(Boolean flag, Integer[] numbers) {
        return flag == null ? null : Arrays.stream(numbers).mapToLong(number -> number == null ? flag ? 100 : 0 : number).sum();
    }

    @Override
    public Node graph(Node node) {
        if (node != null) {
            node.name(node.name() + (node.left == node.right) + (node.left.left == node) + node.all.contains(node));
            node.all = null;
        }
        return node;
    }

    @Override
    public Node[] graphs(Node[] nodes) {
        Collections.reverse(Arrays.asList(nodes));
        return nodes;
    }

    @Override
    public Account account(Account account) {
        return account.owner.equals("nobody") ? null : account;
    }

    @Override
    public Color[] colors(List<Color> colors, Point point) {
        return point == null ? null : colors.toArray(new Color[0]);
    }

    @Override
    public List<List<String>> deep(List<String[]> texts) {
        List<List<String>> lists = new ArrayList<>();
        texts.forEach(text -> lists.add(text == null ? null : Arrays.asList(text)));
        return lists;
    }

    @Override
    public Seat sit(Seat seat, Forms last) {
        int sum = (int) seat.guest().sum(new Elem(1, null, null)) + (int) seat.others().get(2).sum(new Elem(2, null, null));
        return new Seat(seat.name() + sum, this, List.of(seat.guest(), last), seat.more(), seat);
    }

    @Override
    public List<Forms> around(Forms[] forms, Node node) {
        List<Forms> all = new ArrayList<>(Arrays.asList(forms));
        all.add(node.friend);
        return all;
    }

    @Override
    public Savings savings(Savings savings) {
        savings.rate *= 2;
        savings.owned(savings.ownedBy() + "+" + savings.owner + "+" + savings.all().size() + savings.count);
        return savings;
    }

    @Override
    public Shape shape(Shape shape) {
        return switch (shape) {
            case null -> new Shape.Nothing();
            case Shape.Circle circle -> new Shape.Group("a circle", circle, null, this);
            case Shape.Nothing nothing -> null;
            case Shape.Group group -> group;
            case Shape.Drawn drawn -> new Shape.Group(drawn.held, drawn, List.of(drawn), null);
        };
    }

    @Override
    public List<Shape> shapes(Shape[] shapes, Shape.Round round) {
        List<Shape> all = new ArrayList<>(Arrays.asList(shapes));
        all.add(round);
        return all;
    }
}
