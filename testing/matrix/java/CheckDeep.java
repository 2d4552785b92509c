package matrix;

import static matrix.Check.fails;
import static matrix.Check.same;

import deep.Any;
import deep.Bunch;
import deep.Choice;
import deep.IDeep;
import deep.IDeep.FindResult;
import deep.IDeep.PickResult;
import deep.IDeepInfo;
import deep.IPeer;
import deep.IPeerInfo;
import deep.Item;
import deep.Names;
import deep.Record_;
import deep.Tree;
import java.util.Arrays;
import java.util.List;
import obvia.Guid;
import obvia.Hresult;
import obvia.Ints;

/**
 * Checks of {@code IDeep}, whose methods take, change and return structures and arrays with
 * pointers. The same checks run with an object of this virtual machine, and with objects of other
 * processes.
 */
final class CheckDeep {
    private static final Guid PEER = IPeerInfo.INFO.iid();

    private CheckDeep() {}

    static void check(IDeep deep, boolean isElsewhere) {
        objectsAreReplaced(deep);
        stringsAreReplaced(deep);
        arraysAreReplaced(deep, isElsewhere);
        structuresContainObjectsAndStrings(deep, isElsewhere);
        structuresWithTrailingArraysArePassed(deep);
        unionsAreReturned(deep);
        optionalValuesCanBeNull(deep, isElsewhere);
        if (isElsewhere) {
            fails(Hresult.E_ACCESSDENIED, () -> deep.fail(item(8, null), "mine", Hresult.E_ACCESSDENIED));
        }
    }

    private static Item item(int value, String name) {
        return Item.of(value, false, name, null);
    }

    private static void objectsAreReplaced(IDeep deep) {
        IPeer two = new Peer(2);
        IDeep.SwapResult swapped = deep.swap(two, null);
        same(swapped.right() == two, true);
        same(swapped.left().twice(3), 33);
        // An object that is passed back to its own process arrives as the object itself.
        IDeep.SwapResult again = deep.swap(swapped.left(), swapped.right());
        same(again.left() == two, true);
        same(again.right(), swapped.left());
        List<IPeer> all = deep.objects(Arrays.asList(two, again.right(), null, new Peer(5)));
        same(all, Arrays.asList(null, null, again.right(), two));
        same(all.get(2).twice(3), 33);
        same(deep.objects(List.of()), List.of());
    }

    private static void stringsAreReplaced(IDeep deep) {
        same(deep.rename(null, "ab"), "?ab");
        same(deep.rename("?ab", "c"), "?abc");
        same(deep.rename("?abc", ""), null);
    }

    private static void arraysAreReplaced(IDeep deep, boolean isElsewhere) {
        List<Item> sorted = deep.sort(List.of(item(3, "three"), item(1, "one"), item(2, null)));
        same(sorted, List.of(item(1, "one"), item(2, null), item(3, "three")));
        same(deep.sort(List.of()), List.of());
        IDeep.TrimResult trimmed = deep.trim(3, sorted, 1);
        same(trimmed.count(), 2);
        same(trimmed.items(), List.of(item(1, "one"), item(2, null), item(0, null)));
        if (isElsewhere) {
            // The array's length was fixed before the call, so a method cannot fill more elements
            // by reporting a greater length.
            IDeep.TrimResult longer = deep.trim(2, trimmed.items().subList(0, 2), -1);
            same(longer.count(), 3);
            same(longer.items(), List.of(item(1, "one"), item(2, null)));
            fails(Hresult.E_INVALIDARG, () -> deep.trim(2, sorted, 0));
        }
        IDeep.PartResult some = deep.part(3, 1, List.of(item(9, "nine")));
        same(some.used(), 2);
        same(some.items().get(0), item(9, "nine"));
        same(some.items().get(1).name(), "more");
        some = deep.part(3, 2, some.items());
        some = deep.part(3, 3, some.items());
        same(some.used(), 3);
        same(some.items().get(2).value(), 2);
        List<Item> full = some.items();
        if (isElsewhere) {
            fails(Hresult.E_INVALIDARG, () -> deep.part(3, 4, full));
            fails(Hresult.E_INVALIDARG, () -> deep.part(2, 3, full));
        }
    }

    private static void structuresContainObjectsAndStrings(IDeep deep, boolean isElsewhere) {
        IPeer two = new Peer(2);
        Names names = Names.of(List.of("a", "b"), Arrays.asList(null, two));
        FindResult found = deep.find(PEER, names);
        same(found.found() == two, true);
        same(found.rest(), names);
        if (isElsewhere) {
            fails(Hresult.E_NOINTERFACE, () -> deep.find(IDeepInfo.INFO.iid(), names));
        }
        Names none = Names.of(null, null);
        same(deep.find(PEER, none), new FindResult(null, none));
        Bunch turned = deep.turn(Bunch.of(Arrays.asList(two, null), Arrays.asList(null, "a")));
        same(turned, Bunch.of(Arrays.asList(null, two), Arrays.asList("a", null)));
    }

    private static void structuresWithTrailingArraysArePassed(IDeep deep) {
        Record_ record = Record_.of("title", List.of(item(1, null), Item.of(2, true, "second", item(1, null)), item(3, null)));
        same(deep.store(record), record);
        Record_ empty = Record_.of(null, List.of());
        same(deep.store(empty), empty);
        same(deep.store(record.copy()).copy(), record);
    }

    private static void unionsAreReturned(IDeep deep) {
        Choice tree = new Choice.Tree_(Tree.of(77, null, Tree.of(78, null, null)));
        same(deep.pick(3, new Any.Text("text"), new Choice.Blue()), new PickResult(4, new Any.List_(Item.of(5, true, "text", null)), tree));
        same(deep.pick(1, new Any.Number(5), tree), new PickResult(2, new Any.Real(2.5), new Choice.Number(1)));
    }

    private static void optionalValuesCanBeNull(IDeep deep, boolean isElsewhere) {
        same(deep.partly(3, Ints.of(1, 2, 3)), 9L);
        same(deep.maybe(1), 2);
        same(deep.maybe(null), -1);
        int[] numbers = new int[4];
        same(deep.both(7, numbers), "both");
        same(numbers, new int[] {7, 8, 9, 10});
        if (isElsewhere) {
            fails(Hresult.E_INVALIDARG, () -> deep.partly(10, Ints.of(new int[10])));
            fails(Hresult.E_INVALIDARG, () -> deep.both(101, numbers));
            same(numbers[0], 7);
        }
    }
}
