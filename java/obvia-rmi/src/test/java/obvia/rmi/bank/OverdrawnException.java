package obvia.rmi.bank;

/** The balance of an account is insufficient. */
public class OverdrawnException extends Exception {
    private static final long serialVersionUID = 1;

    /** Creates an exception that names the account. */
    public OverdrawnException(String message) {
        super(message);
    }
}
