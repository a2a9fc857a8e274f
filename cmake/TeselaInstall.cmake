# Installation: libraries and headers as the CMake package "tesela" and the pkg-config module "tesela", and the programs.
include(CMakePackageConfigHelpers)
get_property(libraries GLOBAL PROPERTY TESELA_LIBRARIES)

install(TARGETS ${libraries} EXPORT teselaTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  OBJECTS DESTINATION ${CMAKE_INSTALL_LIBDIR}/tesela)
install(DIRECTORY src/tesela/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tesela
  FILES_MATCHING PATTERN "*.hpp" PATTERN "internal" EXCLUDE PATTERN "cli" EXCLUDE PATTERN "main" EXCLUDE PATTERN "idle" EXCLUDE)
install(TARGETS tesela RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET tesela-bench)
  install(TARGETS tesela-bench RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tesela)
install(EXPORT teselaTargets NAMESPACE tesela:: DESTINATION ${package_dir})
configure_package_config_file(cmake/teselaConfig.cmake.in "${CMAKE_CURRENT_BINARY_DIR}/teselaConfig.cmake"
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/teselaConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/teselaConfig.cmake" "${CMAKE_CURRENT_BINARY_DIR}/teselaConfigVersion.cmake"
  DESTINATION ${package_dir})

# Users first, what they use after: the order a static link needs.
set(pkgconfig_libs "")
foreach(library ${libraries})
  get_target_property(type ${library} TYPE)
  if(type STREQUAL "STATIC_LIBRARY" AND NOT library STREQUAL "tesela_cli")
    string(PREPEND pkgconfig_libs "-l${library} ")
  endif()
endforeach()
configure_file(cmake/tesela.pc.in "${CMAKE_CURRENT_BINARY_DIR}/tesela.pc" @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/tesela.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
