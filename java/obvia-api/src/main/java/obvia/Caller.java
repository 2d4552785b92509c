package obvia;

/**
 * Who called a method.
 *
 * @param process the number of its process, where that is one of this host and the kernel told it; else 0
 * @param host its address, where the call came over a network; else {@code null}
 * @param domain the domain of the account that it has proved to have; {@code null} at {@link SecurityLevel#NONE}
 * @param user the user of that account, or {@code null}
 * @param level how the call was protected
 */
public record Caller(long process, String host, String domain, String user, SecurityLevel level) {
    /**
     * Whether it is a process of this host, by what the kernel tells.
     *
     * @return false where the call came over a network
     */
    public boolean isLocal() {
        return host == null;
    }

    /**
     * Whether nobody knows who it is: it came over a network, and has proved to have no account.
     *
     * @return false for processes of this host, and for those with an account
     */
    public boolean isAnonymous() {
        return host != null && user == null;
    }
}
