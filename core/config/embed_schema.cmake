# Writes OUTPUT, a C++ source that holds the JSON of SCHEMA: the program needs no file at run time.
file(READ ${SCHEMA} text)
file(WRITE ${OUTPUT} "#include \"config/schema.hpp\"

namespace ringscope::config {

const char* const schema_text = R\"schema(${text})schema\";

}  // namespace ringscope::config
")
