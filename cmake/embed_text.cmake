# embed_text.cmake - writes the text INPUT into the C file OUTPUT as the string SYMBOL.
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
file(WRITE ${OUTPUT} "extern const char ${SYMBOL}[];\nconst char ${SYMBOL}[] = {${bytes}0};\n")
