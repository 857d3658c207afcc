#include "sql-lite-frontend/types/network.h"

#include "sql-lite-frontend/types/functions/entries.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

Value host(FunctionContext& context, Arguments a) {
  std::string out;
  append_host(network_address(a[0]), out);
  return make_text(context.arena, out);
}
/// With the mask, always.
Value text_of(FunctionContext& context, Arguments a) {
  const NetworkAddress address = network_address(a[0]);
  std::string out;
  append_host(address, out);
  return make_text(context.arena, out + "/" + std::to_string(address.bits));
}
Value mask_length(FunctionContext&, Arguments a) {
  return Value::from_int(network_address(a[0]).bits);
}
Value family(FunctionContext&, Arguments a) {
  return Value::from_int(family_number(network_address(a[0])));
}

constexpr ScalarEntry kEntries[] = {
    {"host(inet)", &host},
    {"text(inet)", &text_of},
    {"masklen(inet)", &mask_length},
    {"family(inet)", &family},
};

}  // namespace

std::span<const ScalarEntry> network_functions() {
  return kEntries;
}

}  // namespace swizzle::sql
