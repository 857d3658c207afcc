// Fuzz target of values as text: the first byte selects the type, the rest is the value.

#include "sql-lite-frontend/types/fuzzing/values.h"
#include "sql-lite-frontend/types/type.h"

namespace swizzle::sql::fuzzing {
namespace {

void read(std::string_view input) {
  if (input.empty() || !is_text(input.substr(1))) return;
  const auto types = builtin_types();
  const TypeId type = types[static_cast<unsigned char>(input[0]) % types.size()]->id;
  if (has_io(type)) Values{}.read_and_write(type, input.substr(1));
}

}  // namespace
}  // namespace swizzle::sql::fuzzing

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  swizzle::sql::fuzzing::read(swizzle::fuzzing::as_text_of(data, size));
  return 0;
}
