/** What makes {@code CalcInfo} for an interface {@code Calc} that is written in Java, as the compiler of IDL does for one that is written in IDL. */
package obvia.processor;
