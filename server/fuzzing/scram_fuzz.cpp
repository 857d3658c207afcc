// Fuzz target of SCRAM: the client's two messages, one a line, and stored verifiers.

#include "base/fuzzing/input.h"
#include "base/invariant.h"
#include "server/auth/scram_exchange.h"

namespace swizzle::server {
namespace {

const ScramVerifier& verifier() {
  static const ScramVerifier known = ScramVerifier::derive("pencil", "0123456789abcdef", 1);
  return known;
}

void talk(std::string_view text) {
  const std::size_t end = text.find('\n');
  const std::string_view first = text.substr(0, end);
  const std::string_view last = end == std::string_view::npos ? "" : text.substr(end + 1);
  for (const auto& hash : {std::optional<std::string>{}, std::optional<std::string>{"hash"}}) {
    for (const std::string_view mechanism : {kScramSha256, kScramSha256Plus}) {
      ScramExchange exchange{verifier(), hash, "servernonce"};
      if (!exchange.begin(mechanism, first)) continue;
      // The input does not know the password, so it must not succeed.
      INVARIANT(!exchange.finish(last));
    }
  }
  if (const auto stored = ScramVerifier::from_text(first)) {
    INVARIANT(ScramVerifier::from_text(stored->text())->text() == stored->text());
  }
}

}  // namespace
}  // namespace swizzle::server

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  swizzle::server::talk(swizzle::fuzzing::as_text_of(data, size));
  return 0;
}
