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

/// XML parsing by libxml2: well-formedness, documents for XPath. External entities are never
/// loaded. The memory that a text may need is charged before parsing. Work on more than small texts
/// runs on a helper thread, because the library cannot be interrupted.
namespace swizzle::sql::xml {

inline constexpr SqlState kInvalidDocument{"2200M"};
inline constexpr SqlState kInvalidContent{"2200N"};

/// Runs `work`, on a helper thread if it processes many bytes.
template <class Work>
auto for_library(std::size_t bytes, Work&& work) -> decltype(work()) {
  constexpr std::size_t kFewBytes = std::size_t{8} << 10U;
  if (bytes < kFewBytes) return work();
  std::optional<decltype(work())> result;
  Runtime::current().run_aside([&] { result.emplace(work()); });
  return std::move(*result);
}

/// Collects the library's error messages on this thread during its lifetime. The thread must not
/// park meanwhile.
class Complaints {
 public:
  /// Messages to collect: of parsers and memory only, or of namespaces, XPath and others as well.
  enum class About : std::uint8_t { well_formedness, everything };
  explicit Complaints(About about);
  Complaints(const Complaints&) = delete;
  Complaints& operator=(const Complaints&) = delete;
  ~Complaints();

  [[nodiscard]] bool any() const noexcept { return any_; }
  /// Throws an error with the messages as its detail.
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
  int standalone = -1;          ///< 1 yes, 0 no, -1 not given
  const char* fault = nullptr;  ///< error in the declaration; null: none
};
Declaration read_declaration(std::string_view text);
/// Appends a declaration unless it would be empty. `version` may be empty.
bool append_declaration(std::string& out, std::string_view version, int standalone);

/// Returns an estimate of the memory for a tree of the text.
std::size_t bytes_of_tree(std::string_view text);

/// Throws 2200M or 2200N for a text that is not well-formed; `memory` may be null.
void require_well_formed(MemoryAccount* memory, Option option, Blanks blanks,
                         std::string_view text);
bool is_well_formed(MemoryAccount* memory, Option option, std::string_view text);

/// Parses a document into a tree. Throws 2200M. `complaints` collects the errors.
Document parse_document(const Complaints& complaints, std::string_view text);

/// Appends a stored or built value for output: without its encoding, which is the connection's.
void append_shown(std::string& out, std::string_view text);

}  // namespace swizzle::sql::xml
