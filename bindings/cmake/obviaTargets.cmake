# The CMake targets of obvia, which is installed or is part of the program's own project.
cmake_policy(VERSION 3.16...3.25)

# obvia_import_targets(libobvia.so libobvia.a needed obvia include-folder...)
#
# Makes targets of these files: `obvia::obvia` and `obvia::obvia_static` for the library, and
# `obvia::command` for the program `obvia`. `needed` are the libraries that the static library
# needs.
function(obvia_import_targets shared static needed command)
    if(TARGET obvia::obvia)
        return()
    endif()
    add_library(obvia::obvia SHARED IMPORTED GLOBAL)
    set_target_properties(obvia::obvia PROPERTIES
        IMPORTED_LOCATION "${shared}"
        INTERFACE_INCLUDE_DIRECTORIES "${ARGN}")
    add_library(obvia::obvia_static STATIC IMPORTED GLOBAL)
    set_target_properties(obvia::obvia_static PROPERTIES
        IMPORTED_LOCATION "${static}"
        INTERFACE_INCLUDE_DIRECTORIES "${ARGN}"
        INTERFACE_LINK_LIBRARIES "${needed}")
    add_executable(obvia::command IMPORTED GLOBAL)
    set_target_properties(obvia::command PROPERTIES IMPORTED_LOCATION "${command}")
endfunction()
