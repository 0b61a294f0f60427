# package.cmake - `cpack` in the build folder makes Debian packages: the shared libraries, what is needed to build against
# them, the command with its manual page, and where MPI was found the module by which the command runs under mpirun.
# What they depend on is read from the files by dpkg-shlibdeps.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME carom)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "The carom authors <carom@carom.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL library io development command)
if(MPI_C_FOUND)
    list(APPEND CPACK_COMPONENTS_ALL ranks)
endif()
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
# libcarom-io needs libcarom, which is not installed yet
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR})
# copyright, changelog and compressed manual pages, which only packages need
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/package_files.cmake)
set(CPACK_CAROM_SOURCE ${PROJECT_SOURCE_DIR})

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libcarom${PROJECT_VERSION_MAJOR})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/debian/triggers)
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "The collision law is the user's choice, and every answer carries a certificate.
This is the shared library.")
set(CPACK_DEBIAN_IO_PACKAGE_NAME libcarom-io${PROJECT_VERSION_MAJOR})
set(CPACK_DEBIAN_IO_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_IO_PACKAGE_DEPENDS "libcarom${PROJECT_VERSION_MAJOR} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_IO_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/debian/triggers)
set(CPACK_COMPONENT_IO_DESCRIPTION "The collision law is the user's choice, and every answer carries a certificate.
This is the shared library that reads scenes and models,
and reads and writes trajectories and problem files.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libcarom-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libcarom${PROJECT_VERSION_MAJOR} (= ${PROJECT_VERSION}), \
libcarom-io${PROJECT_VERSION_MAJOR} (= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
    "The collision law is the user's choice, and every answer carries a certificate.
These are the headers, the static libraries,
and files for pkg-config and CMake.")
set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME carom)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SECTION science)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SUGGESTS "gnuplot-nox, ffmpeg, xdg-utils")
set(CPACK_COMPONENT_COMMAND_DESCRIPTION
    "The collision law is the user's choice, and every answer carries a certificate.
This is the command with its scenes and manual page.")
set(CPACK_DEBIAN_RANKS_PACKAGE_NAME carom-mpi)
set(CPACK_DEBIAN_RANKS_PACKAGE_SECTION science)
set(CPACK_DEBIAN_RANKS_PACKAGE_DEPENDS "carom (= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_RANKS_DESCRIPTION
    "The collision law is the user's choice, and every answer carries a certificate.
This is the command's module for the ranks of mpirun.")
include(CPack)
