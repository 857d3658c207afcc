// hstore as text: "a"=>"1", "b"=>NULL.
#include <deque>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/extension/hstore.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/text_scan.h"
#include "sql-lite-frontend/types/text/utf8.h"

namespace swizzle::sql {
namespace {

class HstoreReader {
 public:
  explicit HstoreReader(std::string_view text) : text_(text) {}

  std::vector<HstorePair> read() {
    std::vector<HstorePair> pairs;
    for (;;) {
      const auto key = take_text(Side::key);
      if (!key) return pairs;
      skip_blanks();
      take_sign('=');
      take_sign('>');
      const auto value = take_text(Side::value);
      if (!value) end_of_text();
      HstorePair pair{key->text, value->text};
      if (!value->is_quoted && equals_ignoring_case(value->text, "null")) pair.value.reset();
      pairs.push_back(pair);
      yield_point(1);
      skip_blanks();
      if (is_at_end()) return pairs;
      if (text_[at_] != ',') refuse(at_);
      ++at_;
    }
  }

 private:
  enum class Side : std::uint8_t { key, value };
  struct Part {
    std::string_view text;
    bool is_quoted = false;
  };

  [[nodiscard]] bool is_at_end() const noexcept { return at_ == text_.size(); }
  void skip_blanks() {
    while (!is_at_end() && is_space(text_[at_])) ++at_;
  }
  void take_sign(char sign) {
    if (is_at_end()) end_of_text();
    if (text_[at_] != sign) refuse(at_);
    ++at_;
  }
  [[noreturn]] void refuse(std::size_t at) const {
    const std::size_t length = character_bytes(text_, at);
    throw sql_error(sqlstate::syntax_error, "syntax error in hstore, near \"{}\" at position {}",
                    text_.substr(at, length), at);
  }
  [[noreturn]] static void end_of_text() {
    throw SqlError{sqlstate::syntax_error, "syntax error in hstore: unexpected end of string"};
  }
  static std::size_t character_bytes(std::string_view text, std::size_t at) {
    std::size_t length = 1;
    while (at + length < text.size() &&
           (static_cast<unsigned char>(text[at + length]) & 0xc0U) == 0x80U) {
      ++length;
    }
    return length;
  }
  /// Returns nothing if the text ends first.
  std::optional<Part> take_text(Side side) {
    skip_blanks();
    if (is_at_end()) return std::nullopt;
    std::string& out = texts_.emplace_back();
    if (text_[at_] == '"') {
      ++at_;
      take_quoted(out);
      return Part{out, true};
    }
    if (text_[at_] == '=' && side == Side::key) refuse(at_);
    take_bare(out, side);
    return Part{out, false};
  }
  void take_quoted(std::string& out) {
    for (;; ++at_) {
      if (is_at_end()) end_of_text();
      if (text_[at_] == '"') break;
      if (text_[at_] == '\\' && ++at_ == text_.size()) end_of_text();
      out.push_back(text_[at_]);
    }
    ++at_;
  }
  void take_bare(std::string& out, Side side) {
    const std::size_t start = at_;
    for (; !is_at_end(); ++at_) {
      const char next = text_[at_];
      const bool ends = side == Side::key ? next == '=' : next == ',';
      // The first character always belongs to the text.
      if ((ends && at_ > start) || is_space(next)) return;
      if (next == '\\' && ++at_ == text_.size()) end_of_text();
      out.push_back(text_[at_]);
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::deque<std::string> texts_;
};

}  // namespace

Value read_hstore(Arena& arena, std::string_view text) {
  HstoreReader reader{text};
  return make_hstore(arena, reader.read());
}

}  // namespace swizzle::sql
