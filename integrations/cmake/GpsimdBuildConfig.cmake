# find_package(GpsimdBuild): GPSIMD custom-op libraries as CMake targets.
#
#   gpsimd_add_custom_op(<target>
#     SOURCES <file>...
#     [SHAPE_SOURCES <file>...]         registrations, which name the ops; or name them here:
#     [SCHEMAS <schema>...]             ops whose kernel function has the schema's own name
#     [OPS <kernel>=<schema>...]        ops whose names differ
#     [NAME <stem>]                     of the output files; default: the target's name
#     [OUTPUT_DIRECTORY <dir>]          default: the current binary directory
#     [INCLUDE_DIRECTORIES <dir>...] [COMPILE_OPTIONS <flag>...] [LINK_OPTIONS <flag>...]
#     [TOOL_OPTIONS <option>...]        anything else `gpsimd-build compile` takes
#     [DEPENDS <file-or-target>...]
#     [MULTICORE] [STRIP | NO_STRIP] [EXCLUDE_FROM_ALL])
#
# The target is rebuilt when a source, a header it includes, the tool or the command changes. Its properties:
#   GPSIMD_LIBRARY   what `gpsimd-build run` and `verify` take: <dir>/<stem>
#   GPSIMD_MANIFEST  <dir>/<stem>.manifest.json
#   GPSIMD_IMAGES    the files that ship, in core order
#
# Input:   GPSIMD_BUILD_EXECUTABLE (cache), the environment's GPSIMD_BUILD, or gpsimd-build in PATH.
# Defines: the imported executable GpsimdBuild::gpsimd-build, for custom commands of your own.

if(CMAKE_VERSION VERSION_LESS 3.20)
  set(GpsimdBuild_FOUND FALSE)
  set(GpsimdBuild_NOT_FOUND_MESSAGE "GpsimdBuild needs CMake 3.20 (dependency files for every generator)")
  return()
endif()

if(NOT GPSIMD_BUILD_EXECUTABLE AND DEFINED ENV{GPSIMD_BUILD})
  set(GPSIMD_BUILD_EXECUTABLE "$ENV{GPSIMD_BUILD}" CACHE FILEPATH "The gpsimd-build program")
endif()
find_program(GPSIMD_BUILD_EXECUTABLE NAMES gpsimd-build DOC "The gpsimd-build program")
if(NOT GPSIMD_BUILD_EXECUTABLE)
  set(GpsimdBuild_FOUND FALSE)
  set(GpsimdBuild_NOT_FOUND_MESSAGE
      "the program gpsimd-build is not in PATH; set GPSIMD_BUILD_EXECUTABLE to where it is")
  return()
endif()

if(NOT TARGET GpsimdBuild::gpsimd-build)
  add_executable(GpsimdBuild::gpsimd-build IMPORTED)
  set_target_properties(GpsimdBuild::gpsimd-build PROPERTIES IMPORTED_LOCATION "${GPSIMD_BUILD_EXECUTABLE}")
endif()

function(gpsimd_add_custom_op target)
  set(flags MULTICORE STRIP NO_STRIP EXCLUDE_FROM_ALL)
  set(values NAME OUTPUT_DIRECTORY)
  set(lists SOURCES SHAPE_SOURCES SCHEMAS OPS INCLUDE_DIRECTORIES COMPILE_OPTIONS LINK_OPTIONS TOOL_OPTIONS DEPENDS)
  cmake_parse_arguments(PARSE_ARGV 1 arg "${flags}" "${values}" "${lists}")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "gpsimd_add_custom_op(${target}): unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_SOURCES)
    message(FATAL_ERROR "gpsimd_add_custom_op(${target}): SOURCES is missing")
  endif()
  if(arg_STRIP AND arg_NO_STRIP)
    message(FATAL_ERROR "gpsimd_add_custom_op(${target}): STRIP and NO_STRIP exclude each other")
  endif()
  if(NOT arg_NAME)
    set(arg_NAME "${target}")
  endif()
  if(NOT arg_OUTPUT_DIRECTORY)
    set(arg_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
  endif()
  get_filename_component(directory "${arg_OUTPUT_DIRECTORY}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")

  # The stem as the tool derives it: without the last extension.
  string(REGEX REPLACE "(.)\\.[^.]*$" "\\1" stem "${arg_NAME}")
  set(library "${directory}/${stem}")
  # Outputs are left alone when a rebuild changes nothing in them; the stamp says when that was found out.
  set(stamp "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.gpsimd-stamp")

  set(sources "")
  set(command compile --depfile "${stamp}.d" --depfile-target "${stamp}" --name "${arg_NAME}"
              --out-dir "${directory}")
  foreach(source IN LISTS arg_SHAPE_SOURCES)
    get_filename_component(source "${source}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
    list(APPEND sources "${source}")
    list(APPEND command --shape-src "${source}")
  endforeach()
  foreach(schema IN LISTS arg_SCHEMAS)
    list(APPEND command --schema "${schema}")
  endforeach()
  foreach(op IN LISTS arg_OPS)
    list(APPEND command --op "${op}")
  endforeach()
  foreach(include IN LISTS arg_INCLUDE_DIRECTORIES)
    if(NOT include MATCHES "^-")
      get_filename_component(include "${include}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
    endif()
    list(APPEND command --include "${include}")
  endforeach()
  foreach(flag IN LISTS arg_LINK_OPTIONS)
    list(APPEND command --ldflag "${flag}")
  endforeach()
  if(arg_MULTICORE)
    list(APPEND command --multicore)
    set(cores _cpu0 _cpu1 _cpu2 _cpu3 _cpu4 _cpu5 _cpu6 _cpu7)
  else()
    set(cores "-")
  endif()
  set(packaged TRUE)
  if(arg_STRIP)
    list(APPEND command --strip)
  elseif(arg_NO_STRIP)
    list(APPEND command --no-strip)
    set(packaged FALSE)
  elseif("-g" IN_LIST arg_COMPILE_OPTIONS)
    set(packaged FALSE)
  endif()
  list(APPEND command ${arg_TOOL_OPTIONS})

  set(images "")
  set(byproducts "${library}.manifest.json")
  if(arg_SHAPE_SOURCES)
    list(APPEND byproducts "${library}.shapes.so")
  endif()
  foreach(core IN LISTS cores)
    string(REGEX REPLACE "^-$" "" core "${core}")
    list(APPEND byproducts "${library}${core}.so")
    if(packaged)
      list(APPEND images "${library}${core}.stripped.so")
      list(APPEND byproducts "${library}${core}.stripped.so" "${library}${core}.packed.so")
    else()
      list(APPEND images "${library}${core}.so")
    endif()
  endforeach()

  foreach(source IN LISTS arg_SOURCES)
    get_filename_component(source "${source}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
    list(APPEND sources "${source}")
    list(APPEND command "${source}")
  endforeach()
  if(arg_COMPILE_OPTIONS)
    list(APPEND command -- ${arg_COMPILE_OPTIONS})
  endif()

  # Makefile generators add what a new dependency file names to what the last one named, and so would rebuild for ever
  # after a header is gone. Without their notes of last time they start afresh.
  set(forget "")
  if(CMAKE_GENERATOR MATCHES "Makefiles")
    set(notes "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir/compiler_depend.internal")
    set(forget COMMAND "${CMAKE_COMMAND}" -E rm -f "${notes}")
  endif()

  add_custom_command(
    OUTPUT "${stamp}"
    BYPRODUCTS ${byproducts}
    COMMAND GpsimdBuild::gpsimd-build ${command}
    ${forget}
    COMMAND "${CMAKE_COMMAND}" -E touch "${stamp}"
    DEPENDS ${sources} "${GPSIMD_BUILD_EXECUTABLE}" ${arg_DEPENDS}
    DEPFILE "${stamp}.d"
    WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
    COMMENT "Building GPSIMD library ${stem}"
    VERBATIM)
  if(arg_EXCLUDE_FROM_ALL)
    add_custom_target(${target} DEPENDS "${stamp}" SOURCES ${sources})
  else()
    add_custom_target(${target} ALL DEPENDS "${stamp}" SOURCES ${sources})
  endif()
  set_target_properties(
    ${target} PROPERTIES GPSIMD_LIBRARY "${library}" GPSIMD_MANIFEST "${library}.manifest.json" GPSIMD_IMAGES
                                                                                              "${images}")
endfunction()
