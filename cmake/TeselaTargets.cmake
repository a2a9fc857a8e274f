# How every target of the project is compiled, and tesela_library(): one static library per folder of src/tesela/.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(PROJECT_IS_TOP_LEVEL) # else these are the other project's to choose
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
  endif()
  find_program(CCACHE_PROGRAM ccache)
  if(CCACHE_PROGRAM)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
    set(CMAKE_C_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
  endif()
endif()

add_library(tesela_build_flags INTERFACE)
target_compile_options(tesela_build_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Woverloaded-virtual
  -Wno-missing-field-initializers
  # Of sources that are compiled together, a local name may be one that another file has, and their own types are in one file's main part.
  $<IF:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>,-Wno-subobject-linkage,-Wshadow>
  -Wno-aggressive-loop-optimizations # g++ 12 warns falsely of triangular loops in templates
  $<$<BOOL:${TESELA_WERROR}>:-Werror>)
if(TESELA_SANITIZE)
  target_compile_options(tesela_build_flags INTERFACE -fsanitize=${TESELA_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(tesela_build_flags INTERFACE -fsanitize=${TESELA_SANITIZE})
endif()

# tesela_precompile(TARGET [FLAVOUR]): uses the headers of that flavour (cmake/precompiled), precompiled once for all targets, and its
# flags. What a file fails to include shows all the same: headers are compiled alone by a test, and `./dev lint` compiles every file without them.
function(tesela_precompile target)
  set(flavour ${ARGN})
  if(NOT flavour)
    set(flavour core)
  endif()
  # What programs and tests do in long loops is in the libraries; at -O3 they would take twice as long to compile.
  set(flags "")
  if(flavour STREQUAL "tests")
    set(flags $<$<CONFIG:Release,RelWithDebInfo>:-O0>)
  elseif(flavour STREQUAL "programs") # -O1, where g++ 12 warns falsely of strings put together
    set(flags $<$<CONFIG:Release,RelWithDebInfo>:-O1> -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow)
  endif()
  target_compile_options(${target} PRIVATE ${flags})
  if(NOT TESELA_PCH)
    return()
  endif()
  if(NOT TARGET tesela_pch_${flavour})
    file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/pch/${flavour}.cpp" CONTENT "")
    add_library(tesela_pch_${flavour} OBJECT "${PROJECT_BINARY_DIR}/pch/${flavour}.cpp")
    target_compile_options(tesela_pch_${flavour} PRIVATE ${flags})
    target_link_libraries(tesela_pch_${flavour} PRIVATE tesela_build_flags Threads::Threads fmt::fmt)
    if(flavour STREQUAL "tests")
      target_link_libraries(tesela_pch_${flavour} PRIVATE GTest::gmock GTest::gtest rapidcheck)
    elseif(flavour STREQUAL "programs")
      target_link_libraries(tesela_pch_${flavour} PRIVATE nlohmann_json::nlohmann_json)
    endif()
    target_precompile_headers(tesela_pch_${flavour} PRIVATE "${PROJECT_SOURCE_DIR}/cmake/precompiled/${flavour}.hpp")
  endif()
  target_precompile_headers(${target} REUSE_FROM tesela_pch_${flavour})
  if(CCACHE_PROGRAM AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -fpch-preprocess) # or ccache could not tell what was in them
  endif()
  # The flags must be those of the precompiled headers: CMake would compile programs with -fPIE.
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
endfunction()

# tesela_json_first(VARIABLE): the sources of this list with nlohmann/json.hpp, which takes the compiler three seconds each time, come
# first, so that they are compiled together.
function(tesela_json_first variable)
  set(sources ${${variable}})
  foreach(source ${${variable}})
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" OUTPUT_VARIABLE path)
    set(json "")
    if(EXISTS "${path}")
      file(STRINGS "${path}" json REGEX "include .(nlohmann/json|tesela/geo/model_[a-z]+)\\.hpp" LIMIT_COUNT 1)
    endif()
    if(json)
      list(REMOVE_ITEM sources "${source}")
      list(PREPEND sources "${source}")
    endif()
  endforeach()
  set(${variable} ${sources} PARENT_SCOPE)
endfunction()

# tesela_compile_together(TARGET): eight sources at a time, which share their headers and what these make the compiler
# generate. Names in anonymous namespaces must differ within a folder.
function(tesela_compile_together target)
  if(TESELA_UNITY)
    get_target_property(sources ${target} SOURCES)
    tesela_json_first(sources)
    set_target_properties(${target} PROPERTIES SOURCES "${sources}" UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  endif()
endfunction()

# tesela_public_headers(VARIABLE [STABLE]): the headers that docs/api.md lists, or the stable ones, as "tesela/flow/stream.hpp"
function(tesela_public_headers variable)
  set_property(DIRECTORY "${PROJECT_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/docs/api.md")
  file(STRINGS "${PROJECT_SOURCE_DIR}/docs/api.md" listed REGEX "^(\\| `tesela/|# The rest)")
  list(TRANSFORM listed REPLACE "^\\| `(tesela/[^`]*)`.*" "\\1" OUTPUT_VARIABLE headers)
  list(FIND headers "# The rest" end)
  if(ARGN STREQUAL "STABLE")
    list(SUBLIST headers 0 ${end} headers)
  else()
    list(REMOVE_AT headers ${end})
  endif()
  set(${variable} ${headers} PARENT_SCOPE)
endfunction()

# tesela_library(FOLDER [NOT_INSTALLED] [INLINED] [PCH flavour] [SUBFOLDERS names…] [DEPENDS other folders or targets…]
# [PRIVATE targets of the .cpp files only…]) builds every .cpp of the current folder and the named subfolders into libtesela_FOLDER.a, alias tesela::FOLDER.
function(tesela_library folder)
  cmake_parse_arguments(ARG "NOT_INSTALLED;INLINED" "PCH" "SUBFOLDERS;DEPENDS;PRIVATE" ${ARGN})
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
  tesela_precompile(tesela_${folder} ${ARG_PCH})
  tesela_compile_together(tesela_${folder})
  # As position-independent code a function that is not static could be replaced by another library's, so that g++ inlines none.
  # Nobody replaces ours, and where short functions run millions of times it shows.
  if(ARG_INLINED)
    target_compile_options(tesela_${folder} PRIVATE -fno-semantic-interposition)
  endif()
  if(NOT ARG_NOT_INSTALLED)
    set_property(GLOBAL APPEND PROPERTY TESELA_LIBRARIES tesela_${folder})
  endif()
endfunction()
