// Authentication rules, as an administrator might have mangled them.

#include "base/fuzzing/input.h"
#include "base/invariant.h"
#include "server/auth/hba.h"

namespace swizzle::server {
namespace {

void read(std::string_view text) {
  const auto rules = HbaRules::parse(text);
  if (!rules) return;
  for (const HbaRule& rule : rules->rules()) {
    // Trust must never apply to connections from elsewhere.
    if (rule.method != AuthMethod::trust || rule.type == HbaRule::Type::local) continue;
    INVARIANT(rule.network && rule.network->is_loopback());
  }
  for (const char* from : {"127.0.0.1", "10.1.2.3", "::1", "2001:db8::1"}) {
    for (const Transport transport : {Transport::tcp, Transport::tls, Transport::unix_socket}) {
      static_cast<void>(rules->find({transport, IpAddress::parse(from), "postgres", "ann"}));
    }
  }
}

}  // namespace
}  // namespace swizzle::server

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  swizzle::server::read(swizzle::fuzzing::as_text_of(data, size));
  return 0;
}
