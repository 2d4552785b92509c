/** The compiler of IDL as part of a build by Maven. */
package obvia.maven;
