#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/routines/plpgsql/reader.h"
#include "sql-lite-frontend/types/sql_error.h"

/// Loops.
namespace swizzle::sql::plpgsql {

void Reader::read_loop_body(LoopStep& loop) {
  loop.steps = read_steps({"end"});
  expect_word("end");
  expect_word("loop");
  check_end_label(loop.label);
  expect(";");
}

StepPtr Reader::read_plain_loop(std::string label) {
  const Name* const outside = names_;
  declare_scope(label, true);
  --at_;
  auto made = step<PlainLoopStep>(line_here());
  ++at_;
  made->label = std::move(label);
  read_loop_body(*made);
  names_ = outside;
  return made;
}

StepPtr Reader::read_while(std::string label) {
  const Name* const outside = names_;
  declare_scope(label, true);
  --at_;
  auto made = step<WhileStep>(line_here());
  ++at_;
  made->label = std::move(label);
  made->condition = read_expression({"loop"}, "LOOP");
  expect_word("loop");
  read_loop_body(*made);
  names_ = outside;
  return made;
}

/// Finds the ".." before LOOP, outside of parentheses.
std::optional<std::size_t> Reader::find_range() const {
  int depth = 0;
  for (std::size_t i = at_; i < tokens_.size(); ++i) {
    const Token& each = tokens_[i];
    if (each.kind == Token::Kind::end || each.is(";")) return std::nullopt;
    if (each.is("(") || each.is("[")) ++depth;
    if (each.is(")") || each.is("]")) --depth;
    if (depth > 0) continue;
    if (each.is("..")) return i;
    if (each.is_word("loop")) return std::nullopt;
  }
  return std::nullopt;
}

StepPtr Reader::read_integer_for(std::string label, std::string variable,
                                 std::size_t /*range_at*/) {
  auto made = step<ForIntegerStep>(0);
  made->label = label;
  made->is_reverse = take_word("reverse");
  made->lower = read_expression({".."}, "..");
  expect("..");
  made->upper = read_expression({"by", "loop"}, "LOOP");
  if (take_word("by")) made->by = read_expression({"loop"}, "LOOP");
  expect_word("loop");
  declare_scope(std::move(label), true);
  made->variable = declare({.name = std::move(variable), .type = TypeId::int4});
  read_loop_body(*made);
  return made;
}

StepPtr Reader::read_for(std::string label) {
  const Name* const outside = names_;
  --at_;
  const int line = line_here();
  ++at_;
  const Token where = token();
  // An integer loop declares its own variable, even if one of that name exists.
  const bool is_plain_name = token().is_name() && token(1).is_word("in");
  if (is_plain_name) {
    const std::string name = token().text;
    at_ += 2;
    if (!is_word("execute")) {
      if (const auto range = find_range()) {
        StepPtr made = read_integer_for(std::move(label), name, *range);
        made->line = line;
        names_ = outside;
        return made;
      }
      if (is_word("reverse")) {
        throw SqlError{sqlstate::syntax_error, "cannot specify REVERSE in query FOR loop"}
            .at_position(static_cast<int>(token().begin) + 1);
      }
    }
    at_ -= 2;
  }
  const auto cursor_at = [&]() -> std::optional<std::size_t> {
    if (!is_plain_name || !token(2).is_name()) return std::nullopt;
    const std::string_view name = token(2).text;
    const auto found = find_name(names_, {&name, 1});
    if (!found || program_->variables[found->variable].type != TypeId::refcursor) {
      return std::nullopt;
    }
    return found->variable;
  }();
  if (cursor_at && (token(3).is_word("loop") || token(3).is("("))) {
    const Variable& cursor = program_->variables[*cursor_at];
    if (!cursor.cursor) {
      fail(sqlstate::syntax_error, "cursor FOR loop must use a bound cursor variable", token(2));
    }
    auto made = step<ForCursorStep>(line);
    made->label = label;
    made->cursor = *cursor_at;
    const std::string row = token().text;
    at_ += 3;
    made->arguments = read_cursor_arguments(program_->variables[*cursor_at]);
    expect_word("loop");
    declare_scope(std::move(label), true);
    made->row = declare({.name = row, .kind = Variable::Kind::record, .type = TypeId::record});
    read_loop_body(*made);
    names_ = outside;
    return made;
  }
  if (!found_here()) {
    if (!where.is_name()) fail_at(where);
    if (token(1).is(",")) {
      fail(sqlstate::syntax_error, fmt::format("\"{}\" is not a known variable", where.text),
           where);
    }
    // A number is no query.
    if (token(1).is_word("in") && token(2).kind == Token::Kind::number) fail_at(token(2));
    fail(sqlstate::syntax_error,
         "loop variable of loop over rows must be a record variable or list of scalar variables",
         where);
  }
  auto made = step<ForQueryStep>(line);
  made->label = label;
  made->targets = read_targets();
  expect_word("in");
  if (take_word("execute")) {
    made->text = read_expression({"using", "loop"}, "LOOP");
    made->using_values = read_using({"loop"});
  } else {
    const std::size_t first = at_;
    skip_fragment({"loop"}, "LOOP", false);
    if (first == at_) fail(sqlstate::syntax_error, "missing expression", token());
    made->query = make(Expression::Kind::statement, tokens_[first].begin, tokens_[at_ - 1].end);
  }
  expect_word("loop");
  declare_scope(std::move(label), true);
  read_loop_body(*made);
  names_ = outside;
  return made;
}

StepPtr Reader::read_foreach(std::string label) {
  const Name* const outside = names_;
  --at_;
  auto made = step<ForeachStep>(line_here());
  ++at_;
  made->label = label;
  made->targets = read_targets();
  if (take_word("slice")) {
    if (token().kind != Token::Kind::number) fail_here();
    made->slice = std::atoi(token().text.c_str());
    ++at_;
  }
  expect_word("in");
  expect_word("array");
  made->array = read_expression({"loop"}, "LOOP");
  expect_word("loop");
  declare_scope(std::move(label), true);
  read_loop_body(*made);
  names_ = outside;
  return made;
}

}  // namespace swizzle::sql::plpgsql
