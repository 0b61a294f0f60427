# c_text(VARIABLE PATH) - sets VARIABLE to the text of a file as a C string literal, one line of source per line of text. Compilers
# read it a hundred times faster than a list of bytes. Question marks are escaped because "??" begins a trigraph.
# C_TEXT_HEAD goes before such literals: they are longer than the 4095 characters that the standard promises.
set(C_TEXT_HEAD "#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n")
function(c_text variable path)
    file(READ ${path} text)
    string(REPLACE "\\" "\\\\" text "${text}")
    string(REPLACE "\"" "\\\"" text "${text}")
    string(REPLACE "?" "\\?" text "${text}")
    string(REPLACE "\n" "\\n\"\n\"" text "${text}")
    set(${variable} "\"${text}\"" PARENT_SCOPE)
endfunction()
