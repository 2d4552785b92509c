package obvia;

/**
 * The credentials of this process for bindings that ask for {@code security}.
 *
 * @param domain the domain, or an empty string
 * @param user the user
 * @param password the password, which must be long if the network can be eavesdropped on
 */
public record Credentials(String domain, String user, String password) {
    /** Returns the account without the password. */
    @Override
    public String toString() {
        return "Credentials[" + domain + "/" + user + "]";
    }
}
