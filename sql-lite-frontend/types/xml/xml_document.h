#pragma once

#include <libxml/parser.h>
#include <libxml/tree.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/runtime/runtime.h"
#include "sql-lite-frontend/types/arena.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/xml/xml_option.h"

/// XML as libxml2 reads it: well-formedness, documents for XPath. Nothing from outside the text is
/// ever read. The memory that a text may need counts before it is parsed. Work on more than a
/// little runs on a helper thread, since the library cannot let go.
namespace swizzle::sql::xml {

inline constexpr SqlState kInvalidDocument{"2200M"};
inline constexpr SqlState kInvalidContent{"2200N"};

/// Runs `work`, aside where the library has to go through so many bytes.
template <class Work>
auto for_library(std::size_t bytes, Work&& work) -> decltype(work()) {
  constexpr std::size_t kFewBytes = std::size_t{8} << 10U;
  if (bytes < kFewBytes) return work();
  std::optional<decltype(work())> result;
  Runtime::current().run_aside([&] { result.emplace(work()); });
  return std::move(*result);
}

/// Collects the library's error messages on this thread for its lifetime. The thread must not park
/// meanwhile.
class Complaints {
 public:
  /// Messages to collect: of parsers and memory only, or of namespaces, XPath and others as well.
  enum class About : std::uint8_t { well_formedness, everything };
  explicit Complaints(About about);
  Complaints(const Complaints&) = delete;
  Complaints& operator=(const Complaints&) = delete;
  ~Complaints();

  [[nodiscard]] bool any() const noexcept { return any_; }
  /// An error with them as its detail.
  [[noreturn]] void raise(SqlState state, std::string message) const;

 private:
  static void hear(void* self, const xmlError* error);
  void note(const xmlError& error);

  About about_;
  bool any_ = false;
  std::string text_;
};

struct FreeDocument {
  void operator()(xmlDoc* document) const noexcept { xmlFreeDoc(document); }
};
using Document = std::unique_ptr<xmlDoc, FreeDocument>;

/// The XML declaration <?xml …?> at the beginning, if there is one.
struct Declaration {
  std::size_t size = 0;  ///< of it in bytes
  std::string_view version{};
  std::string_view encoding{};
  int standalone = -1;          ///< 1 yes, 0 no, -1 not said
  const char* fault = nullptr;  ///< what is wrong with it
};
Declaration read_declaration(std::string_view text);
/// Appends one if it has to say anything. `version` may be empty.
bool append_declaration(std::string& out, std::string_view version, int standalone);

/// About how much memory a tree of the text may take.
std::size_t bytes_of_tree(std::string_view text);

/// Throws 2200M or 2200N for a text that is not well-formed; `memory` may be null.
void require_well_formed(MemoryAccount* memory, Option option, Blanks blanks,
                         std::string_view text);
bool is_well_formed(MemoryAccount* memory, Option option, std::string_view text);

/// The text, a document, as a tree. Throws 2200M. Pre: the caller keeps complaints.
Document parse_document(const Complaints& complaints, std::string_view text);

/// Appends a stored or made value as it is shown: without an encoding, which is the connection's.
void append_shown(std::string& out, std::string_view text);

}  // namespace swizzle::sql::xml
