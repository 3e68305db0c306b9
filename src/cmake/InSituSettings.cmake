# SPDX-License-Identifier: GPL-3.0-or-later
#
# How everything is compiled and where the results lie.

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Release | Debug" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:-Wall;-Wextra>")
# As needed: HDF5's list of libraries is longer than what a shared HDF5 asks of its users
add_link_options(-Wl,--no-undefined -Wl,--as-needed)

# Libraries and programs find each other from any folder
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")

if(DEFINED ENV{INSITU_DEPENDENCIES})
    set(INSITU_DEPENDENCIES "$ENV{INSITU_DEPENDENCIES}")
elseif(DEFINED ENV{XDG_CACHE_HOME})
    set(INSITU_DEPENDENCIES "$ENV{XDG_CACHE_HOME}/inSituFoam")
else()
    set(INSITU_DEPENDENCIES "$ENV{HOME}/.cache/inSituFoam")
endif()
