package obvia;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Names remote interfaces of libraries, for which the annotation processor then generates proxies
 * and stubs. Interfaces in the compiled sources need not be named.
 */
@Retention(RetentionPolicy.SOURCE)
@Target({ElementType.TYPE, ElementType.PACKAGE})
public @interface Interfaces {
    /**
     * Returns the interfaces.
     *
     * @return their classes
     */
    Class<?>[] value();
}
