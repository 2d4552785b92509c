# Compiling IDL files as part of a build.
cmake_policy(VERSION 3.16...3.25)

# obvia_add_idl(target file.idl... [INCLUDE folder...])
#
# Compiles the files when the target is built, and again when a file or one of its imports has
# changed. The generated stubs become part of the target. The target, and targets that link it, can
# include the generated headers. Imports are looked for beside the files and in the folders. The
# target is an executable or a library of this CMakeLists.txt, and links obvia::obvia or
# obvia::obvia_static.
function(obvia_add_idl target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "INCLUDE")
    obvia_check_idl_target(${target})
    if(NOT arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "obvia_add_idl(${target}): no IDL file is named")
    endif()
    set(out "${CMAKE_CURRENT_BINARY_DIR}/${target}_idl")
    set(includes)
    foreach(folder IN LISTS arg_INCLUDE)
        get_filename_component(folder "${folder}" ABSOLUTE)
        list(APPEND includes --include "${folder}")
    endforeach()
    foreach(file IN LISTS arg_UNPARSED_ARGUMENTS)
        get_filename_component(path "${file}" ABSOLUTE)
        if(NOT EXISTS "${path}")
            message(FATAL_ERROR "obvia_add_idl(${target}): there is no file ${path}")
        endif()
        obvia_compile_idl("${path}" "${out}" stubs "${includes}")
        target_sources(${target} PRIVATE ${stubs})
    endforeach()
    target_include_directories(${target} PUBLIC "$<BUILD_INTERFACE:${out}>")
    if(TARGET obvia_cargo)
        # obvia is part of the project: the compiler exists once obvia has been built.
        add_dependencies(${target} obvia_cargo)
    endif()
endfunction()

# Reports an error if stubs cannot become part of a target.
function(obvia_check_idl_target target)
    if(NOT TARGET ${target})
        message(FATAL_ERROR "obvia_add_idl(${target}): there is no such target; add_executable() or add_library() comes first")
    endif()
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "INTERFACE_LIBRARY")
        message(FATAL_ERROR "obvia_add_idl(${target}): an INTERFACE library has nothing to put stubs in; make it STATIC or OBJECT")
    endif()
    get_target_property(folder ${target} SOURCE_DIR)
    if(NOT folder STREQUAL CMAKE_CURRENT_SOURCE_DIR)
        message(FATAL_ERROR "obvia_add_idl(${target}): the target belongs to ${folder}; call this there")
    endif()
endfunction()

# Compiles a file into a folder when its header or stubs are needed. Stores the paths of the
# generated files in the variable that `made` names.
function(obvia_compile_idl path out made includes)
    get_filename_component(name "${path}" NAME_WLE)
    set(header "${out}/${name}.h")
    set(stubs "${out}/${name}_stubs.c")
    set(values "${out}/${name}_values.hpp")
    set(compile obvia::command idl --language c --out "${out}" ${includes} "${path}")
    if(CMAKE_VERSION VERSION_LESS 3.20)
        # Before CMake 3.20 only some generators read dependency files, so every file that could be
        # imported is a dependency.
        get_filename_component(beside "${path}" DIRECTORY)
        set(folders "${beside}" ${includes})
        list(REMOVE_ITEM folders --include)
        list(TRANSFORM folders APPEND "/*.idl")
        file(GLOB imports CONFIGURE_DEPENDS ${folders})
        set(when DEPENDS obvia::command ${imports})
    else()
        list(APPEND compile --depfile "${out}/${name}.d")
        set(when DEPENDS obvia::command "${path}" DEPFILE "${out}/${name}.d")
    endif()
    add_custom_command(OUTPUT "${header}" "${stubs}" "${values}" COMMAND ${compile} ${when} COMMENT "Compiling ${path}" VERBATIM)
    if(NOT CMAKE_C_COMPILER_LOADED)
        # The stubs are valid C++ as well.
        set_source_files_properties("${stubs}" PROPERTIES LANGUAGE CXX COMPILE_OPTIONS -xc++)
    endif()
    set(${made} "${header}" "${stubs}" "${values}" PARENT_SCOPE)
endfunction()
