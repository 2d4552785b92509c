/**
 * The annotation processor, which generates {@code CalcInfo} for an interface {@code Calc} that is
 * written in Java, as the IDL compiler does for an interface that is written in IDL.
 */
package obvia.processor;
