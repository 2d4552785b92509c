package obvia.processor.calls;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import obvia.Graph;
import obvia.Remote;

/** Values: records and classes, lists and arrays of them, and nested combinations. */
interface Forms extends Remote {
    Elem echo(Elem elem);

    long sum(Elem head);

    Elem range(int first, int count);

    String[] names(List<String> names, int[][] rows, Integer maybe, Forms other);

    List<Point> points(List<Point> points, Point[] more, List<Integer> numbers, boolean[] flags);

    Long boxed(Boolean flag, Integer[] numbers);

    Node graph(Node node);

    Node[] graphs(Node[] nodes);

    Account account(Account account);

    Color[] colors(List<Color> colors, Point point);

    List<List<String>> deep(List<String[]> texts);

    Seat sit(Seat seat, Forms last);

    List<Forms> around(Forms[] forms, Node node);

    Savings savings(Savings savings);

    Shape shape(Shape shape);

    List<Shape> shapes(Shape[] shapes, Shape.Round round);

    enum Color {
        RED,
        GREEN
    }

    /** An element of a list, as in the papers. */
    record Elem(int i, byte[] data, Elem next) {}

    /** A record with a member of each kind. */
    record Point(double x, Color color, String name, boolean isSet, List<Point> children, String[] tags, Integer size, long[] longs, char c) {
        @Override
        public boolean equals(Object other) {
            return other instanceof Point point
                    && x == point.x
                    && color == point.color
                    && Objects.equals(name, point.name)
                    && isSet == point.isSet
                    && Objects.equals(children, point.children)
                    && Arrays.equals(tags, point.tags)
                    && Objects.equals(size, point.size)
                    && Arrays.equals(longs, point.longs)
                    && c == point.c;
        }

        @Override
        public int hashCode() {
            return Double.hashCode(x);
        }
    }

    /** A class whose objects may form cycles. */
    @Graph
    final class Node {
        int value;
        Node left;
        Node right;
        List<Node> all;
        Forms friend;
        private String name;
        transient Object cache = "made here";

        String name() {
            return name;
        }

        void name(String name) {
            this.name = name;
        }
    }

    /** A class with inaccessible fields. */
    class Account {
        private long balance;
        private List<String> notes;
        String owner;

        Account() {}

        Account(long balance, List<String> notes, String owner) {
            this.balance = balance;
            this.notes = notes;
            this.owner = owner;
        }

        @Override
        public String toString() {
            return balance + " " + notes + " " + owner;
        }
    }

    /** A record with remote objects. */
    record Seat(String name, Forms guest, List<Forms> others, Remote[] more, Seat next) {}

    /** A generic superclass. */
    abstract class Held<T> {
        T held;
        private List<T> more;
        protected transient int count;

        void hold(List<T> all) {
            held = all.get(0);
            more = all;
        }

        List<T> all() {
            return more;
        }
    }

    /** A subclass that fixes the type parameter, and adds a field. */
    class Accounts extends Held<Account> {
        private String owner;

        void owned(String by) {
            owner = by;
        }

        String ownedBy() {
            return owner;
        }
    }

    /** A class two levels below another, with a field that hides an inherited field. */
    class Savings extends Accounts {
        double rate;
        String owner;
        Forms bank;
    }

    /** A sealed type. */
    sealed interface Shape {
        /** A nested sealed type. */
        sealed interface Round extends Shape {}

        record Circle(double radius) implements Round {}

        record Nothing() implements Shape, Round {}

        record Group(String name, Shape first, List<Shape> more, Forms by) implements Shape {}

        /** A final class that is a kind of a sealed type. */
        final class Drawn extends Held<String> implements Shape {}
    }
}
