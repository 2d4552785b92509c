package obvia.runtime;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Marks what describes an interface that is written in Java: it is made anew when the interface is compiled. */
@Retention(RetentionPolicy.CLASS)
@Target(ElementType.TYPE)
public @interface FromJava {}
