# SPDX-License-Identifier: GPL-3.0-or-later
#
# Everything that is not ours. etc/dependencies installs it, or says which variable points to a copy.

find_package(Threads REQUIRED)

find_package(OpenFOAM 1912 REQUIRED
    COMPONENTS OpenFOAM fileFormats surfMesh meshTools finiteVolume fvOptions dynamicMesh
    dynamicFvMesh)
find_package(LibTorch 2.1 REQUIRED)

set(HDF5_PREFER_PARALLEL FALSE)
find_package(HDF5 REQUIRED COMPONENTS C)

find_package(yaml-cpp REQUIRED HINTS "$ENV{YAML_CPP_DIR}")
if(NOT TARGET yaml-cpp::yaml-cpp)
    # The name of before version 0.8
    add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
endif()

find_package(LibArchive REQUIRED)

include(InSituMpi)

include(InSituCuda)

find_package(GTest QUIET)
find_package(benchmark QUIET)
