package obvia;

import java.util.UUID;

/**
 * A GUID, which identifies an interface or a class.
 *
 * @param high the first eight bytes, in the order of the textual form
 * @param low the last eight bytes, in the order of the textual form
 */
public record Guid(long high, long low) {
    /** The IID of IUnknown, which every object implements. */
    public static final Guid IUNKNOWN = of("00000000-0000-0000-c000-000000000046");

    /**
     * Parses the textual form of a GUID: {@code 0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a20}.
     *
     * @param text the text
     * @return the GUID
     * @throws IllegalArgumentException if the text is no GUID
     */
    public static Guid of(String text) {
        if (text.length() != 36) {
            throw new IllegalArgumentException("`" + text + "` is not a GUID");
        }
        UUID uuid = UUID.fromString(text);
        return new Guid(uuid.getMostSignificantBits(), uuid.getLeastSignificantBits());
    }

    /**
     * Returns the first eight bytes of the wire format as a little-endian number. In the wire
     * format, each of the first three parts of a GUID is a little-endian number, too.
     *
     * @return the number
     */
    public long wireHigh() {
        return (high >>> 32) | (high >>> 16 & 0xffff) << 32 | (high & 0xffff) << 48;
    }

    /**
     * Returns the last eight bytes of the wire format as a little-endian number.
     *
     * @return the number
     */
    public long wireLow() {
        return Long.reverseBytes(low);
    }

    /**
     * Returns the GUID whose wire format has these little-endian halves.
     *
     * @param wireHigh the first eight bytes
     * @param wireLow the last eight bytes
     * @return the GUID
     */
    public static Guid fromWire(long wireHigh, long wireLow) {
        long high = wireHigh << 32 | (wireHigh >>> 32 & 0xffff) << 16 | wireHigh >>> 48;
        return new Guid(high, Long.reverseBytes(wireLow));
    }

    @Override
    public String toString() {
        return new UUID(high, low).toString();
    }
}
