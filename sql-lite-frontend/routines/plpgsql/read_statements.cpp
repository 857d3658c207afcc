#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sql-lite-frontend/routines/plpgsql/reader.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/user_types.h"

/// Statements of SQL with PL/pgSQL's additions to them, messages, cursors.
namespace swizzle::sql::plpgsql {

std::optional<FoundName> Reader::found_here() const {
  if (token().kind == Token::Kind::parameter) {
    const std::string_view parts[] = {token().text};
    return find_name(names_, parts);
  }
  if (!token().is_name()) return std::nullopt;
  std::vector<std::string_view> parts;
  for (std::size_t i = at_; parts.size() < 3 && tokens_[i].is_name(); i += 2) {
    parts.push_back(tokens_[i].text);
    if (i + 2 >= tokens_.size() || !tokens_[i + 1].is(".")) break;
  }
  return find_name(names_, parts);
}

std::optional<FoundName> Reader::take_variable() {
  const auto found = found_here();
  if (found) at_ += 2 * found->parts - 1;
  return found;
}

void Reader::require_assignable(std::size_t variable, const Token& where) const {
  const Variable& known = program_->variables[variable];
  if (!known.is_constant) return;
  throw sql_error(SqlState{"22005"}, "variable \"{}\" is declared CONSTANT", known.name)
      .at_position(static_cast<int>(where.begin) + 1);
}

Target Reader::read_target() {
  const Token where = token();
  const auto found = take_variable();
  if (!found) {
    if (!where.is_name()) fail_at(where);
    fail(sqlstate::syntax_error, fmt::format("\"{}\" is not a known variable", where.text), where);
  }
  Target target{.variable = found->variable};
  if (!is(".")) return target;
  const Variable& variable = program_->variables[found->variable];
  if (variable.kind == Variable::Kind::record) {
    ++at_;
    target.field = expect_name();
    return target;
  }
  // A parameter of a composite type is one value, of which fields are parts.
  if (!is_composite(base_type(variable.type))) {
    fail(sqlstate::syntax_error,
         fmt::format("\"{}.{}\" is not a known variable", where.text, token(1).text), where);
  }
  const std::size_t end = tokens_[at_ - 1].end;
  ++at_;
  static_cast<void>(expect_name());
  target.part = ExpressionPtr{new Expression{Expression::Kind::value, "NULL", names_}};
  target.part->set_part({body_.substr(where.begin, end - where.begin),
                         where.text,
                         {body_.substr(end, tokens_[at_ - 1].end - end)},
                         {}});
  return target;
}

Targets Reader::read_targets() {
  Targets targets;
  do {
    const Token where = token();
    targets.push_back(read_target());
    require_assignable(targets.back().variable, where);
    const bool is_record =
        targets.back().field.empty() && !targets.back().part &&
        program_->variables[targets.back().variable].kind == Variable::Kind::record;
    if (is_record && (targets.size() > 1 || is(","))) {
      fail(sqlstate::syntax_error, "record variable cannot be part of multiple-item INTO list",
           targets.size() > 1 ? where : token());
    }
  } while (take(","));
  return targets;
}

StepPtr Reader::read_perform() {
  auto made = step<SqlStep>(line_here());
  made->is_perform = true;
  expect_word("perform");
  const std::size_t first = at_;
  skip_fragment({";"}, ";", false);
  if (at_ == first) fail(sqlstate::syntax_error, "missing expression", token());
  const std::size_t begin = tokens_[first].begin;
  const std::size_t end = tokens_[at_ - 1].end;
  made->statement =
      make(Expression::Kind::statement, begin, end, "SELECT " + body_.substr(begin, end - begin));
  ++at_;
  return made;
}

StepPtr Reader::read_sql() {
  const int line = line_here();
  const Token first = token();
  static constexpr std::array kUnknownBefore =
      std::to_array<std::string_view>({":=", "=", "[", "."});
  const bool looks_like_assignment =
      std::ranges::any_of(kUnknownBefore, [this](std::string_view s) { return token(1).is(s); });
  if (first.is_name() && looks_like_assignment) {
    fail(sqlstate::syntax_error, fmt::format("\"{}\" is not a known variable", first.text), first);
  }
  const std::size_t begin = at_;
  auto made = step<SqlStep>(line);
  std::string text;
  std::size_t copied = first.begin;
  int depth = 0;
  for (;; ++at_) {
    if (token().kind == Token::Kind::end) fail_here();
    if (is(";") && depth == 0) break;
    if (is("(") || is("[")) ++depth;
    if (is(")") || is("]")) --depth;
    if (is(";") || depth < 0) fail(sqlstate::syntax_error, "mismatched parentheses", token());
    const bool is_into = is_word("into") && at_ > begin && !tokens_[at_ - 1].is_word("insert") &&
                         !tokens_[at_ - 1].is_word("merge") && !first.is_word("import");
    if (!is_into) continue;
    if (made->has_into) {
      fail(sqlstate::syntax_error, "INTO specified more than once", token());
    }
    made->has_into = true;
    const std::size_t into_begin = token().begin;
    ++at_;
    made->is_strict = take_word("strict");
    made->into = read_targets();
    text += body_.substr(copied, into_begin - copied);
    copied = tokens_[at_ - 1].end;
    // Keep the positions of the text that follows.
    text.append(copied - into_begin, ' ');
    --at_;
  }
  const std::size_t end = tokens_[at_ - 1].end;
  if (end > copied) text += body_.substr(copied, end - copied);
  if (first.is_word("call")) {
    auto call = step<CallStep>(line);
    call->statement = make(Expression::Kind::statement, first.begin, end, text);
    ++at_;
    return call;
  }
  made->is_do = first.is_word("do");
  made->statement = make(Expression::Kind::statement, first.begin, end, text);
  ++at_;
  return made;
}

std::vector<ExpressionPtr> Reader::read_using(std::initializer_list<std::string_view> ends) {
  std::vector<ExpressionPtr> values;
  if (!take_word("using")) return values;
  do {
    const std::string_view first = *ends.begin();
    const std::string_view last = *(ends.end() - 1);
    values.push_back(read_expression({",", first, last}, first));
  } while (take(","));
  return values;
}

StepPtr Reader::read_execute() {
  auto made = step<ExecuteStep>(line_here());
  expect_word("execute");
  made->text = read_expression({"into", "using", ";"}, ";");
  for (;;) {
    if (is_word("into") && !made->has_into) {
      ++at_;
      made->has_into = true;
      made->is_strict = take_word("strict");
      made->into = read_targets();
    } else if (is_word("using") && made->using_values.empty()) {
      made->using_values = read_using({";", "into"});
    } else {
      break;
    }
  }
  expect(";");
  return made;
}

StepPtr Reader::read_raise() {
  auto made = step<RaiseStep>(line_here());
  expect_word("raise");
  if (take(";")) {
    made->is_again = true;
    return made;
  }
  for (const std::string_view level : {"exception", "warning", "notice", "info", "log", "debug"}) {
    if (!take_word(level)) continue;
    made->level = level;
    break;
  }
  if (token().kind == Token::Kind::string) {
    made->has_format = true;
    made->format = token().text;
    ++at_;
    while (take(",")) made->arguments.push_back(read_expression({",", "using", ";"}, ";"));
    std::size_t places = 0;
    for (std::size_t i = 0; i < made->format.size(); ++i) {
      if (made->format[i] != '%') continue;
      if (i + 1 < made->format.size() && made->format[i + 1] == '%') {
        ++i;
      } else {
        ++places;
      }
    }
    if (places != made->arguments.size()) {
      throw_error(sqlstate::syntax_error, "too {} parameters specified for RAISE",
                  places < made->arguments.size() ? "many" : "few");
    }
  } else if (take_word("sqlstate")) {
    const Token code = token();
    if (code.kind != Token::Kind::string) fail_here();
    ++at_;
    if (!read_sqlstate(code.text)) fail(sqlstate::syntax_error, "invalid SQLSTATE code", code);
    made->code = code.text;
  } else if (!is_word("using") && !is(";")) {
    made->condition = expect_name();
    if (codes_of_condition(made->condition).empty()) {
      throw_error(sqlstate::undefined_object, "unrecognized exception condition \"{}\"",
                  made->condition);
    }
  }
  if (take_word("using")) {
    static constexpr std::array kOptions =
        std::to_array<std::string_view>({"errcode", "message", "detail", "hint", "column",
                                         "constraint", "datatype", "table", "schema"});
    do {
      RaiseStep::Option option;
      const Token where = token();
      option.name = expect_name();
      if (std::ranges::find(kOptions, option.name) == kOptions.end()) {
        fail(sqlstate::syntax_error, "unrecognized RAISE statement option", where);
      }
      if (!take(":=")) expect("=");
      option.value = read_expression({",", ";"}, ";");
      made->options.push_back(std::move(option));
    } while (take(","));
  }
  expect(";");
  return made;
}

StepPtr Reader::read_assert() {
  auto made = step<AssertStep>(line_here());
  expect_word("assert");
  made->condition = read_expression({",", ";"}, ";");
  if (take(",")) made->message = read_expression({";"}, ";");
  expect(";");
  return made;
}

StepPtr Reader::read_diagnostics() {
  const Token statement = token();
  auto made = step<DiagnosticsStep>(line_here());
  expect_word("get");
  made->is_stacked = take_word("stacked");
  if (!made->is_stacked) take_word("current");
  expect_word("diagnostics");
  static constexpr std::array kCurrent =
      std::to_array<std::string_view>({"row_count", "pg_context", "pg_routine_oid"});
  static constexpr std::array kStacked = std::to_array<std::string_view>(
      {"returned_sqlstate", "column_name", "constraint_name", "pg_datatype_name", "message_text",
       "table_name", "schema_name", "pg_exception_detail", "pg_exception_hint",
       "pg_exception_context"});
  do {
    DiagnosticsStep::Item item;
    const Token target = token();
    item.target = read_target();
    const bool is_record = item.target.field.empty() &&
                           program_->variables[item.target.variable].kind == Variable::Kind::record;
    if (is_record || is("["))
      fail(sqlstate::syntax_error, fmt::format("\"{}\" is not a scalar variable", target.text),
           target);
    require_assignable(item.target.variable, target);
    if (!take(":=")) expect("=");
    const Token where = token();
    item.what = expect_name();
    const bool is_current = std::ranges::find(kCurrent, item.what) != kCurrent.end();
    if (!is_current && std::ranges::find(kStacked, item.what) == kStacked.end()) {
      fail(sqlstate::syntax_error, "unrecognized GET DIAGNOSTICS item", where);
    }
    if (is_current == made->is_stacked) {
      std::string name = item.what;
      std::ranges::transform(name, name.begin(), [](char letter) {
        return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
      });
      fail(sqlstate::syntax_error,
           fmt::format("diagnostics item {} is not allowed in GET {} DIAGNOSTICS", name,
                       made->is_stacked ? "STACKED" : "CURRENT"),
           statement);
    }
    made->items.push_back(std::move(item));
  } while (take(","));
  expect(";");
  return made;
}

std::size_t Reader::read_cursor_variable() {
  const Token where = token();
  const auto found = take_variable();
  if (!found) {
    if (!where.is_name()) fail_at(where);
    fail(sqlstate::syntax_error, fmt::format("\"{}\" is not a known variable", where.text), where);
  }
  if (program_->variables[found->variable].type != TypeId::refcursor) {
    throw sql_error(sqlstate::datatype_mismatch,
                    "variable \"{}\" must be of type cursor or refcursor", where.text)
        .at_position(static_cast<int>(where.begin) + 1);
  }
  return found->variable;
}

/// Reads the arguments by position or by name.
std::vector<ExpressionPtr> Reader::read_cursor_arguments(const Variable& variable) {
  const BoundCursor& cursor = *variable.cursor;
  const auto wrong = [&](std::string_view what, const Token& where) {
    fail(sqlstate::syntax_error, fmt::format(fmt::runtime(what), variable.name), where);
  };
  std::vector<ExpressionPtr> arguments(cursor.parameters.size());
  if (cursor.parameters.empty()) {
    if (is("(")) wrong("cursor \"{}\" has no arguments", token());
    return arguments;
  }
  if (!is("(")) wrong("cursor \"{}\" has arguments", token());
  ++at_;
  std::size_t count = 0;
  Token last = token();
  do {
    if (count < arguments.size()) last = token();
    std::size_t place = count;
    if (token().is_name() && (token(1).is(":=") || token(1).is("=>"))) {
      place = 0;
      while (place < cursor.parameters.size() &&
             program_->variables[cursor.parameters[place]].name != token().text) {
        ++place;
      }
      if (place == cursor.parameters.size()) {
        fail(sqlstate::syntax_error,
             fmt::format("cursor \"{}\" has no argument named \"{}\"", variable.name, token().text),
             token());
      }
      at_ += 2;
    }
    if (place >= arguments.size()) {
      wrong("too many arguments for cursor \"{}\"", last);
    }
    if (arguments[place]) {
      fail(sqlstate::syntax_error,
           fmt::format("value for parameter \"{}\" of cursor \"{}\" specified more than once",
                       program_->variables[cursor.parameters[place]].name, variable.name),
           token());
    }
    arguments[place] = read_expression({",", ")"}, ")");
    ++count;
  } while (take(","));
  if (count < arguments.size()) {
    wrong("not enough arguments for cursor \"{}\"", token());
  }
  expect(")");
  return arguments;
}

StepPtr Reader::read_open() {
  auto made = step<OpenStep>(line_here());
  expect_word("open");
  made->cursor = read_cursor_variable();
  const Variable& cursor = program_->variables[made->cursor];
  if (cursor.cursor) {
    made->arguments = read_cursor_arguments(cursor);
    expect(";");
    return made;
  }
  if (take_word("no")) {
    expect_word("scroll");
    made->scroll = BoundCursor::Scroll::no;
  } else if (take_word("scroll")) {
    made->scroll = BoundCursor::Scroll::yes;
  }
  expect_word("for");
  if (take_word("execute")) {
    made->text = read_expression({"using", ";"}, ";");
    made->using_values = read_using({";"});
    expect(";");
  } else {
    made->query = read_statement();
  }
  return made;
}

StepPtr Reader::read_fetch(bool is_move) {
  using Way = FetchStep::Way;
  auto made = step<FetchStep>(line_here());
  made->is_move = is_move;
  ++at_;
  static constexpr std::array kWays =
      std::to_array<std::pair<std::string_view, Way>>({{"next", Way::next},
                                                       {"prior", Way::prior},
                                                       {"first", Way::first},
                                                       {"last", Way::last},
                                                       {"absolute", Way::absolute},
                                                       {"relative", Way::relative},
                                                       {"forward", Way::forward},
                                                       {"backward", Way::backward}});
  bool says_way = false;
  for (const auto& [word, way] : kWays) {
    const bool is_cursor = token(1).is_word("into") || token(1).is(";");
    if (is_cursor || !take_word(word)) continue;
    made->way = way;
    says_way = true;
    break;
  }
  const bool may_count = made->way == Way::absolute || made->way == Way::relative ||
                         made->way == Way::forward || made->way == Way::backward;
  if (!says_way && take_word("all")) {
    made->way = Way::forward;
    made->is_all = says_way = true;
  } else if (may_count && take_word("all")) {
    made->is_all = true;
  } else if (may_count && !is_word("from") && !is_word("in")) {
    const bool names_cursor = token().is_name() && (token(1).is_word("into") || token(1).is(";"));
    if (!names_cursor) made->count = read_expression({"from", "in"}, "FROM");
  }
  if (!says_way && !found_here() && !is_word("from") && !is_word("in")) {
    made->way = Way::forward;
    made->count = read_expression({"from", "in"}, "FROM");
  }
  if (!take_word("from")) take_word("in");
  const bool is_many =
      made->is_all || (made->count && (made->way == Way::forward || made->way == Way::backward));
  if (is_many && !is_move) {
    throw SqlError{sqlstate::feature_not_supported, "FETCH statement cannot return multiple rows"}
        .at_position(static_cast<int>(token().begin) + 1);
  }
  made->cursor = read_cursor_variable();
  if (!is_move) {
    expect_word("into");
    made->into = read_targets();
  }
  expect(";");
  return made;
}

StepPtr Reader::read_close() {
  auto made = step<CloseStep>(line_here());
  expect_word("close");
  made->cursor = read_cursor_variable();
  expect(";");
  return made;
}

StepPtr Reader::read_transaction(bool is_commit) {
  auto made = step<TransactionStep>(line_here());
  made->is_commit = is_commit;
  ++at_;
  if (take_word("and")) {
    made->chains = !take_word("no");
    expect_word("chain");
  }
  expect(";");
  return made;
}

}  // namespace swizzle::sql::plpgsql
