package obvia.processor;

import javax.lang.model.element.Element;

/** What cannot be passed or called, where it is, and what to do. */
final class Refused extends Exception {
    private static final long serialVersionUID = 1;

    final transient Element where;

    Refused(Element where, String message) {
        super(message, null, false, false);
        this.where = where;
    }

    /** A type that is not there: another processor may make it yet. */
    static final class Missing extends RuntimeException {
        private static final long serialVersionUID = 1;

        Missing() {
            super("a type is missing", null, false, false);
        }
    }
}
