# embed_schema.cmake - writes the text INPUT into the C file OUTPUT as cr_scene_schema.
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
file(WRITE ${OUTPUT} "extern const char cr_scene_schema[];\nconst char cr_scene_schema[] = {${bytes}0};\n")
