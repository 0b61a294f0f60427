# embed_text.cmake - writes the text INPUT into the C file OUTPUT as the string SYMBOL.
include(${CMAKE_CURRENT_LIST_DIR}/c_text.cmake)
c_text(text ${INPUT})
file(WRITE ${OUTPUT} "${C_TEXT_HEAD}extern const char ${SYMBOL}[];\nconst char ${SYMBOL}[] = ${text};\n")
