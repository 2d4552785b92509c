package obvia.runtime;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks the description of an interface that is written in Java. Each compilation of the interface
 * generates the description again.
 */
@Retention(RetentionPolicy.CLASS)
@Target(ElementType.TYPE)
public @interface FromJava {}
