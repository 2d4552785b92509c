@0xd7c1a4b2e6f80935;

# The interface that each system of the benchmark offers, here for Cap'n Proto.
interface Bench {
    null @0 ();

    # Returns the number of calls of the other methods, which the client checks.
    calls @1 () -> (count :UInt64);

    # Adds one to the first number, and returns the others unchanged.
    moveData @2 (words :List(UInt32)) -> (words :List(UInt32));
}
