package obvia.runtime;

/** Its newer version. */
public interface ICalc2 extends ICalc {
    int multiply(int a, int b);
}
