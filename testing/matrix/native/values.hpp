// An object that returns its arguments, each with a change.
#ifndef MATRIX_VALUES_HPP
#define MATRIX_VALUES_HPP

#include "texts.hpp"

#include "obvia.hpp"
#include "values.h"

#include <algorithm>

// The object, which has no state.
class Values final : public obvia::implements<Values, IValues> {
public:
    HRESULT Integers(int8_t *a, int16_t *b, int32_t *c, int64_t *d) override
    {
        *a = static_cast<int8_t>(~*a);
        *b = static_cast<int16_t>(~*b);
        *c = ~*c;
        *d = ~*d;
        return S_OK;
    }

    HRESULT Unsigned(uint8_t *a, uint16_t *b, uint32_t *c, uint64_t *d) override
    {
        *a = static_cast<uint8_t>(~*a);
        *b = static_cast<uint16_t>(~*b);
        *c = ~*c;
        *d = ~*d;
        return S_OK;
    }

    HRESULT Others(uint8_t a, char b, obvia_wchar c, float d, double e, HRESULT f, GUID g, uint8_t *a2, char *b2, obvia_wchar *c2,
                   float *d2, double *e2, HRESULT *f2, GUID *g2) override
    {
        *a2 = !a;
        *b2 = static_cast<char>(~b);
        *c2 = static_cast<obvia_wchar>(~c);
        *d2 = -d;
        *e2 = -e;
        *f2 = ~f;
        *g2 = {~g.Data1, static_cast<uint16_t>(~g.Data2), static_cast<uint16_t>(~g.Data3), {}};
        std::transform(g.Data4, g.Data4 + 8, g2->Data4, [](uint8_t byte) { return static_cast<uint8_t>(~byte); });
        return S_OK;
    }

    HRESULT Structure(Line given, const Line *pointed, const Line *maybe, Line *sum) override
    {
        *sum = given;
        sum->id = given.id + pointed->id + (maybe ? maybe->id : 0);
        sum->width = maybe ? maybe->width : 0;
        return S_OK;
    }

    HRESULT Modes(uint32_t n, const Mode *modes, Mode *turned) override
    {
        std::reverse_copy(modes, modes + n, turned);
        return S_OK;
    }

    HRESULT Lines(uint16_t n, Line *lines) override
    {
        std::reverse(lines, lines + n);
        std::for_each(lines, lines + n, [](Line &line) { std::swap(line.ends[0], line.ends[1]); });
        return S_OK;
    }

    HRESULT Matrix(int32_t m[3][2], int32_t t[2][3]) override
    {
        for (int row = 0; row < 3; row++) {
            for (int column = 0; column < 2; column++) {
                t[column][row] = m[row][column];
            }
        }
        return S_OK;
    }

    HRESULT Fill(uint32_t room, int32_t first, uint32_t *used, int16_t *values) override
    {
        *used = std::min<uint32_t>(room, 10);
        for (uint32_t at = 0; at < *used; at++) {
            values[at] = static_cast<int16_t>(first + static_cast<int32_t>(at));
        }
        return S_OK;
    }

    HRESULT Made(int32_t n, int64_t *count, double **values) override
    {
        const size_t made = n > 0 ? static_cast<size_t>(n) : 0;
        *values = static_cast<double *>(obvia_alloc((made + 1) * sizeof(double)));
        if (!*values) {
            return E_OUTOFMEMORY;
        }
        for (size_t at = 0; at < made; at++) {
            (*values)[at] = static_cast<double>(at) / 2;
        }
        *count = static_cast<int64_t>(made);
        return S_OK;
    }

    HRESULT Expression(int32_t rows, int32_t columns, const uint8_t *cells, int64_t *sum) override
    {
        *sum = rows - columns;
        const int32_t count = rows > 0 ? rows * columns + (columns & 1) : 1;
        for (int32_t at = 0; at < count; at++) {
            *sum += cells[at];
        }
        return S_OK;
    }

    HRESULT Texts(const char *one, const obvia_wchar *other, const obvia_wchar *maybe, char **both, obvia_wchar **none) override
    {
        return obvia::guard([&] {
            const std::string text = std::string(one) + "|" + narrow(other) + "|" + (maybe ? narrow(maybe) : "-");
            *both = obvia::copy_text<char>(text);
            *none = obvia::copy_text<obvia_wchar>(u"");
            return *both && *none ? S_OK : E_OUTOFMEMORY;
        });
    }

    HRESULT Ranged(int32_t digit, int32_t *square) override
    {
        // The square of 5 is replaced by a value outside of the declared range.
        *square = digit == 5 ? 101 : digit * digit;
        return S_OK;
    }

    HRESULT Same(const GUID *iid, IUnknown *object, IUnknown **back) override
    {
        return object ? object->QueryInterface(*iid, reinterpret_cast<void **>(back)) : E_POINTER;
    }

    HRESULT Fail(HRESULT code) override
    {
        return obvia_fail(code, "as it was told");
    }

    HRESULT Greet(const char *name, const char *title, char **greeting, int32_t *length) override
    {
        return obvia::guard([&] {
            const std::string text = title ? std::string(title) + " " + name : name;
            *greeting = result(name, text);
            *length = static_cast<int32_t>(std::string(name).size());
            return *greeting ? S_OK : E_OUTOFMEMORY;
        });
    }

    HRESULT Sign(const char *text, IUnknown *, char **signature) override
    {
        return obvia::guard([&] {
            *signature = result(text, text);
            return *signature ? S_OK : E_OUTOFMEMORY;
        });
    }

    HRESULT Caption(uint32_t n, obvia_wchar *wide, uint32_t *length, char *narrow, obvia_wchar fill) override
    {
        if (fill == '-') {
            return S_OK;
        }
        const uint32_t m = *length;
        *length = m > 0 ? m - 1 : 0;
        std::fill(wide, wide + n, fill);
        std::fill(narrow, narrow + m, static_cast<char>(fill));
        // A string without its end is refused.
        if (fill != 'x') {
            if (n > 0) {
                wide[n - 1] = 0;
            }
            if (m > 0) {
                narrow[m - 1] = 0;
            }
        }
        return S_OK;
    }

    HRESULT Negate(int32_t *one, Point *point, int32_t *given) override
    {
        *given = (one ? 1 : 0) + (point ? 1 : 0);
        if (one) {
            *one = -*one;
        }
        if (point) {
            point->x = -point->x;
            point->y = static_cast<int16_t>(-point->y);
        }
        return S_OK;
    }

    HRESULT Halve(uint32_t n, int16_t *values, uint8_t *given) override
    {
        *given = values != nullptr;
        for (uint32_t at = 0; values && at < n; at++) {
            values[at] = static_cast<int16_t>(values[at] / 2);
        }
        return S_OK;
    }

private:
    // Returns the text, or a string that is not valid UTF-8 if the argument is "wrong".
    static char *result(const char *argument, const std::string &text)
    {
        return obvia::copy_text<char>(std::string(argument) == "wrong" ? "\xff" : text);
    }
};

#endif
