// Fuzz target of dates, times and intervals as text: two of them, one a line.

#include "sql-lite-frontend/types/fuzzing/values.h"

namespace swizzle::sql::fuzzing {
namespace {

void read(std::string_view text) {
  if (!is_text(text)) return;
  const auto [one, two] = split_lines(text);
  Values values;
  for (const TypeId type : {TypeId::date, TypeId::time, TypeId::timetz, TypeId::timestamp,
                            TypeId::timestamptz, TypeId::interval}) {
    values.read_and_write(type, one);
  }
  const std::string interval = quoted(two) + "::interval";
  for (const std::string type : {"::date", "::timestamp", "::timestamptz", "::interval"}) {
    const std::string a = quoted(one) + type;
    values.evaluate(a + "+" + interval);
    values.evaluate(a + "-" + interval);
    values.evaluate("date_trunc(" + quoted(two) + ", " + a + ")");
    values.evaluate("date_part(" + quoted(two) + ", " + a + ")");
  }
  values.evaluate("age(" + quoted(one) + "::timestamp, " + quoted(two) + "::timestamp)");
  values.evaluate("timezone(" + quoted(two) + ", " + quoted(one) + "::timestamptz)");
}

}  // namespace
}  // namespace swizzle::sql::fuzzing

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  swizzle::sql::fuzzing::read(swizzle::fuzzing::as_text_of(data, size));
  return 0;
}
