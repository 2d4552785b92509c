package obvia.runtime;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks the description of an interface that is written in Java: the compilation of the interface
 * generates it again.
 */
@Retention(RetentionPolicy.CLASS)
@Target(ElementType.TYPE)
public @interface FromJava {}
