/** The IDL compiler as part of a build by Maven. */
package obvia.maven;
