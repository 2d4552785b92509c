package obvia;

/**
 * The caller of a method.
 *
 * @param process the process ID of a caller on this host; 0 if the ID is not known, or the call
 *     came over a network
 * @param host the address of the caller's host if the call came over a network; else {@code null}
 * @param domain the domain of the authenticated account, empty if the account has none;
 *     {@code null} at {@link SecurityLevel#NONE}
 * @param user the user of the authenticated account, or {@code null}
 * @param level the protection of the call
 */
public record Caller(long process, String host, String domain, String user, SecurityLevel level) {
    /**
     * Whether the caller is a process of this host.
     *
     * @return false if the call came over a network
     */
    public boolean isLocal() {
        return host == null;
    }

    /**
     * Whether the caller is anonymous: the call came over a network without authentication.
     *
     * @return false for processes of this host and for callers with an account
     */
    public boolean isAnonymous() {
        return host != null && user == null;
    }
}
