# harden.cmake - flags that make memory errors harder to exploit, where the compiler and linker have them.
#
# Sets CAROM_HARDEN_COMPILE and CAROM_HARDEN_LINK: a guard on stack frames that hold arrays, probes of large frames,
# checked string functions in optimised builds, executables at random addresses, and tables of functions that are
# read-only once the program has started. Sanitizers check more than these do and get none of them.
set(CAROM_HARDEN_COMPILE)
set(CAROM_HARDEN_LINK)
if(CAROM_SANITIZE OR MINGW)
    # gcc 12 for Windows crashes on probes of large frames, and its checked functions need another library
    return()
endif()
include(CheckCCompilerFlag)
include(CheckLinkerFlag)
include(CheckPIESupported)
check_pie_supported(LANGUAGES C)
if(CMAKE_C_LINK_PIE_SUPPORTED)
    set(CMAKE_POSITION_INDEPENDENT_CODE ON)
endif()
check_c_compiler_flag(-fstack-protector-strong CAROM_HAS_STACK_PROTECTOR)
if(CAROM_HAS_STACK_PROTECTOR)
    list(APPEND CAROM_HARDEN_COMPILE -fstack-protector-strong)
endif()
check_c_compiler_flag(-fstack-clash-protection CAROM_HAS_STACK_CLASH)
if(CAROM_HAS_STACK_CLASH)
    list(APPEND CAROM_HARDEN_COMPILE -fstack-clash-protection)
endif()
# the C library ignores it, with a warning, where nothing is optimised; some compilers define it themselves
list(APPEND CAROM_HARDEN_COMPILE $<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE>
    $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=2>)
check_linker_flag(C "LINKER:-z,relro,-z,now" CAROM_HAS_RELRO)
if(CAROM_HAS_RELRO)
    list(APPEND CAROM_HARDEN_LINK "LINKER:-z,relro,-z,now")
endif()
