package obvia.rmi.bank;

/** There is not as much. */
public class OverdrawnException extends Exception {
    private static final long serialVersionUID = 1;

    /** For an account. */
    public OverdrawnException(String message) {
        super(message);
    }
}
