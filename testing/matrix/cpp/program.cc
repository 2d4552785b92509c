// The matrix in C++:
//
//     program serve NAME [BINDING]   serves the objects under the name that is given and what they are, until the standard input
//                                    ends: on this host, and at the string binding that is given
//     program check SHAPES VALUES [DEEP]   calls every method of the objects behind these names
//     program check                  the same in one process
#include "check.hpp"
#include "deep.hpp"
#include "shapes.hpp"
#include "values.hpp"

#include <cstring>
#include <iostream>

static int serve(const std::string &name, const char *binding)
{
    const obvia::served shapes = obvia::serve<IShapes>(name + "-shapes", obvia::make<Shapes>());
    const obvia::served values = obvia::serve<IValues>(name + "-values", obvia::make<Values>());
    const obvia::served deep = obvia::serve<IDeep>(name + "-deep", obvia::make<Deep>());
    if (binding) {
        std::cout << obvia::listen(binding) << std::endl;
    }
    std::cout << "serving" << std::endl;
    std::cin.get();
    return 0;
}

int main(int count, char **words)
try {
    const bool is_check = count >= 2 && std::strcmp(words[1], "check") == 0;
    if (count >= 3 && std::strcmp(words[1], "serve") == 0) {
        return serve(words[2], count > 3 ? words[3] : nullptr);
    }
    if (is_check && count == 2) {
        check_shapes(obvia::make<Shapes>().get(), false);
        check_values(obvia::make<Values>().get(), false);
        check_deep(obvia::make<Deep>().get(), false);
    } else if (is_check && (count == 4 || count == 5)) {
        // Objects of this process are passed, by interfaces that both files declare.
        check_shapes(obvia::connect<IShapes>(words[2]).get(), true);
        check_values(obvia::connect<IValues>(words[3]).get(), true);
        if (count == 5) {
            check_deep(obvia::connect<IDeep>(words[4]).get(), true);
        }
    } else {
        std::cerr << "usage: serve NAME [BINDING] | check [SHAPES VALUES [DEEP]]" << std::endl;
        return 2;
    }
    std::cout << "ok" << std::endl;
    return 0;
} catch (const std::exception &failure) {
    std::cerr << failure.what() << std::endl;
    return 1;
}
