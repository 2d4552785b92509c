package obvia.runtime.objects;

import obvia.Remote;

/** The old version of an interface. */
public interface ICalc extends Remote {
    int add(int a, int b);

    /** Returns a property of the object, its thread or its process: see {@link Calcs}. */
    long about(int what);

    /** Returns a property of another object. */
    long visit(ICalc other, int what);

    /** Returns the object itself. */
    ICalc self();
}
