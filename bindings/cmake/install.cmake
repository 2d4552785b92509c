# The installation: headers, libraries, the command, and the files that find_package() and
# pkg-config read.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package "${CMAKE_INSTALL_LIBDIR}/cmake/obvia")
set(pkgconfig "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

configure_package_config_file(bindings/cmake/obviaConfig.cmake.in obviaConfig.cmake
    INSTALL_DESTINATION "${package}"
    PATH_VARS CMAKE_INSTALL_BINDIR CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
# Before 1.0, a new minor version may break programs that were compiled for the previous one.
write_basic_package_version_file(obviaConfigVersion.cmake COMPATIBILITY SameMinorVersion)
# The paths in obvia.pc are relative to the file's own place. Users can therefore choose the prefix
# at the installation, and can move the installed files.
file(RELATIVE_PATH to_prefix "/prefix/${pkgconfig}" "/prefix")
list(TRANSFORM needed PREPEND -l REGEX "^[a-z]" OUTPUT_VARIABLE needed_flags)
list(JOIN needed_flags " " needed_flags)
configure_file(bindings/cmake/obvia.pc.in obvia.pc @ONLY)

install(FILES
    crates/capi/include/obvia.h
    crates/capi/include/obvia_automation.h
    crates/capi/include/obvia_events.h
    crates/capi/include/obvia_server.h
    crates/capi/include/obvia_stub.h
    crates/capi/include/obvia_table.h
    crates/capi/include/ocidl.h
    bindings/cpp/include/obvia.hpp
    bindings/cpp/include/obvia_events.hpp
    bindings/cpp/include/obvia_library.hpp
    bindings/cpp/include/obvia_values.hpp
    bindings/cpp/include/ocidl_values.hpp
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(FILES
    "${lib}/libobvia.a"
    "${lib}/libobvia.so"
    "${lib}/${soname}"
    "${lib}/${soname}.${abi_MINOR}"
    DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(PROGRAMS "${bin}/obvia" DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(FILES
    bindings/cmake/obviaIdl.cmake
    bindings/cmake/obviaTargets.cmake
    "${PROJECT_BINARY_DIR}/obviaConfig.cmake"
    "${PROJECT_BINARY_DIR}/obviaConfigVersion.cmake"
    DESTINATION "${package}")
install(FILES "${PROJECT_BINARY_DIR}/obvia.pc" DESTINATION "${pkgconfig}")
install(FILES LICENSE-APACHE LICENSE-MIT DESTINATION "${CMAKE_INSTALL_DOCDIR}")
