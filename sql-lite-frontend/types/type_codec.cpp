#include "sql-lite-frontend/types/type_codec.h"

namespace swizzle::sql {

void BinaryReader::too_short() {
  throw SqlError{sqlstate::protocol_violation, "insufficient data left in message"};
}
void BinaryReader::too_long() {
  throw SqlError{sqlstate::invalid_binary_representation, "incorrect binary data format"};
}

void throw_invalid_syntax(TypeId type, std::string_view text) {
  throw_error(sqlstate::invalid_text_representation, "invalid input syntax for type {}: \"{}\"",
              format_type(type), text);
}

void throw_out_of_range(TypeId type) {
  throw_error(sqlstate::numeric_value_out_of_range, "{} out of range", format_type(type));
}

}  // namespace swizzle::sql
