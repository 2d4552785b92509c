package obvia.processor;

import javax.lang.model.element.Element;

/** Reports a type or method that cannot be supported, with its position and a remedy. */
final class Refused extends Exception {
    private static final long serialVersionUID = 1;

    final transient Element where;

    Refused(Element where, String message) {
        super(message, null, false, false);
        this.where = where;
    }

    /** Signals a missing type, which another processor may still generate. */
    static final class Missing extends RuntimeException {
        private static final long serialVersionUID = 1;

        Missing() {
            super("a type is missing", null, false, false);
        }
    }
}
