#include "sql-lite-frontend/query/parse/deep_comments.h"

#include "sql-lite-frontend/query/parse/token_skipper.h"

namespace swizzle::sql {
namespace {

/// Nesting beyond that of texts written by people.
constexpr int kDeep = 50;

class CommentScanner : private TokenSkipper {
 public:
  explicit CommentScanner(std::string_view text) : TokenSkipper(text), text_(text) {}

  std::optional<std::string> run() {
    while (!rest_.empty()) step();
    return std::move(changed_);
  }

 private:
  void step() {
    const char first = rest_.front();
    if (first == '\'') return skip_string(Backslash::plain);
    if (first == '"') return skip_quoted();
    if (rest_.starts_with("--")) return skip_to("\n");
    if (rest_.starts_with("/*")) return read_comment();
    if (first == '$') return skip_dollar();
    if (continues_name(first)) return skip_name();
    rest_.remove_prefix(1);
  }

  void skip_quoted() {
    rest_.remove_prefix(1);
    skip_to("\"");
  }
  void skip_name() {
    const std::string_view from = rest_;
    skip_while([](char letter) { return continues_name(letter); });
    const std::string_view name = from.substr(0, from.size() - rest_.size());
    const bool escapes = rest_.starts_with('\'') && (name == "e" || name == "E");
    if (escapes) skip_string(Backslash::escapes);
  }
  void read_comment() {
    const std::size_t begin = text_.size() - rest_.size();
    if (skip_comment() < kDeep) return;
    if (!changed_) changed_.emplace(text_);
    const std::size_t end = text_.size() - rest_.size();
    // Line ends are kept, for code that counts lines.
    for (std::size_t i = begin; i < end; ++i) {
      if ((*changed_)[i] != '\n') (*changed_)[i] = ' ';
    }
  }

  std::string_view text_;
  std::optional<std::string> changed_;
};

/// True if the text has as many "/*" as a deep comment needs.
bool may_be_deep(std::string_view text) noexcept {
  int begun = 0;
  for (std::size_t at = text.find("/*"); at != std::string_view::npos;
       at = text.find("/*", at + 2)) {
    if (++begun == kDeep) return true;
  }
  return false;
}

}  // namespace

std::optional<std::string> without_deep_comments(std::string_view text) {
  if (!may_be_deep(text)) return std::nullopt;
  return CommentScanner{text}.run();
}

}  // namespace swizzle::sql
