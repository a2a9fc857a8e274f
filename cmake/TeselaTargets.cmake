# How every target of the project is compiled, and tesela_library(): one static library per folder of src/tesela/.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
  set(CMAKE_C_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
endif()

add_library(tesela_build_flags INTERFACE)
target_compile_options(tesela_build_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Woverloaded-virtual
  -Wno-missing-field-initializers
  -Wno-aggressive-loop-optimizations # g++ 12 warns falsely of triangular loops in templates
  $<$<BOOL:${TESELA_WERROR}>:-Werror>)
if(TESELA_SANITIZE)
  target_compile_options(tesela_build_flags INTERFACE -fsanitize=${TESELA_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(tesela_build_flags INTERFACE -fsanitize=${TESELA_SANITIZE})
endif()

# tesela_library(FOLDER [SUBFOLDERS names…] [DEPENDS other folders or targets…] [PRIVATE targets of the .cpp files only…])
# builds every .cpp of the current folder and the named subfolders into libtesela_FOLDER.a, alias tesela::FOLDER.
function(tesela_library folder)
  cmake_parse_arguments(ARG "" "" "SUBFOLDERS;DEPENDS;PRIVATE" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  foreach(subfolder ${ARG_SUBFOLDERS})
    file(GLOB more CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${subfolder}/*.cpp")
    list(APPEND sources ${more})
  endforeach()
  add_library(tesela_${folder} STATIC ${sources})
  add_library(tesela::${folder} ALIAS tesela_${folder})
  set_target_properties(tesela_${folder} PROPERTIES EXPORT_NAME ${folder})
  target_include_directories(tesela_${folder} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(tesela_${folder} PUBLIC cxx_std_20)
  target_link_libraries(tesela_${folder} PUBLIC ${ARG_DEPENDS} PRIVATE $<BUILD_INTERFACE:tesela_build_flags> ${ARG_PRIVATE})
  set_property(GLOBAL APPEND PROPERTY TESELA_LIBRARIES tesela_${folder})
endfunction()
