/** What a program that uses RMI changes its imports to; docs/rmi.md goes through it line by line. Interfaces stay as they are. */
package obvia.rmi;
