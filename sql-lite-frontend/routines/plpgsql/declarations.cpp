#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/query/parse/parser.h"
#include "sql-lite-frontend/routines/plpgsql/reader.h"
#include "sql-lite-frontend/routines/plpgsql/shapes.h"
#include "sql-lite-frontend/routines/signature.h"
#include "sql-lite-frontend/types/collation/collated.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type.h"
#include "sql-lite-frontend/types/user_types.h"

/// Reads DECLARE, and declares implicit variables.
namespace swizzle::sql::plpgsql {

void Reader::declare_scope(std::string label, bool is_loop) {
  program_->names.push_back({Name::Kind::label, std::move(label), 0, is_loop, names_});
  names_ = &program_->names.back();
}

std::size_t Reader::add_variable(Variable variable) {
  if (variable.collation == kNoOid) variable.collation = signature_.collation;
  variable.place =
      variable.kind == Variable::Kind::scalar ? program_->value_count++ : program_->record_count++;
  program_->variables.push_back(std::move(variable));
  return program_->variables.size() - 1;
}

void Reader::name_variable(const std::string& name, std::size_t variable) {
  program_->names.push_back({Name::Kind::variable, name, variable, false, names_});
  names_ = &program_->names.back();
}

std::size_t Reader::declare(Variable variable) {
  const std::string name = variable.name;
  const std::size_t index = add_variable(std::move(variable));
  name_variable(name, index);
  return index;
}

void Reader::declare_arguments() {
  const Routine& routine = *signature_.routine;
  declare_scope(routine.name);
  // $n is parameter number n.
  std::vector<std::size_t> inputs;
  for (const TypeId type : signature_.argument_types) {
    inputs.push_back(add_variable({.name = {}, .type = type}));
  }
  program_->argument_count = inputs.size();
  std::size_t next = 0;
  for (const RoutineParameter& parameter : routine.parameters) {
    if (parameter.mode == ParameterMode::table && routine.result_relation != kNoOid) continue;
    const bool is_given = parameter.is_input() || routine.kind == RoutineKind::procedure;
    std::size_t variable = 0;
    if (is_given && next < inputs.size()) {
      variable = inputs[next++];
      program_->variables[variable].name = parameter.name;
    } else {
      TypeId type = parameter.type;
      // A single polymorphic column has the result's type.
      if (!is_given && parameter.type == routine.result) type = signature_.result;
      variable = add_variable({.name = parameter.name, .type = type});
    }
    if (parameter.is_output()) program_->outputs.push_back(variable);
    // Output parameters are numbered together with the input ones.
    name_variable(fmt::format("${}", &parameter - routine.parameters.data() + 1), variable);
    if (parameter.name.empty()) continue;
    for (const Name* at = names_; at->kind != Name::Kind::label; at = at->before) {
      if (at->text != parameter.name) continue;
      throw_error(sqlstate::invalid_function_definition,
                  "parameter name \"{}\" used more than once", parameter.name);
    }
    name_variable(parameter.name, variable);
  }
  // Places of computed parts are numbered like parameters, after all of these.
  program_->value_count = std::max(program_->value_count, routine.parameters.size());
  // The result's columns are those at the beginning of the call, even if the body alters their
  // table.
  if (is_composite(base_type(signature_.result))) {
    static_cast<void>(shape_of_type(base_type(signature_.result)));
  }
  program_->found = declare({.name = "found", .type = TypeId::bool_});
}

void Reader::declare_event_trigger_variables() {
  for (const char* const name : {"tg_event", "tg_tag"}) {
    declare({.name = name, .type = TypeId::text});
  }
}

void Reader::declare_trigger_variables() {
  const ShapePtr shape = signature_.table ? shape_of(*signature_.table) : nullptr;
  for (const char* const name : {"new", "old"}) {
    declare({.name = name, .kind = Variable::Kind::record, .type = TypeId::record, .shape = shape});
  }
  for (const char* const name : {"tg_name", "tg_relname", "tg_table_name", "tg_table_schema"}) {
    declare({.name = name, .type = TypeId::name});
  }
  for (const char* const name : {"tg_when", "tg_level", "tg_op"}) {
    declare({.name = name, .type = TypeId::text});
  }
  declare({.name = "tg_relid", .type = TypeId::oid});
  declare({.name = "tg_nargs", .type = TypeId::int4});
  declare({.name = "tg_argv", .type = array_type(TypeId::text)});
}

void Reader::refuse_redeclared(const std::string& name, const Token& where) const {
  for (const Name* at = names_; at != nullptr && at->kind != Name::Kind::label; at = at->before) {
    if (at->text == name) fail(sqlstate::syntax_error, "duplicate declaration", where);
  }
}

void Reader::read_declarations(BlockStep& block) {
  while (!is_word("begin")) {
    // DECLARE may be repeated.
    if (take_word("declare")) continue;
    if (is("<<")) {
      throw SqlError{sqlstate::syntax_error, "block label must be placed before DECLARE, not after"}
          .at_position(static_cast<int>(token().begin) + 1);
    }
    read_declaration(block);
  }
}

void Reader::read_declaration(BlockStep& block) {
  const Token where = token();
  const int line = line_here();
  const std::string name = expect_name();
  refuse_redeclared(name, where);
  if (is_word("alias") && token(1).is_word("for")) {
    at_ += 2;
    const Token meant = token();
    const auto found = take_variable();
    if (!found) {
      fail(sqlstate::undefined_object, fmt::format("variable \"{}\" does not exist", meant.text),
           meant);
    }
    expect(";");
    name_variable(name, found->variable);
    return;
  }
  Variable variable{.name = name, .line = line};
  const bool says_no_scroll = is_word("no") && token(1).is_word("scroll");
  const bool says_scroll = is_word("scroll");
  if (says_no_scroll || says_scroll || is_word("cursor")) {
    read_cursor(variable);
  } else {
    variable.is_constant = take_word("constant");
    read_type(variable, {"not", "default", ":=", "=", ";", "collate"});
    if (take_word("collate")) {
      read_collation(variable);
    }
    if (take_word("not")) {
      expect_word("null");
      variable.not_null = true;
    }
    if (take_word("default") || take(":=") || take("=")) {
      variable.initial = read_expression({";"}, ";");
    } else if (variable.not_null) {
      fail(sqlstate::null_value_not_allowed,
           fmt::format("variable \"{}\" must have a default value, since it's declared NOT NULL",
                       name),
           token());
    }
    expect(";");
  }
  block.declared.push_back(declare(std::move(variable)));
}

void Reader::read_collation(Variable& variable) {
  const Token where = token();
  std::string schema;
  std::string name = expect_name();
  if (take(".")) {
    schema = std::move(name);
    name = expect_name();
  }
  const Oid found = session_.names.find_collation(schema, name);
  if (found == kNoOid) {
    throw_error(sqlstate::undefined_object,
                "collation \"{}{}{}\" for encoding \"UTF8\" does not exist", schema,
                schema.empty() ? "" : ".", name);
  }
  if (default_collation(variable.type) == 0) {
    fail(sqlstate::datatype_mismatch,
         fmt::format("collations are not supported by type {}", format_type(variable.type)), where);
  }
  variable.collation = found;
}

void Reader::read_cursor(Variable& variable) {
  auto cursor = std::make_unique<BoundCursor>();
  if (take_word("no")) cursor->scroll = BoundCursor::Scroll::no;
  if (take_word("scroll") && cursor->scroll == BoundCursor::Scroll::unsaid) {
    cursor->scroll = BoundCursor::Scroll::yes;
  }
  expect_word("cursor");
  variable.type = TypeId::refcursor;
  // The cursor's parameters are visible only in its query.
  const Name* const outside = names_;
  declare_scope({});
  if (take("(")) {
    do {
      Variable parameter{.name = expect_name()};
      read_type(parameter, {",", ")"});
      cursor->parameters.push_back(declare(std::move(parameter)));
    } while (take(","));
    expect(")");
  }
  if (!take_word("is")) expect_word("for");
  cursor->query = read_statement();
  names_ = outside;
  variable.cursor = std::move(cursor);
}

void Reader::read_type(Variable& variable, std::initializer_list<std::string_view> ends) {
  const std::size_t first = at_;
  int depth = 0;
  for (;; ++at_) {
    if (depth == 0 && ends_here(ends)) break;
    if (token().kind == Token::Kind::end || is(";")) {
      if (at_ == first) fail_here();
      fail(sqlstate::syntax_error, "incomplete data type declaration", token());
    }
    if (is("(") || is("[")) ++depth;
    if (is(")") || is("]")) --depth;
  }
  if (at_ == first) fail(sqlstate::syntax_error, "missing data type declaration", token());
  if (read_reference_type(variable, first, at_)) return;
  const Token& where = tokens_[first];
  const std::string text = body_.substr(where.begin, tokens_[at_ - 1].end - where.begin);
  Arena arena;
  try {
    const std::string sql = "SELECT NULL::" + text;
    const auto parsed = parse_script(arena, sql);
    const auto& select = ast::as<ast::SelectStmt>(parsed[0]->stmt);
    const auto* cast =
        ast::try_as<ast::TypeCast>(ast::as<ast::ResTarget>(select.target_list[0]).val);
    if (cast == nullptr) fail_at(where);
    const ast::TypeName& name = *cast->type_name;
    if (name.setof) fail_at(where);
    const SignatureType type = signature_type(session_, name, nullptr);
    variable.type = type.type;
    if (type.relation != kNoOid) {
      variable.shape = shape_of(*session_.names.table(type.relation));
    } else if (is_composite(type.type)) {
      variable.shape = shape_of_type(type.type);
    } else if (type.type != TypeId::record) {
      Binder binder{session_.names, arena};
      variable.typmod = binder.bind_type(name).typmod;
    }
    const bool is_pseudo = is_pseudo_type(type.type) && type.type != TypeId::record;
    if (is_pseudo && !is_polymorphic(type.type)) {
      throw_error(sqlstate::feature_not_supported, "variable \"{}\" has pseudo-type {}",
                  variable.name, format_type(type.type));
    }
  } catch (SqlError& error) {
    error.fields().position = static_cast<int>(where.begin) + 1;
    throw;
  }
  if (variable.type == TypeId::record || is_composite(variable.type)) {
    variable.kind = Variable::Kind::record;
  }
}

ShapePtr Reader::shape_of_type(TypeId composite) {
  for (const Program::RowType& known : program_->row_types) {
    if (known.type == composite) return known.shape;
  }
  const auto row = session_.names.row_shape(composite);
  ShapePtr shape = row ? shape_of(*row) : nullptr;
  program_->row_types.push_back({composite, shape});
  return shape;
}

/// Reads name%TYPE and name%ROWTYPE.
bool Reader::read_reference_type(Variable& variable, std::size_t begin, std::size_t end) {
  if (end - begin < 3 || !tokens_[end - 2].is("%")) return false;
  const bool is_row = tokens_[end - 1].is_word("rowtype");
  if (!is_row && !tokens_[end - 1].is_word("type")) return false;
  std::vector<std::string_view> parts;
  for (std::size_t i = begin; i + 2 < end; i += 2) {
    if (!tokens_[i].is_name() || (i + 3 < end && !tokens_[i + 1].is("."))) fail_at(tokens_[i]);
    parts.push_back(tokens_[i].text);
  }
  const auto table_named = [&](std::size_t count) {
    const std::string_view schema = count > 1 ? parts[count - 2] : std::string_view{};
    const TablePtr table = session_.names.find_table(schema, parts[count - 1]);
    if (table) return table;
    std::string name;
    for (std::size_t i = 0; i < count; ++i) name += (i > 0 ? "." : "") + std::string{parts[i]};
    throw_error(sqlstate::undefined_table, "relation \"{}\" does not exist", name);
  };
  if (is_row) {
    variable.kind = Variable::Kind::record;
    const std::string_view schema = parts.size() > 1 ? parts[parts.size() - 2] : std::string_view{};
    if (const TypePtr type = session_.names.find_user_type(schema, parts.back());
        type && is_composite(type->id())) {
      variable.type = type->id();
      variable.shape = shape_of_type(variable.type);
      return true;
    }
    variable.type = TypeId::record;
    variable.shape = shape_of(*table_named(parts.size()));
    return true;
  }
  if (const auto found = find_name(names_, parts)) {
    const Variable& like = program_->variables[found->variable];
    variable.type = like.type;
    variable.typmod = like.typmod;
    variable.kind = like.kind;
    variable.shape = like.shape;
    if (found->parts == parts.size()) return true;
    const auto field = like.shape ? like.shape->find(parts.back()) : std::nullopt;
    if (field) {
      variable.kind = Variable::Kind::scalar;
      variable.type = like.shape->fields[*field].type;
      variable.typmod = like.shape->fields[*field].typmod;
      return true;
    }
  }
  if (parts.size() < 2) {
    // A single name that is no variable is parsed as a type name, in which % is an error.
    SqlError error{sqlstate::syntax_error, "syntax error at or near \"%\""};
    error.fields().where = fmt::format(
        "invalid type name \"{}\"",
        body_.substr(tokens_[begin].begin, tokens_[end - 1].end - tokens_[begin].begin));
    throw std::move(error).at_position(static_cast<int>(tokens_[end - 2].begin) + 1);
  }
  const TablePtr table = table_named(parts.size() - 1);
  const auto position = table->column_position(parts.back());
  if (!position) {
    fail(sqlstate::undefined_column,
         fmt::format("column \"{}\" of relation \"{}\" does not exist", parts.back(),
                     parts[parts.size() - 2]),
         tokens_[begin]);
  }
  variable.type = table->relation.columns[*position].type;
  variable.typmod = table->relation.columns[*position].typmod;
  return true;
}

}  // namespace swizzle::sql::plpgsql
