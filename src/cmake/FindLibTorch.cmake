# SPDX-License-Identifier: GPL-3.0-or-later
#
# Finds LibTorch in $LIBTORCH_DIR (the folder with include/ and lib/), else in the private
# environment that etc/dependencies fills. PyTorch's own CMake package is not used: it insists
# on the CUDA toolkit that PyTorch was built with, which a build for the CPU does not need.
#
# Results
#   LibTorch::LibTorch        imported library: libtorch_cpu and libc10
#   LibTorch_VERSION          e.g. 2.11.0
#   LibTorch_LIBRARY_DIR      folder for the run path

if(DEFINED ENV{LIBTORCH_DIR})
    set(_torchDir "$ENV{LIBTORCH_DIR}")
else()
    file(GLOB _torchDir "${INSITU_DEPENDENCIES}/venv/lib/python3*/site-packages/torch")
endif()

find_path(LibTorch_INCLUDE_DIR torch/script.h
    PATHS ${_torchDir} PATH_SUFFIXES include NO_DEFAULT_PATH NO_CACHE)
find_library(LibTorch_LIBRARY torch_cpu
    PATHS ${_torchDir} PATH_SUFFIXES lib NO_DEFAULT_PATH NO_CACHE)
find_library(LibTorch_C10_LIBRARY c10
    PATHS ${_torchDir} PATH_SUFFIXES lib NO_DEFAULT_PATH NO_CACHE)

set(LibTorch_VERSION "")
if(LibTorch_INCLUDE_DIR)
    set(_torchVersion "")
    file(GLOB _torchVersionFiles
        "${LibTorch_INCLUDE_DIR}/torch/headeronly/version.h"
        "${LibTorch_INCLUDE_DIR}/torch/csrc/api/include/torch/version.h")
    foreach(_file IN LISTS _torchVersionFiles)
        file(STRINGS "${_file}" _lines REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) +[0-9]+")
        foreach(_line IN LISTS _lines)
            string(REGEX MATCH "[0-9]+$" _number "${_line}")
            list(APPEND _torchVersion ${_number})
        endforeach()
    endforeach()
    list(JOIN _torchVersion "." LibTorch_VERSION)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibTorch
    REQUIRED_VARS LibTorch_LIBRARY LibTorch_C10_LIBRARY LibTorch_INCLUDE_DIR
    VERSION_VAR LibTorch_VERSION
    REASON_FAILURE_MESSAGE
        "run etc/dependencies, or set LIBTORCH_DIR to the folder that holds include/ and lib/")

if(LibTorch_FOUND AND NOT TARGET LibTorch::LibTorch)
    get_filename_component(LibTorch_LIBRARY_DIR "${LibTorch_LIBRARY}" DIRECTORY)

    # A LibTorch with the string type of before GCC 5 cannot be mixed with OpenFOAM
    execute_process(
        COMMAND ${CMAKE_NM} -D --defined-only "${LibTorch_C10_LIBRARY}"
        OUTPUT_VARIABLE _torchSymbols ERROR_QUIET)
    string(FIND "${_torchSymbols}" "7__cxx11" _torchAbi)
    if(_torchAbi EQUAL -1)
        message(FATAL_ERROR
            "LibTorch in ${LibTorch_LIBRARY_DIR} is built with _GLIBCXX_USE_CXX11_ABI=0, "
            "OpenFOAM with 1. Set LIBTORCH_DIR to a build with the C++11 ABI (PyPI's torch 2.6 "
            "or newer, or a download named 'cxx11 ABI').")
    endif()

    add_library(LibTorch::c10 SHARED IMPORTED)
    set_target_properties(LibTorch::c10 PROPERTIES IMPORTED_LOCATION "${LibTorch_C10_LIBRARY}")

    add_library(LibTorch::LibTorch SHARED IMPORTED)
    set_target_properties(LibTorch::LibTorch PROPERTIES IMPORTED_LOCATION "${LibTorch_LIBRARY}")
    target_link_libraries(LibTorch::LibTorch INTERFACE LibTorch::c10)
    target_include_directories(LibTorch::LibTorch SYSTEM INTERFACE
        "${LibTorch_INCLUDE_DIR}"
        "${LibTorch_INCLUDE_DIR}/torch/csrc/api/include")
    target_compile_definitions(LibTorch::LibTorch INTERFACE _GLIBCXX_USE_CXX11_ABI=1)
endif()
