package obvia.runtime.objects;

/** The new version of the interface. */
public interface ICalc2 extends ICalc {
    int multiply(int a, int b);
}
