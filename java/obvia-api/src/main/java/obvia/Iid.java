package obvia;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The IID of an interface that is written in Java. Without this annotation the IID is derived from
 * the interface's methods, so that a changed interface gets another IID. With the annotation, a
 * changed interface keeps its IID, and clients with another version of the interface are refused
 * with RPC_E_VERSION_MISMATCH.
 */
@Documented
@Retention(RetentionPolicy.CLASS)
@Target(ElementType.TYPE)
public @interface Iid {
    /**
     * Returns the textual form of the GUID: {@code 0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a20}.
     *
     * @return the text
     */
    String value();
}
