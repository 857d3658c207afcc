#include "sql-lite-frontend/definitions/routines/routine_builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/catalog/callable_routine.h"
#include "sql-lite-frontend/definitions/tables/table_builder.h"
#include "sql-lite-frontend/definitions/types/user_types.h"
#include "sql-lite-frontend/query/parse/parser.h"
#include "sql-lite-frontend/routines/body.h"
#include "sql-lite-frontend/routines/language.h"
#include "sql-lite-frontend/routines/signature.h"
#include "sql-lite-frontend/statement/names/in_use.h"
#include "sql-lite-frontend/statement/statement_options.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

using Mode = ast::FunctionParameterMode;

SqlError invalid(std::string message) {
  return SqlError{sqlstate::invalid_function_definition, std::move(message)};
}

ParameterMode mode_of(Mode mode) {
  switch (mode) {
    case Mode::out:
      return ParameterMode::out;
    case Mode::inout:
      return ParameterMode::inout;
    case Mode::variadic:
      return ParameterMode::variadic;
    case Mode::table:
      return ParameterMode::table;
    default:
      return ParameterMode::in;
  }
}

/// Reads one CREATE statement.
class RoutineBuilder {
 public:
  RoutineBuilder(StatementContext& session, const ast::CreateFunctionStmt& statement,
                 const Statement& whole, ResultSink& sink)
      : session_(session), statement_(statement), whole_(whole), sink_(sink) {}

  Routine build() {
    routine_.kind = statement_.is_procedure ? RoutineKind::procedure : RoutineKind::function;
    routine_.name = ast::string_of(statement_.funcname.back());
    routine_.owner = session_.user;
    place();
    read_options();
    if (is_native() && !has_cost_) routine_.cost = 1;
    read_parameters();
    read_result();
    check_costs_and_types();
    read_body();
    return std::move(routine_);
  }

 private:
  void place() {
    ast::RangeVar where;
    where.schemaname = statement_.funcname.size() > 1
                           ? ast::string_of(statement_.funcname[statement_.funcname.size() - 2])
                           : std::string_view{};
    where.relname = routine_.name;
    where.location = -1;
    routine_.schema = session_.names.creation_schema(where);
    if (routine_.schema == session_.names.temp_schema) session_.transaction.note_temporary();
    if (const SchemaPtr schema = session_.catalog.schema(routine_.schema)) {
      session_.rights.require(*schema, privilege::kCreate);
    }
  }

  void read_options() {
    std::vector<std::string_view> seen;
    for (const ast::Node* node : statement_.options) {
      const auto& option = ast::as<ast::DefElem>(node);
      note_option(option, seen);
      if (option.defname == "as") {
        as_ = &option;
      } else if (option.defname == "language") {
        routine_.language = ast::string_of(option.arg);
      } else if (option.defname == "window" || option.defname == "transform") {
        throw_error(sqlstate::feature_not_supported, "{} of a function is not supported",
                    option.defname == "window" ? "WINDOW" : "TRANSFORM");
      } else {
        refuse_for_procedure(option);
        has_cost_ |= option.defname == "cost";
        apply_common_option(session_, option, routine_);
      }
    }
    if (routine_.language.empty()) {
      if (statement_.sql_body == nullptr) throw invalid("no language specified");
      routine_.language = "sql";
    }
    static_cast<void>(require_language(routine_.language));
    if (is_native() && !session_.rights.is_superuser(session_.user)) {
      throw_error(sqlstate::insufficient_privilege, "permission denied for language {}",
                  routine_.language);
    }
  }

  void refuse_for_procedure(const ast::DefElem& option) const {
    if (!statement_.is_procedure || option.defname == "set" || option.defname == "security") return;
    throw SqlError{sqlstate::invalid_function_definition,
                   "invalid attribute in procedure definition"}
        .at_position(option.location + 1);
  }

  /// Runs the body; an error that has no position is one about what begins there.
  template <class Body>
  static auto located(std::int32_t location, const Body& body) {
    try {
      return body();
    } catch (SqlError& error) {
      if (error.fields().position == 0) error.fields().position = location + 1;
      throw;
    }
  }

  void read_parameter(const ast::FunctionParameter& given) {
    RoutineParameter parameter;
    parameter.name = given.name;
    parameter.mode = mode_of(given.mode);
    parameter.type = located(given.arg_type->location, [&] { return type_of(*given.arg_type); });
    if (parameter.is_input() && has_variadic_) {
      throw invalid("VARIADIC parameter must be the last input parameter");
    }
    if (parameter.mode == ParameterMode::variadic) {
      has_variadic_ = true;
      if (variadic_element(parameter.type) == TypeId::none) {
        throw invalid("VARIADIC parameter must be an array");
      }
    }
    refuse_repeated_name(parameter);
    if (given.defexpr != nullptr) {
      if (!parameter.is_input()) {
        throw invalid("only input parameters can have default values");
      }
      parameter.default_sql = default_of(given.defexpr, parameter.type);
      has_default_ = true;
    } else if (parameter.is_input() && has_default_) {
      throw invalid("input parameters after one with a default value must also have defaults");
    }
    routine_.parameters.push_back(std::move(parameter));
  }

  void read_parameters() {
    for (const ast::Node* node : statement_.parameters) {
      const auto& given = ast::as<ast::FunctionParameter>(node);
      located(given.location, [&] { read_parameter(given); });
    }
    constexpr std::size_t kMost = 100;
    if (routine_.argument_types().size() > kMost) {
      throw_error(sqlstate::too_many_arguments, "functions cannot have more than {} arguments",
                  kMost);
    }
  }

  TypeId type_of(const ast::TypeName& name) {
    if (name.setof) {
      throw invalid(statement_.is_procedure ? "procedures cannot accept set arguments"
                                            : "functions cannot accept set arguments");
    }
    note_shell(name, Use::parameter);
    const SignatureType type = parameter_type(name);
    if (type.type == TypeId::record && type.relation != kNoOid) {
      throw SqlError{sqlstate::feature_not_supported,
                     "parameters of a system catalog's row type are not supported"};
    }
    hold_type(session_, type.type);
    return type.type;
  }

  /// PostgreSQL writes the name of an unknown type without quotes here, and only here.
  SignatureType parameter_type(const ast::TypeName& name) {
    try {
      return signature_type(session_, name, &sink_);
    } catch (const SqlError& error) {
      if (error.state() != sqlstate::undefined_object) throw;
      throw_error(sqlstate::undefined_object, "type {}{} does not exist", written_name(name),
                  name.array_bounds.empty() ? "" : "[]");
    }
  }

  static std::string written_name(const ast::TypeName& name) {
    std::string written;
    for (const ast::Node* part : name.names) {
      written += (written.empty() ? "" : ".") + std::string{ast::string_of(part)};
    }
    return written;
  }

  /// Notes a shell type in the signature, which none of our languages accepts.
  enum class Use : std::uint8_t { parameter, result };
  void note_shell(const ast::TypeName& name, Use use) {
    const TypePtr shell = shell_named(session_, name);
    if (!shell) return;
    const bool is_result = use == Use::result;
    if (routine_.language == "sql") {
      throw invalid(fmt::format("SQL function cannot {} shell type {}",
                                is_result ? "return" : "accept", written_name(name)));
    }
    session_.notice(sink_, Severity::notice, sqlstate::wrong_object_type,
                    fmt::format("{} type {} is only a shell", is_result ? "return" : "argument",
                                written_name(name)));
    if (is_native()) {
      throw SqlError{sqlstate::feature_not_supported,
                     "functions over shell types are not supported"};
    }
    throw_error(sqlstate::feature_not_supported, "PL/pgSQL functions cannot {} type {}",
                is_result ? "return" : "accept", shell->name);
  }

  void refuse_repeated_name(const RoutineParameter& parameter) const {
    if (parameter.name.empty()) return;
    for (const RoutineParameter& other : routine_.parameters) {
      if (other.name != parameter.name) continue;
      // An IN and an OUT parameter may have the same name, except in PL/pgSQL, which refuses it
      // itself.
      const auto is_given_alone = [](ParameterMode mode) {
        return mode == ParameterMode::in || mode == ParameterMode::variadic;
      };
      const auto is_given_back = [](ParameterMode mode) {
        return mode == ParameterMode::out || mode == ParameterMode::table;
      };
      if ((is_given_alone(parameter.mode) && is_given_back(other.mode)) ||
          (is_given_alone(other.mode) && is_given_back(parameter.mode))) {
        continue;
      }
      throw invalid(fmt::format("parameter name \"{}\" used more than once", parameter.name));
    }
  }

  std::string default_of(const ast::Node* node, TypeId type) {
    Arena arena;
    Binder binder{session_.names, arena};
    Scope scope;
    scope.clause = Clause::column_default;
    ExprPtr expr = binder.bind_expression(node, scope);
    const TypeId source = expr->type();
    if (!is_polymorphic(type)) {
      if (source == TypeId::unknown) {
        expr = binder.coerce(std::move(expr), type, kNoTypmod, Binder::Implicitness::implicit);
      } else if (!can_coerce(source, type, CastContext::assignment)) {
        throw sql_error(sqlstate::datatype_mismatch,
                        "argument of DEFAULT must be type {}, not type {}", format_type(type),
                        format_type(source))
            .at_position(expr->location() + 1);
      }
    }
    hold_named(session_, binder.routines_read());
    require_type_usage(session_, binder.types_read());
    ExprPrinter printer{.out = {}, .is_kept = true};
    printer.print(*expr);
    return std::move(printer.out);
  }

  void read_result() {
    std::vector<TypeId> outputs;
    bool is_table = false;
    for (const RoutineParameter& parameter : routine_.parameters) {
      if (parameter.is_output()) outputs.push_back(parameter.type);
      is_table |= parameter.mode == ParameterMode::table;
    }
    TypeId by_outputs = TypeId::none;
    if (outputs.size() == 1 && !statement_.is_procedure) by_outputs = outputs[0];
    if (outputs.size() > 1 || (statement_.is_procedure && !outputs.empty())) {
      by_outputs = TypeId::record;
    }
    if (statement_.is_procedure) {
      routine_.result = by_outputs == TypeId::none ? TypeId::void_ : by_outputs;
      return;
    }
    if (statement_.return_type == nullptr) {
      if (by_outputs == TypeId::none) throw invalid("function result type must be specified");
      routine_.result = by_outputs;
      return;
    }
    routine_.returns_set = statement_.return_type->setof;
    note_shell(*statement_.return_type, Use::result);
    const SignatureType type = signature_type(session_, *statement_.return_type, &sink_);
    if (is_table) {
      // RETURNS TABLE: the grammar has already turned the columns into OUT parameters.
      routine_.result = by_outputs;
      return;
    }
    hold_type(session_, type.type);
    const TypeId result = type.relation == kNoOid ? type.type : TypeId::record;
    if (by_outputs != TypeId::none && result != by_outputs) {
      throw invalid(fmt::format("function result type must be {} because of OUT parameters",
                                format_type(by_outputs)));
    }
    routine_.result = result;
    routine_.result_relation = type.relation;
    if (type.relation != kNoOid) add_columns_of(type.relation);
  }

  /// Rows of a relation are rows of these columns, as they are now.
  void add_columns_of(Oid relation) {
    const TablePtr table = session_.names.table(relation);
    for (const Column& column : table->relation.columns) {
      if (column.dropped) continue;
      routine_.parameters.push_back({column.name, ParameterMode::table, column.type, {}});
    }
  }

  void check_costs_and_types() {
    if (routine_.returns_set && routine_.rows == 0) routine_.rows = 1000;
    check_costs(routine_);
    const std::vector<TypeId> inputs = routine_.argument_types();
    for (const TypeId type : inputs) {
      // An extension's functions take any row.
      const bool is_any_row = type == TypeId::record && routine_.language == "c";
      if (is_pseudo_type(type) && !is_polymorphic(type) && !is_any_row) {
        throw refusal_of_type(fmt::format(
            "{} functions cannot {} type {}", shown_language(),
            routine_.language == "sql" ? "have arguments of" : "accept", format_type(type)));
      }
    }
    if (std::string missing = missing_polymorphic_input(routine_.result, inputs); !missing.empty())
      throw invalid("cannot determine result data type").with_detail(std::move(missing));
    for (const RoutineParameter* column : output_columns_of(routine_)) {
      if (!is_polymorphic(column->type)) continue;
      throw_error(sqlstate::feature_not_supported, "columns of type {} are not supported",
                  format_type(column->type));
    }
    const bool is_event_trigger =
        routine_.result == TypeId::event_trigger && routine_.language != "sql";
    if (is_event_trigger && !inputs.empty()) {
      SqlError error = invalid("event trigger functions cannot have declared arguments");
      if (routine_.language == "plpgsql") {
        error.fields().where =
            fmt::format("compilation of PL/pgSQL function \"{}\" near line 1", routine_.name);
      }
      throw error;
    }
    const bool is_trigger = routine_.result == TypeId::trigger && routine_.language != "sql";
    if (is_trigger && !inputs.empty()) {
      SqlError error = invalid("trigger functions cannot have declared arguments");
      if (routine_.language == "plpgsql") {
        error.fields().where =
            fmt::format("compilation of PL/pgSQL function \"{}\" near line 1", routine_.name);
      }
      throw std::move(error).with_hint(
          "The arguments of the trigger can be accessed through TG_NARGS and TG_ARGV instead.");
    }
    const bool may_return = is_trigger || is_event_trigger || routine_.result == TypeId::void_ ||
                            routine_.result == TypeId::record || is_polymorphic(routine_.result);
    if (is_pseudo_type(routine_.result) && !may_return) {
      throw refusal_of_type(fmt::format("{} functions cannot return type {}", shown_language(),
                                        format_type(routine_.result)));
    }
  }

  /// Returns the error in the words of the language: PL/pgSQL reports an unsupported type, SQL a
  /// wrong one.
  [[nodiscard]] SqlError refusal_of_type(std::string message) const {
    if (routine_.language == "sql") return invalid(std::move(message));
    return SqlError{sqlstate::feature_not_supported, std::move(message)};
  }
  [[nodiscard]] std::string_view shown_language() const {
    if (is_native()) return routine_.language;
    return routine_.language == "sql" ? "SQL" : "PL/pgSQL";
  }
  [[nodiscard]] bool is_native() const {
    return routine_.language == "c" || routine_.language == "internal";
  }

  void read_body() {
    if (statement_.sql_body == nullptr) {
      if (as_ == nullptr) throw invalid("no function body specified");
      const ast::NodeList parts = ast::as<ast::List>(as_->arg).items;
      if (routine_.language == "c") {
        // AS 'object file', 'symbol'.
        routine_.object_file = ast::string_of(parts[0]);
        routine_.body = parts.size() > 1 ? ast::string_of(parts[1]) : routine_.name;
        return;
      }
      if (parts.size() != 1) {
        throw invalid(
            fmt::format("only one AS item needed for language \"{}\"", routine_.language));
      }
      routine_.body = ast::string_of(parts[0]);
      return;
    }
    if (as_ != nullptr) throw invalid("duplicate function body specified");
    if (routine_.language != "sql") {
      throw invalid("inline SQL function body only valid for language SQL");
    }
    if (std::ranges::any_of(routine_.argument_types(), is_polymorphic)) {
      throw invalid("SQL function with unquoted function body cannot have polymorphic arguments");
    }
    routine_.form = BodyForm::atomic;
    routine_.body = atomic_body_text(text_of_statement());
    note_meanings();
  }

  std::string_view text_of_statement() const {
    std::string_view text = whole_.text();
    text.remove_prefix(std::min(static_cast<std::size_t>(whole_.location), text.size()));
    Arena arena;
    const std::string rest{text};
    const auto statements = parse_script(arena, rest);
    const std::string_view own = statement_text(rest, *statements[0]);
    return text.substr(static_cast<std::size_t>(own.data() - rest.data()), own.size());
  }

  /// Notes the present meanings of the names in the body, which they keep.
  void note_meanings() {
    auto plain = std::make_shared<Routine>(routine_);
    plain->form = BodyForm::string;
    const BodyNames names = body_names(plain);
    bind_body(session_, routine_, names, [&](const BodyPart&, Binder& binder) {
      for (const ViewName& row : binder.rows_read()) note(row);
      for (const Binder::RelationRead& read : binder.relations_read()) {
        note(view_name_of(read));
      }
      for (const Binder::NamedRelation& named : binder.named_relations()) {
        // A constant's object is among the routines read.
        if (std::ranges::find(binder.routines_read(), named.relation, &ViewRoutine::routine) !=
            binder.routines_read().end())
          continue;
        const TablePtr table = session_.names.table(named.relation);
        if (!table) continue;
        note(view_name_of({named.schema, named.name, table, false, 0}));
      }
      routine_.body_types.insert(routine_.body_types.end(), binder.types_read().begin(),
                                 binder.types_read().end());
      routine_.body_routines.insert(routine_.body_routines.end(), binder.routines_read().begin(),
                                    binder.routines_read().end());
      hold_named(session_, binder.routines_read());
    });
  }

  void note(ViewName name) {
    const bool is_known = std::ranges::any_of(routine_.body_names, [&](const ViewName& other) {
      return other.schema == name.schema && other.name == name.name &&
             (!name.name.empty() || other.relation == name.relation);
    });
    if (!is_known) routine_.body_names.push_back(std::move(name));
  }

  StatementContext& session_;
  const ast::CreateFunctionStmt& statement_;
  const Statement& whole_;
  ResultSink& sink_;
  const ast::DefElem* as_ = nullptr;
  bool has_cost_ = false;
  bool has_default_ = false;   ///< some parameter so far
  bool has_variadic_ = false;  ///< likewise
  Routine routine_;
};

void bind_body_statement(Binder& binder, const ast::Node* node) {
  if (const auto* select = ast::try_as<ast::SelectStmt>(node)) {
    static_cast<void>(binder.bind_select(*select, nullptr, Binder::OutputTypes::open));
  } else if (const auto* insert = ast::try_as<ast::InsertStmt>(node)) {
    static_cast<void>(binder.bind_insert(*insert, nullptr));
  } else if (const auto* update = ast::try_as<ast::UpdateStmt>(node)) {
    static_cast<void>(binder.bind_update(*update, nullptr));
  } else if (const auto* remove = ast::try_as<ast::DeleteStmt>(node)) {
    static_cast<void>(binder.bind_delete(*remove, nullptr));
  } else if (const auto* merge = ast::try_as<ast::MergeStmt>(node)) {
    static_cast<void>(binder.bind_merge(*merge, nullptr));
  } else {
    throw_error(sqlstate::feature_not_supported, "{} is not supported in an SQL function",
                statement_name(node));
  }
}

}  // namespace

void bind_body(StatementContext& session, const Routine& routine, const BodyNames& names,
               const std::function<void(const BodyPart&, Binder&)>& bound) {
  for (const BodyPart& part : body_parts(routine)) {
    Arena arena;
    const auto parsed = parse_script(arena, part.text);
    Binder binder{session.names, arena};
    binder.allow_parameters(routine.argument_types());
    binder.enter_body(names);
    bind_body_statement(binder, parsed[0]->stmt);
    bound(part, binder);
  }
}

Routine build_routine(StatementContext& session, const ast::CreateFunctionStmt& statement,
                      const Statement& whole, ResultSink& sink) {
  return RoutineBuilder{session, statement, whole, sink}.build();
}

}  // namespace swizzle::sql
