package obvia;

import java.util.UUID;

/**
 * A GUID: what names an interface or a class.
 *
 * @param high the first eight of its bytes, as they are written
 * @param low the other eight
 */
public record Guid(long high, long low) {
    /** The interface that every object has: IUnknown. */
    public static final Guid IUNKNOWN = of("00000000-0000-0000-c000-000000000046");

    /**
     * Reads a GUID as it is written: {@code 0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a20}.
     *
     * @param text the text
     * @return the GUID
     * @throws IllegalArgumentException for any other text
     */
    public static Guid of(String text) {
        if (text.length() != 36) {
            throw new IllegalArgumentException("`" + text + "` is no GUID");
        }
        UUID uuid = UUID.fromString(text);
        return new Guid(uuid.getMostSignificantBits(), uuid.getLeastSignificantBits());
    }

    /**
     * Its first eight bytes on the wire, as a little-endian number: the first three parts of a GUID are numbers themselves.
     *
     * @return the number
     */
    public long wireHigh() {
        return (high >>> 32) | (high >>> 16 & 0xffff) << 32 | (high & 0xffff) << 48;
    }

    /**
     * Its other eight bytes on the wire, as a little-endian number.
     *
     * @return the number
     */
    public long wireLow() {
        return Long.reverseBytes(low);
    }

    /**
     * The GUID that these are the little-endian halves of, as they came from a wire.
     *
     * @param wireHigh its first eight bytes
     * @param wireLow the other eight
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
