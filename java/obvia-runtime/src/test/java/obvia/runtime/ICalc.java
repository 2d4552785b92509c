package obvia.runtime;

import obvia.Remote;

/** An interface that has been in use for some time. */
public interface ICalc extends Remote {
    int add(int a, int b);

    /** What it, its thread or its process is like: see {@link Calcs}. */
    long about(int what);

    /** What another one says. */
    long visit(ICalc other, int what);

    /** The object itself. */
    ICalc self();
}
