#pragma once

#include <forward_list>
#include <string>
#include <string_view>

#include "base/encodings/encoding_table.h"
#include "base/result.h"
#include "sql-lite-frontend/types/request_memory.h"

namespace swizzle::server {

/// Checks that a text of a message is UTF-8. 22021 if it is not.
Result<> check_text(std::string_view text);

/// Converts the texts of one message of a client whose encoding is not UTF-8. They count as memory
/// of the session.
class ClientText {
 public:
  explicit ClientText(sql::MemoryAccount& session) noexcept : memory_(session) {}

  /// Begins a message. The texts of the previous one are gone.
  void begin(const EncodingTable& encoding) noexcept {
    encoding_ = &encoding;
    clear();
  }
  /// Frees the texts of the message.
  void clear() noexcept {
    if (texts_.empty()) [[likely]]
      return;
    texts_.clear();
    memory_.give_back(memory_.taken());
  }
  /// Replaces a text by the same in UTF-8. 22021, 22P05, 53200.
  Result<> convert(std::string_view& text);

 private:
  const EncodingTable* encoding_ = nullptr;
  /// Views of texts point into it.
  std::forward_list<std::string> texts_;
  sql::RequestMemory memory_;
};

/// Checks a text of a message, or converts it if the client's encoding is another: `client` is null
/// for UTF-8.
inline Result<> read_text(std::string_view& text, ClientText* client) {
  return client == nullptr ? check_text(text) : client->convert(text);
}

}  // namespace swizzle::server
