package obvia.processor;

import java.util.HashSet;
import java.util.Set;
import javax.lang.model.element.Element;

/** A set of names in IDL, and the conversion of Java's names to valid IDL names. */
final class IdlNames {
    /**
     * The words that continue a type in a declaration, as {@code int} does after {@code long}. A
     * name follows a type, so none of these words can be a name.
     */
    private static final Set<String> WORDS = Set.of("signed", "unsigned", "small", "hyper", "int", "__int8", "__int16", "__int32", "__int64", "__int3264", "pipe");

    /**
     * The names that a type cannot have in IDL: names of IDL's own types, and other reserved words.
     */
    private static final Set<String> TYPES = Set.of(
            "BOOLEAN", "BYTE", "WCHAR", "FLOAT", "DOUBLE", "HRESULT", "SCODE", "error_status_t", "handle_t", "GUID", "IID", "CLSID", "UUID", "REFIID", "REFGUID",
            "REFCLSID", "LPSTR", "LPWSTR", "CHAR", "UCHAR", "SHORT", "USHORT", "WORD", "INT", "UINT", "LONG", "ULONG", "DWORD", "BOOL", "LONGLONG", "ULONGLONG",
            "INT64", "UINT64", "DWORDLONG", "BSTR", "VARIANT", "VARIANTARG", "SAFEARRAY", "IUnknown", "wchar_t", "struct", "union", "string", "OBVIA");

    private final Set<String> taken = new HashSet<>();

    /** Returns a unique name within this set of names. */
    String unique(Element element, String wanted) throws Refused {
        if (!wanted.chars().allMatch(letter -> letter < 128 && letter != '$')) {
            throw new Refused(element, "`" + wanted + "` cannot be a name in IDL, where names have ASCII letters, digits and underscores: rename it");
        }
        String name = WORDS.contains(wanted) ? wanted + "_" : wanted;
        while (!taken.add(name)) {
            name += "_";
        }
        return name;
    }

    /** Returns the name of a method: an overloaded method gets a number as suffix. */
    String method(Element element, String wanted) throws Refused {
        String name = wanted;
        for (int number = 2; taken.contains(name); number++) {
            name = wanted + "_" + number;
        }
        return unique(element, name);
    }

    /**
     * Returns the name of a method's result, such that the name with the suffix {@code Count} is
     * free as well.
     */
    String result() {
        String name = "result";
        while (taken.contains(name) || taken.contains(name + "Count")) {
            name += "_";
        }
        return name;
    }

    /** Returns the name of a type. */
    static String type(Element element) throws Refused {
        String name = new IdlNames().unique(element, element.getSimpleName().toString());
        if (TYPES.contains(name) || WORDS.contains(element.getSimpleName().toString())) {
            throw new Refused(element, "`" + name + "` is a reserved word in IDL: rename it");
        }
        return name;
    }
}
