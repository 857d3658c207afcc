// Fuzz target of binary values in Bind: the first byte selects the type, the rest is the value.

#include "sql-lite-frontend/types/fuzzing/values.h"
#include "sql-lite-frontend/types/type.h"

namespace swizzle::sql::fuzzing {
namespace {

void receive(Bytes bytes) {
  if (bytes.empty()) return;
  const auto types = builtin_types();
  const TypeId type = types[std::to_integer<std::size_t>(bytes[0]) % types.size()]->id;
  if (!has_io(type)) return;
  Values values;
  Values::attempt([&] {
    const Value value = receive_binary(values.context(), type, kNoTypmod, bytes.subspan(1));
    const std::string written = to_text(values.context(), type, value);
    std::string sent;
    send_binary(values.context(), type, value, sent);
    const Value again = receive_binary(values.context(), type, kNoTypmod, as_bytes(sent));
    // Output drops the first newline of XML without a declaration each time, as in PostgreSQL.
    INVARIANT(type == TypeId::xml || to_text(values.context(), type, again) == written);
  });
}

}  // namespace
}  // namespace swizzle::sql::fuzzing

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  swizzle::sql::fuzzing::receive(swizzle::fuzzing::as_bytes_of(data, size));
  return 0;
}
