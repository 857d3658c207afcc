#include "server/protocol/client_text.h"

#include "base/runtime/runtime.h"
#include "base/utf8.h"
#include "server/protocol/sqlstates.h"

namespace swizzle::server {
namespace {

/// Runs work on a text, a long one's on a helper thread.
template <class Work>
void for_text(std::size_t bytes, std::size_t is_long, const Work& work) {
  if (bytes < is_long) {
    work();
  } else {
    Runtime::current().run_aside(work);
  }
}

}  // namespace

Result<> check_text(std::string_view text) {
  constexpr std::size_t kLong = std::size_t{1} << 20U;
  std::size_t valid = 0;
  for_text(text.size(), kLong, [&] { valid = valid_utf8(text); });
  if (valid == text.size()) return {};
  return fail(state::character_not_in_repertoire, invalid_utf8_message(text.substr(valid)));
}

Result<> ClientText::convert(std::string_view& text) {
  constexpr std::size_t kLong = std::size_t{1} << 16U;
  const std::size_t most = EncodingTable::kMostDecodedGrowth * text.size();
  RETURN_IF_ERROR(memory_.take(most + sizeof(std::string)));
  std::string& converted = texts_.emplace_front();
  Result<> result;
  for_text(text.size(), kLong, [&] {
    // Growing by itself, a long text would take more than what is counted.
    if (text.size() >= kLong) converted.reserve(most);
    result = encoding_->decode(text, converted);
  });
  memory_.give_back(most - converted.size());
  text = converted;
  return result;
}

}  // namespace swizzle::server
