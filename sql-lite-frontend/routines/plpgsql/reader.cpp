#include "sql-lite-frontend/routines/plpgsql/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/query/parse/parser.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql::plpgsql {

std::optional<std::size_t> Shape::find(std::string_view name, std::size_t before) const noexcept {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].name == name && before-- == 0) return i;
  }
  return std::nullopt;
}

std::optional<FoundName> find_name(const Name* names, std::span<const std::string_view> parts) {
  const Name* level = names;
  while (level != nullptr) {
    constexpr std::size_t kWorkOfLevel = 10;
    yield_point(kWorkOfLevel);
    const Name* label = level;
    for (; label != nullptr && label->kind != Name::Kind::label; label = label->before) {
      if (label->text == parts[0]) return FoundName{label->variable, 1};
    }
    if (label == nullptr) return std::nullopt;
    if (parts.size() > 1 && !label->text.empty() && label->text == parts[0]) {
      for (const Name* at = level; at != label; at = at->before) {
        if (at->text == parts[1]) return FoundName{at->variable, 2};
      }
    }
    level = label->before;
  }
  return std::nullopt;
}

std::size_t Program::place_of_field(std::size_t record, std::string_view name, std::size_t before) {
  for (const FieldPlace& known : fields) {
    if (known.record == record && known.name == name && known.before == before) return known.place;
  }
  fields.push_back({record, std::string{name}, value_count, before});
  return value_count++;
}

Reader::Reader(StatementContext& session, const Signature& signature)
    : session_(session),
      signature_(signature),
      body_(signature.routine->body),
      tokens_(scan(body_)),
      program_(std::make_unique<Program>()) {}

/// Applies the session's settings, which options of the body override.
void Reader::take_settings() {
  const Result<std::string> conflict = session_.settings.show("plpgsql.variable_conflict");
  if (conflict && *conflict == "use_variable")
    program_->conflict = BodyVariables::Conflict::use_variable;
  if (conflict && *conflict == "use_column")
    program_->conflict = BodyVariables::Conflict::use_column;
  program_->tells_strict_parameters = session_.settings.boolean("plpgsql.print_strict_params");
}

std::unique_ptr<Program> Reader::read() {
  declare_arguments();
  if (signature_.is_trigger) declare_trigger_variables();
  if (signature_.routine->result == TypeId::event_trigger) declare_event_trigger_variables();
  take_settings();
  while (take("#")) {
    const Token named = token();
    const std::string option = expect_name();
    static constexpr std::array kOptions =
        std::to_array<std::string_view>({"option", "print_strict_params", "variable_conflict"});
    if (std::ranges::find(kOptions, option) == kOptions.end()) fail_at(named);
    const Token value = token();
    const std::string setting = expect_name();
    if (option == "variable_conflict" && setting == "use_variable") {
      program_->conflict = BodyVariables::Conflict::use_variable;
    } else if (option == "variable_conflict" && setting == "use_column") {
      program_->conflict = BodyVariables::Conflict::use_column;
    } else if (option == "print_strict_params" && (setting == "on" || setting == "off")) {
      program_->tells_strict_parameters = setting == "on";
    } else if (option == "variable_conflict" && setting == "error") {
      program_->conflict = BodyVariables::Conflict::error;
    } else if (option != "option") {
      fail_at(value);
    }
  }
  program_->body = read_block(read_label());
  take(";");
  if (token().kind != Token::Kind::end) fail_here();
  return std::move(program_);
}

bool Reader::take_word(std::string_view word) {
  if (!is_word(word)) return false;
  ++at_;
  return true;
}

bool Reader::take(std::string_view symbol) {
  if (!is(symbol)) return false;
  ++at_;
  return true;
}

void Reader::expect_word(std::string_view word) {
  if (!take_word(word)) fail_here();
}

void Reader::expect(std::string_view symbol) {
  if (!take(symbol)) fail_here();
}

std::string Reader::expect_name() {
  if (!token().is_name()) fail_here();
  return tokens_[at_++].text;
}

void Reader::fail_here() const {
  fail_at(token());
}

void Reader::fail_at(const Token& where) const {
  fail(sqlstate::syntax_error, "syntax error", where);
}

/// Throws the error. Syntax errors name the token at which they occur, as in PostgreSQL.
void Reader::fail(SqlState state, std::string message, const Token& where) const {
  static constexpr std::array kOfGrammar = std::to_array<std::string_view>(
      {"syntax error", "mismatched", "missing expression", "missing SQL", "missing data",
       "duplicate declaration", "INTO specified", "unrecognized", "cursor FOR", "record variable",
       "incomplete data type", "invalid SQLSTATE"});
  const bool is_of_grammar = std::ranges::any_of(
      kOfGrammar, [&](std::string_view each) { return message.starts_with(each); });
  if (state == sqlstate::syntax_error && is_of_grammar) {
    message +=
        where.kind == Token::Kind::end
            ? " at end of input"
            : fmt::format(" at or near \"{}\"", body_.substr(where.begin, where.end - where.begin));
  }
  throw SqlError{state, std::move(message)}.at_position(static_cast<int>(where.begin) + 1);
}

bool Reader::ends_here(std::initializer_list<std::string_view> ends) const {
  return std::ranges::any_of(ends,
                             [this](std::string_view end) { return is_word(end) || is(end); });
}

void Reader::skip_fragment(std::initializer_list<std::string_view> ends, std::string_view expected,
                           bool is_expression) {
  int depth = 0;
  for (;; ++at_) {
    if (depth == 0 && ends_here(ends)) return;
    if (is("(") || is("[")) ++depth;
    if (is(")") || is("]")) {
      if (--depth < 0) fail(sqlstate::syntax_error, "mismatched parentheses", token());
    }
    const bool is_over = token().kind == Token::Kind::end || is(";");
    if (!is_over) continue;
    if (depth != 0) fail(sqlstate::syntax_error, "mismatched parentheses", token());
    if (expected == "]") fail(sqlstate::syntax_error, "mismatched parentheses", token());
    if (expected == ";") fail_here();
    fail(sqlstate::syntax_error,
         fmt::format("missing \"{}\" at end of SQL {}", expected,
                     is_expression ? "expression" : "statement"),
         token());
  }
}

ExpressionPtr Reader::read_expression(std::initializer_list<std::string_view> ends,
                                      std::string_view expected) {
  const std::size_t first = at_;
  skip_fragment(ends, expected, true);
  if (at_ == first) fail(sqlstate::syntax_error, "missing expression", token());
  return make(Expression::Kind::value, tokens_[first].begin, tokens_[at_ - 1].end);
}

/// Reads up to the semicolon, which is consumed.
ExpressionPtr Reader::read_statement() {
  const std::size_t first = at_;
  skip_fragment({";"}, ";", false);
  if (at_ == first) fail(sqlstate::syntax_error, "missing SQL statement", token());
  ExpressionPtr made =
      make(Expression::Kind::statement, tokens_[first].begin, tokens_[at_ - 1].end);
  ++at_;
  return made;
}

/// Makes an expression or statement. Its syntax errors are those of the function.
ExpressionPtr Reader::make(Expression::Kind kind, std::size_t begin, std::size_t end,
                           std::string_view instead) {
  const std::string text =
      instead.empty() ? body_.substr(begin, end - begin) : std::string{instead};
  ExpressionPtr made{new Expression{kind, text, names_}};
  try {
    Arena arena;
    static_cast<void>(parse_script(arena, made->sql()));
  } catch (SqlError& error) {
    const int inside = error.fields().position - static_cast<int>(made->sql_before());
    error.fields().position = static_cast<int>(begin) + std::max(inside, 1);
    throw;
  }
  return made;
}

std::unique_ptr<Program> read_program(StatementContext& session, const Signature& signature) {
  return Reader{session, signature}.read();
}

}  // namespace swizzle::sql::plpgsql
