# The targets that programs use, of an obvia that is installed or part of their own project.
cmake_policy(VERSION 3.16...3.25)

# obvia_import_targets(libobvia.so libobvia.a needed obvia include-folder...)
#
# Makes the targets `obvia::obvia` and `obvia::obvia_static`, the library, and `obvia::command`, of
# these files. `needed` are the libraries that the static library needs.
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
