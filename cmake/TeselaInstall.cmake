# Installation: libraries and headers as the CMake package "tesela" and the pkg-config module "tesela", and the programs.
include(CMakePackageConfigHelpers)
get_property(libraries GLOBAL PROPERTY TESELA_LIBRARIES)

install(TARGETS ${libraries} EXPORT teselaTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY src/tesela/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tesela
  FILES_MATCHING PATTERN "*.hpp" PATTERN "internal" EXCLUDE PATTERN "cli" EXCLUDE PATTERN "main" EXCLUDE)
install(TARGETS tesela RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET tesela-bench)
  install(TARGETS tesela-bench RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

# One StarPU for all who use what is installed: the one that was built for us goes along, another folder's is named.
set(starpu_dir "${TESELA_STARPU_ROOT}")
if(EXISTS "${TESELA_STARPU_ROOT}/built-for-tesela")
  set(starpu_dir ${CMAKE_INSTALL_LIBDIR}/tesela/starpu)
  install(DIRECTORY "${TESELA_STARPU_ROOT}/lib" "${TESELA_STARPU_ROOT}/include" DESTINATION ${starpu_dir} USE_SOURCE_PERMISSIONS)
  install(FILES "${TESELA_STARPU_ROOT}/COPYING.LGPL" DESTINATION ${starpu_dir} OPTIONAL)
endif()
if(starpu_dir)
  file(RELATIVE_PATH bin_to_prefix "/${CMAKE_INSTALL_BINDIR}" "/")
  set(starpu_rpath "${starpu_dir}/${tesela_starpu_libdir}")
  if(NOT IS_ABSOLUTE "${starpu_dir}")
    string(PREPEND starpu_rpath "$ORIGIN/${bin_to_prefix}")
  endif()
  foreach(program tesela tesela-bench)
    if(TARGET ${program})
      set_target_properties(${program} PROPERTIES INSTALL_RPATH "${starpu_rpath}")
    endif()
  endforeach()
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tesela)
install(EXPORT teselaTargets NAMESPACE tesela:: DESTINATION ${package_dir})
configure_package_config_file(cmake/teselaConfig.cmake.in "${CMAKE_CURRENT_BINARY_DIR}/teselaConfig.cmake"
  INSTALL_DESTINATION ${package_dir} PATH_VARS starpu_dir)
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/teselaConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/teselaConfig.cmake" "${CMAKE_CURRENT_BINARY_DIR}/teselaConfigVersion.cmake"
  "${CMAKE_CURRENT_SOURCE_DIR}/cmake/TeselaStarpu.cmake"
  DESTINATION ${package_dir})

# Users first, what they use after: the order a static link needs.
set(pkgconfig_libs "")
foreach(library ${libraries})
  get_target_property(type ${library} TYPE)
  if(type STREQUAL "STATIC_LIBRARY" AND NOT library STREQUAL "tesela_cli")
    string(PREPEND pkgconfig_libs "-l${library} ")
  endif()
endforeach()
# The file finds its prefix from where it is, so that the prefix can be moved.
file(RELATIVE_PATH pc_to_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" pc_to_prefix "${pc_to_prefix}")
if(starpu_dir)
  # By their paths: -lstarpu could find another one.
  set(pkgconfig_starpu_libdir "${starpu_dir}/${tesela_starpu_libdir}")
  if(NOT IS_ABSOLUTE "${starpu_dir}")
    string(PREPEND pkgconfig_starpu_libdir "\${prefix}/")
  endif()
  set(pkgconfig_starpu_modules "")
  set(pkgconfig_starpu_libs "\${starpulibdir}/libstarpu-${tesela_starpu_series}.so -Wl,-rpath,\${starpulibdir}")
else()
  set(pkgconfig_starpu_libdir "")
  set(pkgconfig_starpu_modules "starpu-${tesela_starpu_series}")
  set(pkgconfig_starpu_libs "")
endif()
configure_file(cmake/tesela.pc.in "${CMAKE_CURRENT_BINARY_DIR}/tesela.pc" @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/tesela.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
