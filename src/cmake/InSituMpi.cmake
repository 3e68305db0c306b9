# SPDX-License-Identifier: GPL-3.0-or-later
#
# MPI for runs on many ranks. It must be the one that OpenFOAM's libPstream is linked to: a process
# with two of them ends in odd places.
#
# Results
#   INSITU_HAS_MPI      whether there is one to build with
#   INSITU_MPI          words for the summary
#   MPI::MPI_CXX, MPIEXEC_EXECUTABLE    as FindMPI defines them

# Only the C interface is used
set(MPI_CXX_SKIP_MPICXX ON)
find_package(MPI QUIET COMPONENTS CXX)

# insitu_library_entries(<result> <library> NEEDED|SONAME): what its dynamic section names
function(insitu_library_entries result library entry)
    execute_process(COMMAND "${CMAKE_OBJDUMP}" -p "${library}"
        OUTPUT_VARIABLE _section ERROR_QUIET)
    string(REGEX MATCHALL "${entry} +[^\n]+" _lines "${_section}")
    list(TRANSFORM _lines REPLACE "^${entry} +" "")
    set(${result} "${_lines}" PARENT_SCOPE)
endfunction()

get_target_property(_pstream OpenFOAM::Pstream IMPORTED_LOCATION)
insitu_library_entries(_needed "${_pstream}" NEEDED)
list(FILTER _needed INCLUDE REGEX "mpi")

set(_found "")
foreach(_library IN LISTS MPI_CXX_LIBRARIES)
    insitu_library_entries(_soname "${_library}" SONAME)
    list(APPEND _found ${_soname})
endforeach()

set(INSITU_HAS_MPI FALSE)
if(NOT MPI_CXX_FOUND)
    set(INSITU_MPI "not found: serial runs only")
elseif(MPI_CXX_VERSION VERSION_LESS 3)
    set(INSITU_MPI "standard ${MPI_CXX_VERSION} is too old, 3.0 is needed: serial runs only")
elseif(NOT _needed)
    set(INSITU_MPI "OpenFOAM's libPstream has none: serial runs only")
else()
    set(_common "")
    foreach(_name IN LISTS _needed)
        if(_name IN_LIST _found)
            list(APPEND _common "${_name}")
        endif()
    endforeach()
    if(NOT _common)
        list(JOIN _needed " " _needed)
        list(JOIN _found " " _found)
        message(FATAL_ERROR
            "Two MPIs: OpenFOAM's ${_pstream} is linked to ${_needed}, but the compiler wrapper "
            "${MPI_CXX_COMPILER} links to ${_found} (${MPI_CXX_LIBRARIES}). Put the wrapper of "
            "OpenFOAM's MPI first in PATH, or let MPI_HOME name its folder, and remove "
            "${CMAKE_BINARY_DIR}/CMakeCache.txt.")
    endif()
    set(INSITU_HAS_MPI TRUE)
    list(GET _common 0 _common)
    set(INSITU_MPI "standard ${MPI_CXX_VERSION}, ${_common} as OpenFOAM")
endif()
