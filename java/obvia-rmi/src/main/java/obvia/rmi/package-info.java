/**
 * The replacements for the imports of a program that uses RMI; docs/rmi.md describes the migration
 * line by line. Interfaces stay unchanged.
 */
package obvia.rmi;
