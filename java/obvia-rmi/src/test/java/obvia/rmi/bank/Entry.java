package obvia.rmi.bank;

import java.io.Serializable;

/** What happened to an account. */
public record Entry(String account, long amount, Kind kind) implements Serializable {
    /** What kind of thing. */
    public enum Kind {
        IN,
        OUT
    }
}
