package obvia;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The IID of an interface that is written in Java. Where nothing is said it follows from what the interface has, so that one which changes becomes another; one with this
 * annotation stays the same, and who has built against another version is refused with RPC_E_VERSION_MISMATCH.
 */
@Documented
@Retention(RetentionPolicy.CLASS)
@Target(ElementType.TYPE)
public @interface Iid {
    /**
     * The GUID as it is written: {@code 0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a20}.
     *
     * @return the text
     */
    String value();
}
