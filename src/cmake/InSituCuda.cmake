# SPDX-License-Identifier: GPL-3.0-or-later
#
# NVIDIA's GPUs: a toolkit with nvcc, and a LibTorch that was built with CUDA. Its own libraries are
# used, not the toolkit's: cuBLAS comes in parts, which must be of one version.
#
# Results
#   INSITU_HAS_CUDA           whether there is all that libinSituCuda needs; the language CUDA then
#   INSITU_CUDA               words for the summary
#   INSITU_NVTX_INCLUDE_DIR   headers for ranges in NVIDIA's profilers, if there are
#   LibTorch::cuda            imported library: libtorch_cuda and what belongs to it
#   LibTorch::nccl            NCCL, if LibTorch brings it and its header: several ranks need it
#   LibTorch_CUDA_LIBRARY_DIRS    folders for the run path

set(INSITU_HAS_CUDA FALSE)
find_package(CUDAToolkit QUIET)
if(NOT CUDAToolkit_FOUND)
    set(INSITU_CUDA "not found: CPU-only build")
    return()
endif()

find_path(INSITU_NVTX_INCLUDE_DIR nvtx3/nvToolsExt.h
    PATHS ${CUDAToolkit_INCLUDE_DIRS} NO_DEFAULT_PATH NO_CACHE)
set(INSITU_CUDA "toolkit ${CUDAToolkit_VERSION} (NVTX ranges); CPU-only build:")

if(NOT CUDAToolkit_NVCC_EXECUTABLE)
    string(APPEND INSITU_CUDA " no nvcc")
    return()
endif()

file(GLOB _cudaDirs "${LibTorch_LIBRARY_DIR}/../../nvidia/*/lib")
list(INSERT _cudaDirs 0 "${LibTorch_LIBRARY_DIR}")
set(_major "${CUDAToolkit_VERSION_MAJOR}")
function(_cuda_library result)
    find_library(${result} NAMES ${ARGN} PATHS ${_cudaDirs} NO_DEFAULT_PATH NO_CACHE)
    set(${result} "${${result}}" PARENT_SCOPE)
endfunction()
_cuda_library(_cudaTorch torch_cuda)
_cuda_library(_cudaC10 c10_cuda)
_cuda_library(_cudaRuntime libcudart.so.${_major})
_cuda_library(_cudaBlasLt libcublasLt.so.${_major})

if(NOT _cudaTorch OR NOT _cudaC10)
    string(APPEND INSITU_CUDA " LibTorch has no CUDA")
    return()
endif()
if(NOT _cudaRuntime OR NOT _cudaBlasLt)
    string(APPEND INSITU_CUDA " LibTorch brings no libcudart.so.${_major}; choose a toolkit of"
        " LibTorch's version of CUDA")
    return()
endif()

_cuda_library(_cudaNccl libnccl.so.2)
unset(_cudaNcclInclude)
if(_cudaNccl)
    get_filename_component(_folder "${_cudaNccl}" DIRECTORY)
    find_path(_cudaNcclInclude nccl.h PATHS "${_folder}/../include" NO_DEFAULT_PATH NO_CACHE)
endif()

set(LibTorch_CUDA_LIBRARY_DIRS "")
foreach(_library IN ITEMS "${_cudaRuntime}" "${_cudaBlasLt}" ${_cudaNccl})
    get_filename_component(_folder "${_library}" DIRECTORY)
    list(APPEND LibTorch_CUDA_LIBRARY_DIRS "${_folder}")
endforeach()
list(REMOVE_DUPLICATES LibTorch_CUDA_LIBRARY_DIRS)

if(NOT TARGET LibTorch::cuda)
    add_library(LibTorch::cuda INTERFACE IMPORTED)
    # Operators register themselves when libtorch_cuda is loaded, without a symbol that asks for it
    target_link_libraries(LibTorch::cuda INTERFACE LibTorch::LibTorch
        -Wl,--push-state,--no-as-needed "${_cudaTorch}" -Wl,--pop-state
        "${_cudaC10}" "${_cudaRuntime}" "${_cudaBlasLt}")
    target_include_directories(LibTorch::cuda SYSTEM INTERFACE ${CUDAToolkit_INCLUDE_DIRS})
endif()

if(_cudaNcclInclude AND NOT TARGET LibTorch::nccl)
    add_library(LibTorch::nccl INTERFACE IMPORTED)
    target_link_libraries(LibTorch::nccl INTERFACE "${_cudaNccl}")
    target_include_directories(LibTorch::nccl SYSTEM INTERFACE "${_cudaNcclInclude}")
    target_compile_definitions(LibTorch::nccl INTERFACE INSITU_HAS_NCCL)
endif()

# Ampere and Hopper; the driver compiles for younger ones when a program starts
if(NOT DEFINED CMAKE_CUDA_COMPILER)
    set(CMAKE_CUDA_COMPILER "${CUDAToolkit_NVCC_EXECUTABLE}")
endif()
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 80-real 90)
endif()
set(CMAKE_CUDA_STANDARD 17)
set(CMAKE_CUDA_FLAGS_RELEASE "-O3 -DNDEBUG")
set(CMAKE_CUDA_RUNTIME_LIBRARY None)
enable_language(CUDA)
set(INSITU_HAS_CUDA TRUE)
set(INSITU_CUDA "toolkit ${CUDAToolkit_VERSION} (GPUs, NVTX ranges")
if(TARGET LibTorch::nccl)
    string(APPEND INSITU_CUDA ", NCCL")
endif()
string(APPEND INSITU_CUDA ")")
