# kind_lists.h: the files law_*.c, rule_*.c and solver_*.c of src/resolve as lists for the preprocessor. Each of these
# files defines the row of its kind, so a new file is a new law, rule or solver, and there is no list to edit.
# Included by CMakeLists.txt, or: cmake -DSOURCE=FOLDER -DOUTPUT=FILE -P cmake/kind_lists.cmake
set(text "// made by cmake/kind_lists.cmake of the files of src/resolve\n")
foreach(kind law rule solver)
    file(GLOB files CONFIGURE_DEPENDS ${SOURCE}/src/resolve/${kind}_*.c)
    list(SORT files)
    string(TOUPPER ${kind} upper)
    string(APPEND text "#define CR__${upper}S(X)")
    foreach(file ${files})
        get_filename_component(name ${file} NAME_WE)
        string(REPLACE "${kind}_" "" name ${name})
        string(APPEND text " X(${name})")
    endforeach()
    string(APPEND text "\n")
endforeach()
# written only where it changed: nothing is compiled anew for it
set(before "")
if(EXISTS ${OUTPUT})
    file(READ ${OUTPUT} before)
endif()
if(NOT text STREQUAL before)
    file(WRITE ${OUTPUT} "${text}")
endif()
