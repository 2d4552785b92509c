package obvia.runtime.shm;

/**
 * The device number of a file system in the kernel's lists. {@code stat} may show other numbers,
 * such as those of Btrfs' subvolumes.
 */
record Device(int major, int minor) {
    /** Parses a major and a minor number with a colon between them. */
    static Device of(String text, int radix) {
        int colon = text.indexOf(':');
        return new Device(Integer.parseInt(text.substring(0, colon), radix), Integer.parseInt(text.substring(colon + 1), radix));
    }

    /** Returns the device with a number that {@code stat} has returned. */
    static Device of(long number) {
        return new Device((int) (number >>> 8 & 0xfff | number >>> 32 & ~0xfff), (int) (number & 0xff | number >>> 12 & ~0xff));
    }
}
