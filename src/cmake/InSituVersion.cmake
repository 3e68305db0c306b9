# SPDX-License-Identifier: GPL-3.0-or-later
#
# Writes inSituVersion.hpp: INSITU_VERSION, the project's version and git's description of the source.

set(INSITU_VERSION "${PROJECT_VERSION}")

find_package(Git QUIET)
if(GIT_FOUND)
    execute_process(
        COMMAND ${GIT_EXECUTABLE} describe --always --dirty
        WORKING_DIRECTORY "${INSITU_TOP}"
        OUTPUT_VARIABLE _description OUTPUT_STRIP_TRAILING_WHITESPACE
        RESULT_VARIABLE _status ERROR_QUIET)
    if(_status EQUAL 0)
        string(APPEND INSITU_VERSION "+${_description}")
    endif()
endif()

configure_file("${CMAKE_CURRENT_LIST_DIR}/inSituVersion.hpp.in"
    "${CMAKE_BINARY_DIR}/generated/inSituVersion.hpp" @ONLY)
