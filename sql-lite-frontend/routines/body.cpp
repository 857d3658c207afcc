#include "sql-lite-frontend/routines/body.h"

#include <algorithm>
#include <cctype>

#include "sql-lite-frontend/query/parse/parser.h"
#include "sql-lite-frontend/query/parse/token_skipper.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

std::string lower(std::string_view text) {
  std::string out{text};
  std::ranges::transform(out, out.begin(), [](unsigned char letter) {
    return static_cast<char>(std::tolower(letter));
  });
  return out;
}

/// Scanner of names and keywords outside of quotes and comments, with their positions.
class Words : TokenSkipper {
 public:
  explicit Words(std::string_view text) : TokenSkipper(text), size_(text.size()) {}

  struct Word {
    std::string text;  ///< in lower case; empty at the end
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  Word next() {
    while (!rest_.empty()) {
      const char letter = rest_.front();
      if (begins_name(letter)) {
        const std::size_t begin = size_ - rest_.size();
        const std::string_view before = rest_;
        skip_while(continues_name);
        const std::string_view word = before.substr(0, before.size() - rest_.size());
        // E'…', B'…' and similar: a prefix and a string.
        if (!rest_.empty() && rest_.front() == '\'') {
          skip_string(word == "e" || word == "E" ? Backslash::escapes : Backslash::plain);
          continue;
        }
        return {lower(word), begin, size_ - rest_.size()};
      }
      if (letter == '\'') {
        skip_string(Backslash::plain);
      } else if (letter == '"') {
        rest_.remove_prefix(1);
        skip_to("\"");
      } else if (letter == '$') {
        skip_dollar();
      } else if (rest_.starts_with("--")) {
        skip_to("\n");
      } else if (rest_.starts_with("/*")) {
        static_cast<void>(skip_comment());
      } else {
        rest_.remove_prefix(1);
      }
    }
    return {{}, size_, size_};
  }

 private:
  std::size_t size_;
};

struct Inner {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Returns the text between BEGIN ATOMIC and END.
Inner inside_atomic(std::string_view body) {
  Words words{body};
  static_cast<void>(words.next());
  Inner inner{words.next().end, body.size()};
  for (Words::Word word = words.next(); !word.text.empty(); word = words.next()) {
    if (word.text == "end") inner.end = word.begin;
  }
  return inner;
}

std::vector<BodyPart> statements_of(const std::string& text, std::size_t offset) {
  Arena arena;
  std::vector<BodyPart> parts;
  for (const ast::RawStmt* statement : parse_script(arena, text)) {
    const std::string_view part = statement_text(text, *statement);
    parts.push_back(
        {std::string{part}, offset + static_cast<std::size_t>(part.data() - text.data())});
  }
  return parts;
}

}  // namespace

std::vector<BodyPart> body_parts(const Routine& routine) {
  if (routine.form == BodyForm::string) return statements_of(routine.body, 0);
  Words words{routine.body};
  const Words::Word first = words.next();
  if (first.text == "return") return {{"SELECT" + routine.body.substr(first.end), 0}};
  const Inner inner = inside_atomic(routine.body);
  return statements_of(routine.body.substr(inner.begin, inner.end - inner.begin), inner.begin);
}

BodyNames body_names(const RoutinePtr& routine) {
  BodyNames names;
  names.routine = routine;
  for (const RoutineParameter& parameter : routine->parameters) {
    if (parameter.is_input()) names.parameters.push_back(parameter.name);
  }
  if (routine->form == BodyForm::atomic) {
    auto meanings = std::make_unique<Relation>();
    meanings->view_names = routine->body_names;
    meanings->view_types = routine->body_types;
    meanings->view_routines = routine->body_routines;
    names.meanings = std::move(meanings);
  }
  return names;
}

std::string atomic_body_text(std::string_view statement) {
  Words words{statement};
  Words::Word before;
  for (Words::Word word = words.next(); !word.text.empty(); word = words.next()) {
    const bool is_return = word.text == "return";
    const bool is_atomic = word.text == "atomic" && before.text == "begin";
    if (is_return || is_atomic) {
      std::string_view body = statement.substr(is_return ? word.begin : before.begin);
      while (!body.empty() &&
             (std::isspace(static_cast<unsigned char>(body.back())) != 0 || body.back() == ';')) {
        body.remove_suffix(1);
      }
      return std::string{body};
    }
    before = std::move(word);
  }
  throw SqlError{sqlstate::feature_not_supported, "this function's body cannot be stored"};
}

}  // namespace swizzle::sql
