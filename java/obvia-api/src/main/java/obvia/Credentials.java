package obvia;

/**
 * Who this process is to servers, by string bindings that ask for {@code security}.
 *
 * @param domain the domain, or empty
 * @param user the user
 * @param password the password, which has to be a long one where others can listen
 */
public record Credentials(String domain, String user, String password) {
    /** Without the password. */
    @Override
    public String toString() {
        return "Credentials[" + domain + "/" + user + "]";
    }
}
