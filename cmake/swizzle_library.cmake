# One interface target carries every compiler flag; the three functions below are how a folder
# declares its library, its tests and its programs.

add_library(swizzle_flags INTERFACE)
target_compile_features(swizzle_flags INTERFACE cxx_std_23)
target_compile_options(swizzle_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
  -Woverloaded-virtual -Wold-style-cast $<$<CXX_COMPILER_ID:GNU>:-Wcast-align=strict> -Wundef)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 reports the storage of an empty std::optional as used uninitialized, and accesses of its own strings
  # that never happen if these come from a precompiled header.
  # The other option lets ccache see from which sources a precompiled header was made.
  target_compile_options(swizzle_flags INTERFACE -Wno-maybe-uninitialized -Wno-array-bounds
    -Wno-stringop-overread -fpch-preprocess)
endif()

option(SWIZZLE_SLOW_INVARIANTS "Run INVARIANT_SLOW, which may walk whole pages" OFF)
if(SWIZZLE_SLOW_INVARIANTS)
  target_compile_definitions(swizzle_flags INTERFACE SWIZZLE_SLOW_INVARIANTS)
endif()

set(SWIZZLE_SANITIZE "" CACHE STRING "address,undefined | thread | empty")
if(SWIZZLE_SANITIZE)
  target_compile_options(swizzle_flags INTERFACE
    -fsanitize=${SWIZZLE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(swizzle_flags INTERFACE -fsanitize=${SWIZZLE_SANITIZE})
  if(SWIZZLE_SANITIZE STREQUAL "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Asio has fences round its handlers, which ThreadSanitizer does not see; what orders them for
    # it is the mutex of the queue that they come out of.
    target_compile_options(swizzle_flags INTERFACE -Wno-tsan)
  endif()
endif()

# Guards between a defect of ours and its exploit: addresses that cannot be written after the start, guarded return
# addresses and stack pages, checked copies. Sanitizers bring guards of their own, and a build that only clang makes, or
# that is not optimised, is not shipped. `hardening` in ctest reads the result.
option(SWIZZLE_HARDENING "Stack protector, CET, _FORTIFY_SOURCE, RELRO and BIND_NOW in optimised builds" ON)
if(SWIZZLE_HARDENING AND NOT SWIZZLE_SANITIZE AND CMAKE_BUILD_TYPE STREQUAL "Release")
  target_compile_options(swizzle_flags INTERFACE
    -fstack-protector-strong -fstack-clash-protection -fcf-protection=full
    -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
  target_link_options(swizzle_flags INTERFACE -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
endif()

# Profile-guided optimisation: a build that records, a load, and a build that uses the profile (scripts/ship).
# Code that the load did not reach is compiled as without a profile.
set(SWIZZLE_PROFILE "" CACHE STRING "record | use | empty")
set(SWIZZLE_PROFILE_FOLDER "${PROJECT_SOURCE_DIR}/build/profile" CACHE PATH "where the profile is")
if(SWIZZLE_PROFILE)
  # Both builds name a profile by its object's path inside the build.
  set(profile_flags -fprofile-prefix-path=${PROJECT_BINARY_DIR})
  if(SWIZZLE_PROFILE STREQUAL "record")
    list(APPEND profile_flags -fprofile-generate=${SWIZZLE_PROFILE_FOLDER} -fprofile-update=prefer-atomic)
  elseif(SWIZZLE_PROFILE STREQUAL "use")
    # A source that the build itself generates lies in another folder than when it was recorded: no profile for it.
    list(APPEND profile_flags -fprofile-use=${SWIZZLE_PROFILE_FOLDER} -fprofile-partial-training
      -fprofile-correction -Wno-missing-profile -Wno-coverage-mismatch)
  else()
    message(FATAL_ERROR "SWIZZLE_PROFILE is \"${SWIZZLE_PROFILE}\": record, use or nothing")
  endif()
  target_compile_options(swizzle_flags INTERFACE ${profile_flags})
  target_link_options(swizzle_flags INTERFACE ${profile_flags})
endif()

find_program(SWIZZLE_MOLD mold)
if(SWIZZLE_MOLD)
  target_link_options(swizzle_flags INTERFACE -fuse-ld=mold)
endif()

# Headers of installed packages must not trip our warnings.
function(swizzle_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;PUBLIC_DEPS;PRIVATE_DEPS" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC ${arg_PUBLIC_DEPS} PRIVATE swizzle_flags ${arg_PRIVATE_DEPS})
endfunction()

# One Catch2 executable per folder. LABELS names ctest labels; each label runs the test cases that
# carry it as a Catch2 tag, and `unit` runs all that carry no label's tag.
function(swizzle_tests name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS;LABELS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${arg_DEPS} swizzle_flags Catch2::Catch2WithMain)
  if(Catch2_VERSION VERSION_GREATER_EQUAL 3)
    target_include_directories(${name} BEFORE PRIVATE ${PROJECT_SOURCE_DIR}/cmake/catch2_v3)
  endif()
  set(unit_filter "~[.]")
  foreach(label ${arg_LABELS})
    string(APPEND unit_filter "~[${label}]")
    add_test(NAME ${name}.${label} COMMAND ${name} "[${label}]")
    set_tests_properties(${name}.${label} PROPERTIES LABELS ${label} TIMEOUT 900)
  endforeach()
  add_test(NAME ${name}.unit COMMAND ${name} "${unit_filter}")
  set_tests_properties(${name}.unit PROPERTIES LABELS unit TIMEOUT 900)
endfunction()

# A fuzz target swizzle_<what>_fuzz: fuzzing/<what>_fuzz.cpp with its committed corpus,
# fuzzing/corpus/<what>. Some thousand inputs in ctest, as many as one likes by hand. With clang,
# SWIZZLE_LIBFUZZER puts libFuzzer in place of our driver.
option(SWIZZLE_LIBFUZZER "Fuzz with libFuzzer, by coverage; needs clang" OFF)
if(SWIZZLE_LIBFUZZER)
  target_compile_options(swizzle_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

function(swizzle_fuzzer name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS" ${ARGN})
  string(REGEX REPLACE "^swizzle_(.*)_fuzz$" "\\1" what ${name})
  add_executable(${name} fuzzing/${what}_fuzz.cpp ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${arg_DEPS} swizzle_flags)
  if(SWIZZLE_LIBFUZZER)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  else()
    target_link_libraries(${name} PRIVATE swizzle_fuzz_driver)
  endif()
  add_test(NAME fuzz.${what}
    COMMAND ${name} -runs=5000 -max_total_time=3 -seed=1
            ${CMAKE_CURRENT_SOURCE_DIR}/fuzzing/corpus/${what})
  set_tests_properties(fuzz.${what} PROPERTIES LABELS fuzz TIMEOUT 120)
endfunction()

function(swizzle_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${arg_DEPS} swizzle_flags)
endfunction()
