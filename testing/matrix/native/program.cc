// The matrix in C++ and C:
//
//    program serve NAME [BINDING]   serves the objects under this name with a suffix each, on this
//                                   host and at the string binding, until the standard input ends
//    program check SHAPES VALUES FUNCTIONS DEEP...   calls every method of the objects of these
//                                   names, and every function of the server at a binding
//    program check                  the same in one process
//    program objects SHAPES VALUES DEEP   the same without functions
//    program endpoints OPTION       serves functions, found through the endpoint mapper that a
//                                   binding with this option names
//    program lied NAME COUNT METHOD SIZE   calls an object with hostile answers
//    program short SHAPES           calls while one of the two processes is short of memory
#include "by_value.hpp"
#include "check.h"
#include "deep.hpp"
#include "functions.hpp"
#include "shapes.hpp"
#include "values.hpp"

#include <cstring>
#include <iostream>

static int serve(const std::string &name, const char *binding)
{
    const obvia::served shapes = obvia::serve<IShapes>(name + "-shapes", obvia::make<Shapes>());
    const obvia::served values = obvia::serve<IValues>(name + "-values", obvia::make<Values>());
    const obvia::served deep = obvia::serve<IDeep>(name + "-deep", obvia::make<Deep>());
    const auto in_c = obvia::com_ptr<IDeep>::attach(deep_in_c());
    const obvia::served deep_in_c = obvia::serve<IDeep>(name + "-deep-in-c", in_c);
    const obvia::serving echo = obvia::serve_interface<rpcecho>(obvia::make<Echo>());
    const obvia::serving counters = obvia::serve_interface<Counters>(obvia::make<Keeper>());
    const GUID other = {0x6b29fc40, 0xca47, 0x1067, {0xb3, 0x1d, 0x00, 0xdd, 0x01, 0x06, 0x62, 0xda}};
    const auto keeper_in_c = obvia::com_ptr<Counters>::attach(counters_in_c());
    const obvia::serving other_counters = obvia::serve_interface<Counters>(keeper_in_c, &other);
    obvia::listen("ncacn_vi_shm:[" + name + "-functions]");
    // Objects that forward all calls by value to objects of the same kinds.
    const obvia::served shapes2 = obvia::serve(name + "-shapes-by-value", obvia::make<by_value::Shapes>(obvia::make<Shapes>()));
    const obvia::served values2 = obvia::serve(name + "-values-by-value", obvia::make<by_value::Values>(obvia::make<Values>()));
    const obvia::served deep2 = obvia::serve(name + "-deep-by-value", obvia::make<by_value::Deep>(obvia::make<Deep>()));
    if (binding) {
        std::cout << obvia::listen(binding) << std::endl;
    }
    std::cout << "serving" << std::endl;
    std::cin.get();
    return 0;
}

int main(int count, char **words)
try {
    // Clients authenticate, and accept authenticated callbacks.
    obvia::set_accounts({{"matrix", "red or blue"}});
    obvia::set_credentials("matrix", "red or blue");
    const bool is_check = count >= 2 && std::strcmp(words[1], "check") == 0;
    if (count >= 3 && std::strcmp(words[1], "serve") == 0) {
        return serve(words[2], count > 3 ? words[3] : nullptr);
    }
    if (count == 3 && std::strcmp(words[1], "endpoints") == 0) {
        check_endpoints(words[2]);
        std::cout << "ok" << std::endl;
        return 0;
    }
    if (count == 6 && std::strcmp(words[1], "lied") == 0) {
        const uint32_t size = static_cast<uint32_t>(std::atoi(words[5]));
        call_liar(obvia::connect<IShapes>(words[2]).get(), std::atoi(words[3]), words[4], size);
        return 0;
    }
    if (is_check && count == 2) {
        const obvia::com_ptr<IShapes> shapes = obvia::make<Shapes>();
        check_shapes(shapes.get(), false);
        check_shapes_in_c(shapes.get());
        check_values(obvia::make<Values>().get(), false);
        check_deep(obvia::make<Deep>().get(), false);
        const auto deep = obvia::com_ptr<IDeep>::attach(deep_in_c());
        check_deep(deep.get(), false);
        check_by_value(shapes.get(), obvia::make<Values>().get(), obvia::make<Deep>().get());
        check_by_value(shapes.get(), obvia::make<Values>().get(), deep.get());
        check_functions(obvia::make<Echo>().get(), obvia::make<Keeper>().get());
        check_functions(obvia::make<Echo>().get(), obvia::com_ptr<Counters>::attach(counters_in_c()).get());
    } else if (is_check && count >= 5) {
        const obvia::com_ptr<IShapes> shapes = obvia::connect<IShapes>(words[2]);
        check_shapes(shapes.get(), true);
        check_shapes_in_c(shapes.get());
        const obvia::com_ptr<IValues> values = obvia::connect<IValues>(words[3]);
        check_values(values.get(), true);
        check_functions_at(words[4]);
        obvia::com_ptr<IDeep> deep;
        for (int at = 5; at < count; at++) {
            deep = obvia::connect<IDeep>(words[at]);
            check_deep(deep.get(), true);
        }
        check_by_value(shapes.get(), values.get(), deep.get());
    } else if (count == 5 && std::strcmp(words[1], "objects") == 0) {
        const obvia::com_ptr<IShapes> shapes = obvia::connect<IShapes>(words[2]);
        check_shapes(shapes.get(), true);
        check_shapes_in_c(shapes.get());
        check_values(obvia::connect<IValues>(words[3]).get(), true);
        check_deep(obvia::connect<IDeep>(words[4]).get(), true);
    } else if (count == 3 && std::strcmp(words[1], "short") == 0) {
        check_short_memory(obvia::connect<IShapes>(words[2]).get());
    } else {
        std::cerr << "usage: serve NAME [BINDING] | check [SHAPES VALUES FUNCTIONS DEEP...] | objects SHAPES VALUES DEEP | short SHAPES" << std::endl;
        return 2;
    }
    std::cout << "ok" << std::endl;
    return 0;
} catch (const std::exception &failure) {
    std::cerr << failure.what() << std::endl;
    return 1;
}
