# SPDX-License-Identifier: GPL-3.0-or-later
#
# Finds an OpenFOAM of openfoam.com (v1912 or newer) in one of two forms:
#   - an installation whose environment is sourced: $WM_PROJECT_DIR/src holds headers;
#   - a distribution's package: libraries in the system's folders, and its sources, unpacked by
#     etc/dependencies, in ${INSITU_DEPENDENCIES}/openfoam-<package version>.
#
# Results
#   OpenFOAM_VERSION          API number, e.g. 1912
#   OpenFOAM_PRECISION        DP | SP | SPDP
#   OpenFOAM_LABEL_SIZE       32 | 64
#   OpenFOAM_SCALAR_SIZE, OpenFOAM_SOLVE_SCALAR_SIZE    bits that follow from the precision
#   OpenFOAM_ORIGIN           words for the summary
#   OpenFOAM::<component>     imported library for each component, OpenFOAM::OpenFOAM always;
#                             headers are system includes, the flags are those of the installation
#
# Nothing is cached: a change of environment is seen by the next configuration.

set(_foamSrc "")
set(_foamLibDirs "")
set(_foamReason "")

if(DEFINED ENV{WM_PROJECT_DIR} AND EXISTS "$ENV{WM_PROJECT_DIR}/src/OpenFOAM/lnInclude")
    set(_foamSrc "$ENV{WM_PROJECT_DIR}/src")
    set(_foamInfo "$ENV{WM_PROJECT_DIR}/META-INFO/api-info")
    set(_foamLibDirs "$ENV{FOAM_LIBBIN}" "$ENV{FOAM_LIBBIN}/$ENV{FOAM_MPI}")
    set(OpenFOAM_VERSION "$ENV{FOAM_API}")
    set(OpenFOAM_PRECISION "$ENV{WM_PRECISION_OPTION}")
    set(OpenFOAM_LABEL_SIZE "$ENV{WM_LABEL_SIZE}")
    set(OpenFOAM_ORIGIN "environment, $ENV{WM_PROJECT_DIR}")
else()
    execute_process(
        COMMAND dpkg-query -W -f "\${source:Version}" openfoam
        OUTPUT_VARIABLE _foamPackage OUTPUT_STRIP_TRAILING_WHITESPACE
        RESULT_VARIABLE _foamStatus ERROR_QUIET)
    if(_foamStatus EQUAL 0 AND _foamPackage)
        set(_foamRoot "${INSITU_DEPENDENCIES}/openfoam-${_foamPackage}")
        set(_foamSrc "${_foamRoot}/src")
        set(_foamInfo "${_foamRoot}/META-INFO/api-info")
        set(_foamLibDirs "")
        set(OpenFOAM_VERSION "")
        # Debian and Ubuntu build their package with these two only (its debian/rules)
        set(OpenFOAM_PRECISION DP)
        set(OpenFOAM_LABEL_SIZE 32)
        set(OpenFOAM_ORIGIN "package openfoam ${_foamPackage}")
    else()
        set(_foamReason
            "no OpenFOAM environment is sourced and no package 'openfoam' is installed")
    endif()
endif()

if(_foamSrc AND NOT EXISTS "${_foamSrc}/OpenFOAM/lnInclude")
    set(_foamReason "${_foamSrc}/OpenFOAM/lnInclude is missing: run etc/dependencies")
    set(_foamSrc "")
endif()

if(_foamSrc AND NOT OpenFOAM_VERSION AND EXISTS "${_foamInfo}")
    file(STRINGS "${_foamInfo}" _foamApi REGEX "^api=[0-9]+")
    string(REGEX REPLACE "^api=" "" OpenFOAM_VERSION "${_foamApi}")
endif()

if(_foamSrc AND (NOT OpenFOAM_VERSION OR OpenFOAM_VERSION VERSION_LESS 1912))
    set(_foamReason
        "OpenFOAM v1912 or newer from openfoam.com is needed, not '${OpenFOAM_VERSION}'")
    set(_foamSrc "")
endif()

set(OpenFOAM_SCALAR_SIZE 32)
set(OpenFOAM_SOLVE_SCALAR_SIZE 32)
if(OpenFOAM_PRECISION STREQUAL "DP")
    set(OpenFOAM_SCALAR_SIZE 64)
endif()
if(OpenFOAM_PRECISION MATCHES "DP$")
    set(OpenFOAM_SOLVE_SCALAR_SIZE 64)
endif()

# The imported library <component> with the headers of src/<folder>/lnInclude
function(_foam_component component)
    unset(library)
    if(_foamLibDirs)
        find_library(library ${component} PATHS ${_foamLibDirs} NO_DEFAULT_PATH NO_CACHE)
    else()
        find_library(library ${component} PATH_SUFFIXES openfoam NO_CACHE)
    endif()

    if(NOT library)
        set(OpenFOAM_${component}_FOUND FALSE PARENT_SCOPE)
        return()
    endif()

    if(NOT TARGET OpenFOAM::${component})
        add_library(OpenFOAM::${component} SHARED IMPORTED)
        # OpenFOAM's libraries are linked without soname
        set_target_properties(OpenFOAM::${component} PROPERTIES
            IMPORTED_LOCATION "${library}"
            IMPORTED_NO_SONAME TRUE)
        set(headers "${_foamSrc}/${component}/lnInclude")
        if(EXISTS "${headers}")
            target_include_directories(OpenFOAM::${component} SYSTEM INTERFACE "${headers}")
        endif()
    endif()
    set(OpenFOAM_${component}_FOUND TRUE PARENT_SCOPE)
endfunction()

if(_foamSrc)
    set(_foamComponents OpenFOAM Pstream ${OpenFOAM_FIND_COMPONENTS})
    list(REMOVE_DUPLICATES _foamComponents)
    foreach(_component IN LISTS _foamComponents)
        _foam_component(${_component})
    endforeach()

    if(TARGET OpenFOAM::OpenFOAM AND TARGET OpenFOAM::Pstream)
        target_include_directories(OpenFOAM::OpenFOAM SYSTEM INTERFACE
            "${_foamSrc}/OSspecific/POSIX/lnInclude")
        target_compile_definitions(OpenFOAM::OpenFOAM INTERFACE
            NoRepository
            OPENFOAM=${OpenFOAM_VERSION}
            WM_${OpenFOAM_PRECISION}
            WM_LABEL_SIZE=${OpenFOAM_LABEL_SIZE})
        # Headers hide members of base classes on purpose all over OpenFOAM
        target_compile_options(OpenFOAM::OpenFOAM INTERFACE -Wno-overloaded-virtual)
        # libPstream implements the UPstream that libOpenFOAM and its users refer to
        target_link_libraries(OpenFOAM::OpenFOAM INTERFACE OpenFOAM::Pstream)
        foreach(_component IN LISTS OpenFOAM_FIND_COMPONENTS)
            if(TARGET OpenFOAM::${_component} AND NOT _component STREQUAL "OpenFOAM")
                target_link_libraries(OpenFOAM::${_component} INTERFACE OpenFOAM::OpenFOAM)
            endif()
        endforeach()
    endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OpenFOAM
    REQUIRED_VARS _foamSrc OpenFOAM_PRECISION OpenFOAM_LABEL_SIZE
    VERSION_VAR OpenFOAM_VERSION
    HANDLE_COMPONENTS
    REASON_FAILURE_MESSAGE "${_foamReason}")
