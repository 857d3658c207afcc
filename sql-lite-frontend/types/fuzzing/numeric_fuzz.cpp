// Fuzz target of numeric: two numbers, one a line, and arithmetic with them.

#include "sql-lite-frontend/types/fuzzing/values.h"

namespace swizzle::sql::fuzzing {
namespace {

constexpr std::size_t kDigits = 1000;

void reckon(std::string_view text) {
  if (!is_text(text)) return;
  const auto [one, two] = split_lines(text);
  Values values;
  for (const TypeId type : {TypeId::numeric, TypeId::int4, TypeId::int8, TypeId::float8}) {
    values.read_and_write(type, one);
  }
  // With a hundred thousand digits each operation rightly takes seconds.
  if (values.text_of(TypeId::numeric, one).size() > kDigits) return;
  if (values.text_of(TypeId::numeric, two).size() > kDigits) return;
  for (const std::string type : {"::numeric", "::float8", "::int8"}) {
    const std::string a = quoted(one) + type;
    const std::string b = quoted(two) + type;
    for (const char* sign : {"+", "-", "*", "/", "%", "^", "<", "="}) values.evaluate(a + sign + b);
    for (const char* name : {"abs", "ceil", "floor", "round", "sqrt", "ln", "exp", "sign"}) {
      values.evaluate(name + ("(" + a) + ")");
    }
  }
  values.evaluate(quoted(one) + "::numeric::numeric(20,5)");
}

}  // namespace
}  // namespace swizzle::sql::fuzzing

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  swizzle::sql::fuzzing::reckon(swizzle::fuzzing::as_text_of(data, size));
  return 0;
}
