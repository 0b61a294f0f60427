# package_files.cmake - run by cpack on what it is about to pack: each package gets its copyright and changelog, and manual
# pages are compressed. The date is that of CHANGELOG.md, so that the same sources make the same files.
set(packages library libcarom0 io libcarom-io0 development libcarom-dev command carom ranks carom-mpi)
string(REPLACE "libcarom0" "${CPACK_DEBIAN_LIBRARY_PACKAGE_NAME}" packages "${packages}")
string(REPLACE "libcarom-io0" "${CPACK_DEBIAN_IO_PACKAGE_NAME}" packages "${packages}")
file(TIMESTAMP ${CPACK_CAROM_SOURCE}/CHANGELOG.md date "%a, %d %b %Y %H:%M:%S +0000" UTC)
while(packages)
    list(POP_FRONT packages component package)
    set(root ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${component}/usr)
    if(NOT EXISTS ${root})
        continue()
    endif()
    set(doc ${root}/share/doc/${package})
    file(READ ${CPACK_CAROM_SOURCE}/LICENSE license)
    file(WRITE ${doc}/copyright "${license}")
    file(WRITE ${doc}/changelog "carom (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * What changed is in CHANGELOG.md of the sources.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
    if(component MATCHES "^(library|io)$")
        file(WRITE ${root}/share/lintian/overrides/${package}
            "# cpack calls ldconfig where a trigger would do\n${package}: maintscript-calls-ldconfig *\n")
    endif()
    if(component STREQUAL ranks)
        file(WRITE ${root}/share/lintian/overrides/${package}
            "# it calls MPI alone\n${package}: library-not-linked-against-libc *\n")
    endif()
    file(GLOB_RECURSE pages ${root}/share/man/*.[1-9])
    execute_process(COMMAND gzip -9nf ${doc}/changelog ${pages} COMMAND_ERROR_IS_FATAL ANY)
endwhile()
