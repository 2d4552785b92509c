// Conversions of short ASCII strings for the matrix.
#ifndef MATRIX_TEXTS_HPP
#define MATRIX_TEXTS_HPP

#include <string>

inline std::u16string wide(const std::string &text)
{
    return std::u16string(text.begin(), text.end());
}

inline std::string narrow(const char16_t *text)
{
    std::string made;
    for (; *text; text++) {
        made.push_back(static_cast<char>(*text));
    }
    return made;
}

#endif
