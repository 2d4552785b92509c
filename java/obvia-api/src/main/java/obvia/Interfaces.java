package obvia;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Names remote interfaces of libraries, for which the processor is to make proxies and stubs; those that are compiled with it need not be named. */
@Retention(RetentionPolicy.SOURCE)
@Target({ElementType.TYPE, ElementType.PACKAGE})
public @interface Interfaces {
    /**
     * The interfaces.
     *
     * @return their classes
     */
    Class<?>[] value();
}
