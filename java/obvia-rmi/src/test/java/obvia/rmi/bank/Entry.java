package obvia.rmi.bank;

import java.io.Serializable;

/** A change of an account. */
public record Entry(String account, long amount, Kind kind) implements Serializable {
    /** The kind of a change. */
    public enum Kind {
        IN,
        OUT
    }
}
