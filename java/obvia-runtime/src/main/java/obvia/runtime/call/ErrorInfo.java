package obvia.runtime.call;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.CharBuffer;
import java.nio.charset.CharsetEncoder;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;
import obvia.RpcException;

/**
 * The description of a method's failure, sent beside its HRESULT in the frame of a fault.
 * {@code crates/rpc/src/vi_call/words.rs} writes and reads the frame in Rust. docs/flat.md has the
 * format of the frame. Each text may be empty, but is not {@code null}.
 */
public record ErrorInfo(String description, String source, String helpFile, int helpContext) {
    /** The maximum length of a text in bytes: longer texts are truncated. */
    static final int TEXT_MAX = 16 << 10;

    private static final int HEADER = 16;

    /** The maximum length of an accepted frame, in bytes. */
    public static final int FRAME_MAX = HEADER + 3 * TEXT_MAX;

    private static final byte[] NO_FRAME = {};

    /** Whether callers receive the messages of errors and unchecked exceptions. */
    private static volatile boolean messagesAreSent = ErrorInfo.class.desiredAssertionStatus();

    /** See {@link obvia.Obvia#setExceptionTexts}. */
    public static void sendMessages(boolean areSent) {
        messagesAreSent = areSent;
    }

    /**
     * Returns the description for the caller of a method that threw an exception. For an
     * {@link RpcException} or a checked exception, the description is the message. For an error or
     * another unchecked exception, the description begins with the class, because the HRESULT does
     * not identify the exception. The message follows only if messages are sent and the caller is
     * of this user, because the message may contain confidential values.
     */
    static ErrorInfo of(Throwable why, boolean isOwnUser) {
        if (why instanceof RpcException known) {
            return new ErrorInfo(text(known.description()), text(known.source()), text(known.helpFile()), known.helpContext());
        }
        boolean isExpected = why instanceof Exception && !(why instanceof RuntimeException);
        return new ErrorInfo(text(isExpected ? why.getMessage() : "the method threw " + (isOwnUser && messagesAreSent ? why : why.getClass().getName())), "", "", 0);
    }

    private static String text(String text) {
        return text == null ? "" : text;
    }

    /**
     * Returns the frame with the description for the caller of a method that threw an exception.
     *
     * @param isOwnUser whether the caller is a process of this process's user
     * @return the frame; no bytes if there is no description
     */
    public static byte[] frameOf(Throwable why, boolean isOwnUser) {
        try {
            ErrorInfo info = of(why, isOwnUser);
            return info.isEmpty() ? NO_FRAME : info.toFrame(TEXT_MAX);
        } catch (RuntimeException | Error e) {
            // A method of the exception's class failed, or memory is exhausted.
            return NO_FRAME;
        }
    }

    /**
     * Returns a frame of at most {@code most} bytes, with the beginning of another frame's
     * description. Returns no bytes if the other frame is malformed.
     */
    public static byte[] truncated(byte[] frame, int most) {
        ErrorInfo info = read(frame);
        return info == null ? NO_FRAME : new ErrorInfo(info.description, "", "", 0).toFrame(most - HEADER);
    }

    private boolean isEmpty() {
        return description.isEmpty() && source.isEmpty() && helpFile.isEmpty();
    }

    /** Returns the frame with at most {@code most} bytes of each text. */
    byte[] toFrame(int most) {
        CharsetEncoder utf8 = StandardCharsets.UTF_8.newEncoder().onMalformedInput(CodingErrorAction.REPLACE);
        ByteBuffer[] texts = Stream.of(description, source, helpFile).map(text -> encoded(utf8, text, most)).toArray(ByteBuffer[]::new);
        int length = HEADER;
        for (ByteBuffer text : texts) {
            length += text.remaining();
        }
        ByteBuffer frame = ByteBuffer.allocate(length + 7 & -8).order(ByteOrder.LITTLE_ENDIAN).putInt(helpContext);
        for (ByteBuffer text : texts) {
            frame.putInt(text.remaining());
        }
        for (ByteBuffer text : texts) {
            frame.put(text);
        }
        return frame.array();
    }

    /** Encodes as many characters as {@code most} bytes hold. */
    private static ByteBuffer encoded(CharsetEncoder utf8, String text, int most) {
        ByteBuffer bytes = ByteBuffer.allocate((int) Math.min(most, 3L * text.length()));
        utf8.reset().encode(CharBuffer.wrap(text), bytes, true);
        return bytes.flip();
    }

    /** Parses a frame; {@code null} if it is malformed. Invalid UTF-8 is replaced. */
    public static ErrorInfo read(byte[] frame) {
        if (frame.length < HEADER || frame.length > FRAME_MAX) {
            return null;
        }
        ByteBuffer rest = ByteBuffer.wrap(frame).order(ByteOrder.LITTLE_ENDIAN);
        int helpContext = rest.getInt();
        int[] lengths = {rest.getInt(), rest.getInt(), rest.getInt()};
        String[] texts = new String[lengths.length];
        for (int i = 0; i < texts.length; i++) {
            if (lengths[i] < 0 || lengths[i] > Math.min(TEXT_MAX, rest.remaining())) {
                return null;
            }
            texts[i] = new String(frame, rest.position(), lengths[i], StandardCharsets.UTF_8);
            rest.position(rest.position() + lengths[i]);
        }
        boolean isPadding = rest.remaining() < 8;
        while (isPadding && rest.hasRemaining()) {
            isPadding = rest.get() == 0;
        }
        return isPadding ? new ErrorInfo(texts[0], texts[1], texts[2], helpContext) : null;
    }

    /**
     * Returns the exception for a failed method, with the description in the frame if it is
     * well-formed.
     */
    public static RpcException toException(int result, byte[] frame) {
        ErrorInfo info = read(frame);
        return info == null ? RpcException.of(result) : info.toException(result);
    }

    /** Returns the exception for a failed method, with this description. */
    public RpcException toException(int result) {
        RpcException failure = RpcException.of(result, known(description));
        return failure.withSource(known(source)).withHelp(known(helpFile), helpContext);
    }

    private static String known(String text) {
        return text.isEmpty() ? null : text;
    }
}
