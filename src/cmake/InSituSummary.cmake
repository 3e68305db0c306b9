# SPDX-License-Identifier: GPL-3.0-or-later
#
# Writes summary.txt into the build folder: what was found. Allwmake prints it.

set(_summary "")
function(_summary_line name value)
    string(LENGTH "${name}" length)
    math(EXPR width "14 - ${length}")
    string(REPEAT " " ${width} gap)
    set(_summary "${_summary}    ${name}${gap}${value}\n" PARENT_SCOPE)
endfunction()

if(GTest_FOUND)
    set(_gtest "${GTest_VERSION}")
else()
    set(_gtest "not found: no tests")
endif()
if(benchmark_FOUND)
    set(_benchmark "${benchmark_VERSION}")
else()
    set(_benchmark "not found: no benchmarks")
endif()

_summary_line("inSituFoam" "${INSITU_VERSION}")
_summary_line("OpenFOAM" "v${OpenFOAM_VERSION} (${OpenFOAM_ORIGIN})")
_summary_line("  precision" "${OpenFOAM_PRECISION}")
_summary_line("  label width" "${OpenFOAM_LABEL_SIZE}")
_summary_line("LibTorch" "${LibTorch_VERSION} (${LibTorch_LIBRARY_DIR})")
_summary_line("CUDA" "${INSITU_CUDA}")
_summary_line("MPI" "${INSITU_MPI}")
_summary_line("HDF5" "${HDF5_VERSION}")
_summary_line("yaml-cpp" "${yaml-cpp_VERSION}")
_summary_line("libarchive" "${LibArchive_VERSION}")
_summary_line("GoogleTest" "${_gtest}")
_summary_line("benchmark" "${_benchmark}")
_summary_line("compiler" "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")

file(WRITE "${CMAKE_BINARY_DIR}/summary.txt" "${_summary}")
