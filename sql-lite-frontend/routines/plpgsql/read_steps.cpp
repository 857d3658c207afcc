#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sql-lite-frontend/routines/plpgsql/reader.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/user_types.h"

/// Blocks, and steps that choose among others.
namespace swizzle::sql::plpgsql {

std::string Reader::read_label() {
  std::string label;
  while (take("<<")) {
    label = expect_name();
    expect(">>");
  }
  return label;
}

void Reader::check_end_label(const std::string& label) {
  // The end of another construct is no label.
  if (!token().is_name() || is_word("if") || is_word("loop") || is_word("case")) return;
  const Token end = token();
  ++at_;
  if (label.empty()) {
    fail(sqlstate::syntax_error,
         fmt::format("end label \"{}\" specified for unlabeled block", end.text), end);
  }
  if (end.text != label) {
    fail(sqlstate::syntax_error,
         fmt::format("end label \"{}\" differs from block's label \"{}\"", end.text, label), end);
  }
}

std::unique_ptr<BlockStep> Reader::read_block(std::string label) {
  check_stack();
  const Name* const outside = names_;
  auto block = step<BlockStep>(line_here());
  block->label = label;
  declare_scope(label);
  if (take_word("declare")) read_declarations(*block);
  block->line = line_here();
  expect_word("begin");
  block->steps = read_steps({"end", "exception"});
  if (take_word("exception")) read_handlers(*block);
  expect_word("end");
  check_end_label(label);
  names_ = outside;
  return block;
}

void Reader::read_handlers(BlockStep& block) {
  const Name* const outside = names_;
  declare_scope({});
  block.sqlstate = declare({.name = "sqlstate", .type = TypeId::text, .is_constant = true});
  block.sqlerrm = declare({.name = "sqlerrm", .type = TypeId::text, .is_constant = true});
  if (!is_word("when")) fail_here();
  while (take_word("when")) {
    BlockStep::Handler handler;
    do {
      if (is_word("sqlstate")) {
        ++at_;
        const Token code = token();
        if (code.kind != Token::Kind::string) fail_here();
        ++at_;
        if (!read_sqlstate(code.text)) {
          fail(sqlstate::syntax_error, "invalid SQLSTATE code", code);
        }
        handler.conditions.push_back({Condition::Kind::code, code.text});
        continue;
      }
      const std::string name = expect_name();
      if (name == "others") {
        handler.conditions.push_back({Condition::Kind::others});
        continue;
      }
      const std::vector<std::string> codes = codes_of_condition(name);
      if (codes.empty()) {
        throw_error(sqlstate::undefined_object, "unrecognized exception condition \"{}\"", name);
      }
      for (const std::string& code : codes) {
        handler.conditions.push_back({Condition::Kind::code, code});
      }
    } while (take_word("or"));
    expect_word("then");
    handler.steps = read_steps({"when", "end"});
    block.handlers.push_back(std::move(handler));
  }
  names_ = outside;
}

Steps Reader::read_steps(std::initializer_list<std::string_view> ends) {
  Steps steps;
  while (!ends_here(ends)) {
    if (token().kind == Token::Kind::end) fail_here();
    steps.push_back(read_step());
  }
  return steps;
}

StepPtr Reader::read_labelled() {
  std::string label = read_label();
  if (is_word("declare") || is_word("begin")) {
    StepPtr block = read_block(std::move(label));
    expect(";");
    return block;
  }
  if (take_word("loop")) return read_plain_loop(std::move(label));
  if (take_word("while")) return read_while(std::move(label));
  if (take_word("for")) return read_for(std::move(label));
  if (take_word("foreach")) return read_foreach(std::move(label));
  fail_here();
}

StepPtr Reader::read_step() {
  check_stack();
  if (is("<<")) return read_labelled();
  if (const auto found = found_here()) {
    const Token& behind = token(2 * found->parts - 1);
    if (behind.is(":=") || behind.is("=") || behind.is("[") || behind.is(".")) {
      return read_assignment(*found);
    }
  }
  if (token().kind != Token::Kind::word) {
    if (token().kind == Token::Kind::quoted || is("(")) return read_sql();
    fail_here();
  }
  const std::string& word = token().text;
  static constexpr std::array kLabelled =
      std::to_array<std::string_view>({"declare", "begin", "loop", "while", "for", "foreach"});
  if (std::ranges::find(kLabelled, word) != kLabelled.end()) return read_labelled();
  if (word == "if") return read_if();
  if (word == "case") return read_case();
  if (word == "exit" || word == "continue") return read_exit(word == "exit");
  if (word == "return") return read_return();
  if (word == "raise") return read_raise();
  if (word == "assert") return read_assert();
  if (word == "perform") return read_perform();
  if (word == "execute") return read_execute();
  if (word == "get") return read_diagnostics();
  if (word == "open") return read_open();
  if (word == "fetch" || word == "move") return read_fetch(word == "move");
  if (word == "close") return read_close();
  if (word == "commit" || word == "rollback") return read_transaction(word == "commit");
  if (word == "null") {
    if (!token(1).is(";")) fail_at(token(1));
    auto nothing = step<NullStep>(line_here());
    at_ += 2;
    return nothing;
  }
  return read_sql();
}

/// Reads the path after an assigned variable or field: further fields, subscripts, slices. `begin`
/// is where it begins in the text.
void Reader::read_path(AssignedPart& part, std::size_t begin) {
  const auto read_subscript = [&](std::initializer_list<std::string_view> ends) {
    part.around.push_back(body_.substr(begin, token().begin - begin));
    part.subscripts.push_back(read_expression(ends, "]"));
    begin = tokens_[at_ - 1].end;
  };
  while (is(".") || is("[")) {
    if (take(".")) {
      expect_name();
      continue;
    }
    expect("[");
    if (is("]")) fail_here();
    // A missing bound of a slice is the array's own.
    if (!is(":")) read_subscript({"]", ":"});
    if (take(":") && !is("]")) read_subscript({"]"});
    expect("]");
  }
  part.around.push_back(body_.substr(begin, tokens_[at_ - 1].end - begin));
}

StepPtr Reader::read_assignment(const FoundName& found) {
  auto assign = step<AssignStep>(line_here());
  const Variable& variable = program_->variables[found.variable];
  const Token where = token();
  // A parameter of a composite type is one value, of which fields are parts.
  const bool is_row =
      variable.kind == Variable::Kind::scalar && is_composite(base_type(variable.type));
  assign->target = is_row ? Target{.variable = take_variable()->variable} : read_target();
  require_assignable(assign->target.variable, where);
  const std::size_t whole_end = tokens_[at_ - 1].end;
  std::optional<AssignedPart> part;
  if (is(".") || is("[")) {
    part.emplace(body_.substr(where.begin, whole_end - where.begin), where.text);
    read_path(*part, whole_end);
  }
  if (!take(":=")) expect("=");
  const std::size_t value_at = token().begin;
  assign->value = read_expression({";"}, ";");
  if (part) assign->value->set_part(std::move(*part));
  assign->value->set_target(body_.substr(where.begin, value_at - where.begin));
  expect(";");
  return assign;
}

StepPtr Reader::read_if() {
  auto made = step<IfStep>(line_here());
  const int first_line = line_here();
  expect_word("if");
  made->branches.push_back({read_expression({"then"}, "THEN"), {}, first_line});
  expect_word("then");
  made->branches.back().steps = read_steps({"elsif", "elseif", "else", "end"});
  while (is_word("elsif") || is_word("elseif")) {
    const int line = line_here();
    ++at_;
    made->branches.push_back({read_expression({"then"}, "THEN"), {}, line});
    expect_word("then");
    made->branches.back().steps = read_steps({"elsif", "elseif", "else", "end"});
  }
  if (take_word("else")) made->otherwise = read_steps({"end"});
  expect_word("end");
  expect_word("if");
  expect(";");
  return made;
}

StepPtr Reader::read_case() {
  auto made = step<CaseStep>(line_here());
  expect_word("case");
  std::string name;
  const Name* const outside = names_;
  if (!is_word("when")) {
    made->subject = read_expression({"when"}, "WHEN");
    name = fmt::format("__Case__Variable_{}__", program_->variables.size());
    declare_scope({});
    made->variable = declare({.name = name});
  }
  if (!is_word("when")) fail_here();
  while (is_word("when")) {
    const int line = line_here();
    ++at_;
    const std::size_t first = at_;
    ExpressionPtr condition = read_expression({"then"}, "THEN");
    if (made->subject) {
      const std::size_t begin = tokens_[first].begin;
      const std::size_t end = tokens_[at_ - 1].end;
      condition = make(Expression::Kind::value, begin, end,
                       fmt::format("\"{}\" IN ({})", name, body_.substr(begin, end - begin)));
    }
    expect_word("then");
    made->branches.push_back({std::move(condition), {}, line});
    made->branches.back().steps = read_steps({"when", "else", "end"});
  }
  if (take_word("else")) {
    made->has_else = true;
    made->otherwise = read_steps({"end"});
  }
  expect_word("end");
  expect_word("case");
  expect(";");
  names_ = outside;
  return made;
}

StepPtr Reader::read_exit(bool is_exit) {
  auto made = step<ExitStep>(line_here());
  const Token where = token();
  made->is_exit = is_exit;
  ++at_;
  const std::string_view word = is_exit ? "EXIT" : "CONTINUE";
  bool in_loop = false;
  for (const Name* at = names_; at != nullptr; at = at->before) in_loop |= at->is_loop;
  if (token().is_name() && !is_word("when")) {
    const Token label = token();
    made->label = expect_name();
    const Name* at = names_;
    while (at != nullptr && (at->kind != Name::Kind::label || at->text != made->label)) {
      at = at->before;
    }
    // The outermost label is the function's name.
    if (at == nullptr || at->before == nullptr) {
      fail(sqlstate::syntax_error,
           fmt::format("there is no label \"{}\" attached to any block or loop enclosing this "
                       "statement",
                       made->label),
           label);
    }
    if (!is_exit && !at->is_loop) {
      fail(sqlstate::syntax_error,
           fmt::format("block label \"{}\" cannot be used in CONTINUE", made->label), label);
    }
  } else if (!in_loop) {
    fail(sqlstate::syntax_error,
         is_exit ? "EXIT cannot be used outside a loop, unless it has a label"
                 : fmt::format("{} cannot be used outside a loop", word),
         where);
  }
  if (take_word("when")) made->when = read_expression({";"}, ";");
  expect(";");
  return made;
}

StepPtr Reader::read_return() {
  const int line = line_here();
  expect_word("return");
  Token where = token();
  const Routine& routine = *signature_.routine;
  const auto mismatch = [&](std::string message, std::string hint = {}) {
    throw SqlError{sqlstate::datatype_mismatch, std::move(message)}
        .with_hint(std::move(hint))
        .at_position(static_cast<int>(where.begin) + 1);
  };
  if (is_word("next") || is_word("query")) {
    const bool is_next = is_word("next");
    if (!routine.returns_set) {
      --at_;
      where = token();
      mismatch(
          fmt::format("cannot use RETURN {} in a non-SETOF function", is_next ? "NEXT" : "QUERY"));
    }
    ++at_;
    if (is_next) {
      auto made = step<ReturnNextStep>(line);
      if (!program_->outputs.empty()) {
        if (!is(";"))
          mismatch("RETURN NEXT cannot have a parameter in function with OUT parameters");
      } else {
        made->value = read_expression({";"}, ";");
      }
      expect(";");
      return made;
    }
    auto made = step<ReturnQueryStep>(line);
    if (take_word("execute")) {
      made->text = read_expression({"using", ";"}, ";");
      made->using_values = read_using({";"});
      expect(";");
    } else {
      made->query = read_statement();
    }
    return made;
  }
  auto made = step<ReturnStep>(line);
  if (!is(";")) {
    if (routine.returns_set) {
      mismatch("RETURN cannot have a parameter in function returning set",
               "Use RETURN NEXT or RETURN QUERY.");
    }
    if (routine.kind == RoutineKind::procedure) {
      throw SqlError{sqlstate::syntax_error, "RETURN cannot have a parameter in a procedure"}
          .at_position(static_cast<int>(where.begin) + 1);
    }
    if (!program_->outputs.empty()) {
      mismatch("RETURN cannot have a parameter in function with OUT parameters");
    }
    if (routine.result == TypeId::void_ || routine.result == TypeId::event_trigger) {
      mismatch("RETURN cannot have a parameter in function returning void");
    }
    const auto found = found_here();
    if (found && token(2 * found->parts - 1).is(";")) {
      const Variable& variable = program_->variables[found->variable];
      if (variable.kind == Variable::Kind::record) made->record = variable.place;
    }
    made->value = read_expression({";"}, ";");
  } else if (!routine.returns_set && program_->outputs.empty() && routine.result != TypeId::void_) {
    fail(sqlstate::syntax_error, "missing expression", where);
  }
  expect(";");
  return made;
}

}  // namespace swizzle::sql::plpgsql
