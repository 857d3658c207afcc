#include <openssl/rand.h>

#include <chrono>
#include <cstdlib>

#include "sql-lite-frontend/types/datetime/datetime.h"
#include "sql-lite-frontend/types/function_context.h"
#include "sql-lite-frontend/types/regex/regex.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {

struct SessionContext::RegexCache {
  static constexpr std::size_t kMaxEntries = 128;
  std::unordered_map<std::string, std::unique_ptr<CompiledRegex>> entries;
};

SessionContext::SessionContext() = default;
SessionContext::~SessionContext() = default;

const CompiledRegex& SessionContext::regex(std::string_view pattern, std::string_view flags) {
  if (!regex_cache_) regex_cache_ = std::make_unique<RegexCache>();
  std::string key{flags};
  key.push_back('\0');
  key += pattern;
  auto& entries = regex_cache_->entries;
  if (const auto found = entries.find(key); found != entries.end()) return *found->second;
  auto compiled = std::make_unique<CompiledRegex>(pattern, flags);
  // Patterns taken from rows would fill the cache without end, so it is cleared when full.
  if (entries.size() >= RegexCache::kMaxEntries) entries.clear();
  return *entries.emplace(std::move(key), std::move(compiled)).first->second;
}

std::int64_t SessionContext::system_clock_now() {
  const auto since_unix = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(since_unix).count() -
         kUnixEpochSeconds * kMicrosPerSecond;
}

void SessionContext::system_random_bytes(std::span<std::byte> out) {
  if (RAND_bytes(reinterpret_cast<unsigned char*>(out.data()), static_cast<int>(out.size())) != 1)
    throw SqlError{sqlstate::internal_error, "could not generate random values"};
}

}  // namespace swizzle::sql
