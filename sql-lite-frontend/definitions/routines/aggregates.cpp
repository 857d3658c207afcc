// CREATE AGGREGATE.
#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/catalog/callable_routine.h"
#include "sql-lite-frontend/catalog/default_grants.h"
#include "sql-lite-frontend/definitions/routines/definition_options.h"
#include "sql-lite-frontend/definitions/routines/made_objects.h"
#include "sql-lite-frontend/definitions/routines/routine_definition.h"
#include "sql-lite-frontend/definitions/text/collations.h"
#include "sql-lite-frontend/definitions/text/text_search.h"
#include "sql-lite-frontend/definitions/types/user_types.h"
#include "sql-lite-frontend/routines/signature.h"
#include "sql-lite-frontend/statement/object_types.h"
#include "sql-lite-frontend/types/polymorphic.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type.h"
#include "sql-lite-frontend/types/type_io.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

SqlError invalid_aggregate(std::string message) {
  return SqlError{sqlstate::invalid_function_definition, std::move(message)};
}

/// Builds the definition from a CREATE AGGREGATE.
class AggregateBuilder {
 public:
  AggregateBuilder(StatementContext& session, const ast::DefineStmt& statement, ResultSink& sink)
      : session_(session), statement_(statement), sink_(sink) {}

  Routine build() {
    routine_.kind = RoutineKind::aggregate;
    routine_.name = ast::string_of(statement_.defnames.back());
    routine_.owner = session_.user;
    routine_.language = "internal";
    routine_.volatility = 'i';
    routine_.cost = 1;
    routine_.schema = place_of_definition(session_, statement_.defnames);
    if (!statement_.oldstyle) read_parameters();
    for (const ast::Node* node : statement_.definition) {
      read_option(ast::as<ast::DefElem>(node));
    }
    finish_parameters();
    read_state();
    read_transition();
    read_final();
    read_others();
    read_moving();
    check_initial();
    routine_.body = "aggregate_dummy";
    routine_.aggregate = definition_;
    return std::move(routine_);
  }

 private:
  void read_parameters() {
    const auto& parts = statement_.args;
    const auto* list = parts.empty() ? nullptr : ast::try_as<ast::List>(parts[0]);
    const auto* direct = parts.size() > 1 ? ast::try_as<ast::Integer>(parts[1]) : nullptr;
    if (direct != nullptr && direct->ival >= 0) {
      throw SqlError{sqlstate::feature_not_supported,
                     "user-defined ordered-set aggregates are not supported"};
    }
    if (list == nullptr) return;
    for (const ast::Node* node : list->items) {
      const auto& given = ast::as<ast::FunctionParameter>(node);
      RoutineParameter parameter;
      parameter.name = given.name;
      using Mode = ast::FunctionParameterMode;
      if (given.mode == Mode::variadic) parameter.mode = ParameterMode::variadic;
      if (given.mode == Mode::out || given.mode == Mode::inout || given.mode == Mode::table) {
        throw SqlError{sqlstate::feature_not_supported, "aggregates cannot have output arguments"};
      }
      if (given.defexpr != nullptr) {
        throw invalid_aggregate("only input parameters can have default values");
      }
      if (given.arg_type->setof) throw invalid_aggregate("aggregates cannot accept set arguments");
      if (const TypePtr shell = shell_named(session_, *given.arg_type)) {
        throw invalid_aggregate(fmt::format("aggregate cannot accept shell type {}", shell->name));
      }
      parameter.type = type_of(*given.arg_type);
      if (parameter.mode == ParameterMode::variadic &&
          variadic_element(parameter.type) == TypeId::none) {
        throw invalid_aggregate("VARIADIC parameter must be an array");
      }
      routine_.parameters.push_back(std::move(parameter));
    }
  }

  TypeId type_of(const ast::TypeName& name) {
    const SignatureType type = signature_type(session_, name, &sink_);
    if (type.relation != kNoOid) {
      throw SqlError{sqlstate::feature_not_supported,
                     "aggregates over composite types are not supported"};
    }
    hold_type(session_, type.type);
    return type.type;
  }

  void read_option(const ast::DefElem& option) {
    const std::string_view name = option.defname;
    using Names = std::pair<std::string_view, ast::NodeList*>;
    for (const auto& [known, place] :
         {Names{"sfunc", &transition_}, Names{"sfunc1", &transition_}, Names{"finalfunc", &final_},
          Names{"combinefunc", &combine_}, Names{"serialfunc", &serialize_},
          Names{"deserialfunc", &deserialize_}, Names{"msfunc", &moving_transition_},
          Names{"minvfunc", &moving_inverse_}, Names{"mfinalfunc", &moving_final_},
          Names{"sortop", &sort_operator_}}) {
      if (name != known) continue;
      *place = option_names(option);
      return;
    }
    if (name == "basetype") {
      base_type_ = &option;
    } else if (name == "stype" || name == "stype1") {
      state_ = &option_type(option);
    } else if (name == "mstype") {
      moving_state_ = &option_type(option);
    } else if (name == "initcond" || name == "initcond1") {
      definition_.initial = option_text(option);
    } else if (name == "minitcond") {
      definition_.moving_initial = option_text(option);
    } else if (name == "sspace") {
      definition_.state_bytes = std::atoi(option_text(option).c_str());
    } else if (name == "msspace") {
      definition_.moving_bytes = std::atoi(option_text(option).c_str());
    } else if (name == "finalfunc_extra") {
      definition_.final_extra = option_boolean(option);
    } else if (name == "mfinalfunc_extra") {
      definition_.moving_extra = option_boolean(option);
    } else if (name == "finalfunc_modify") {
      definition_.final_modifies = modifies(option);
    } else if (name == "mfinalfunc_modify") {
      definition_.moving_modifies = modifies(option);
    } else if (name == "parallel") {
      read_parallel(option);
    } else if (name == "hypothetical") {
      if (option_boolean(option)) {
        throw invalid_aggregate("only ordered-set aggregates can be hypothetical");
      }
    } else {
      session_.notice(sink_, Severity::warning, sqlstate::syntax_error,
                      fmt::format("aggregate attribute \"{}\" not recognized", name));
    }
  }

  static char modifies(const ast::DefElem& option) {
    const std::string text = option_text(option);
    if (text == "read_only") return 'r';
    if (text == "shareable") return 's';
    if (text == "read_write") return 'w';
    throw_error(sqlstate::syntax_error,
                "parameter \"{}\" must be READ_ONLY, SHAREABLE, or READ_WRITE", option.defname);
  }

  void read_parallel(const ast::DefElem& option) {
    const std::string text = option_text(option);
    if (text != "safe" && text != "restricted" && text != "unsafe") {
      throw SqlError{sqlstate::syntax_error,
                     "parameter \"parallel\" must be SAFE, RESTRICTED, or UNSAFE"};
    }
    routine_.parallel = text[0];
  }

  /// Old syntax: the only argument is the option basetype; basetype = "ANY" means none.
  void finish_parameters() {
    if (transition_.empty()) throw invalid_aggregate("aggregate sfunc must be specified");
    if (state_ == nullptr) throw invalid_aggregate("aggregate stype must be specified");
    if (!statement_.oldstyle) {
      if (base_type_ != nullptr) {
        throw invalid_aggregate("basetype is redundant with aggregate input type specification");
      }
    } else {
      if (base_type_ == nullptr) {
        throw invalid_aggregate("aggregate input type must be specified");
      }
      std::string text = option_text(*base_type_);
      std::ranges::transform(text, text.begin(), [](unsigned char letter) {
        return static_cast<char>(std::tolower(letter));
      });
      if (text != "any") {
        routine_.parameters.push_back(
            {{}, ParameterMode::in, type_of(option_type(*base_type_)), {}});
      }
    }
    inputs_ = routine_.argument_types();
    constexpr std::size_t kMost = 100 - 1;
    if (inputs_.size() > kMost) {
      throw_error(sqlstate::too_many_arguments, "aggregates cannot have more than {} arguments",
                  kMost);
    }
  }

  TypeId state_type(const ast::TypeName& name) {
    const TypeId type = type_of(name);
    if (is_pseudo_type(type) && !is_polymorphic(type)) {
      throw invalid_aggregate(
          fmt::format("aggregate transition data type cannot be {}", format_type(type)));
    }
    if (std::string missing = missing_polymorphic_input(type, inputs_); !missing.empty())
      throw invalid_aggregate("cannot determine transition data type")
          .with_detail(std::move(missing));
    return type;
  }
  void read_state() {
    definition_.state = state_type(*state_);
    if (moving_state_ != nullptr) definition_.moving_state = state_type(*moving_state_);
  }

  FoundFunction require(ast::NodeList names, std::span<const TypeId> types) {
    FoundFunction function = require_function(session_, names, types, Match::by_call);
    if (function.returns_set) {
      throw SqlError{
          sqlstate::datatype_mismatch,
          fmt::format("function {} returns a set", function_signature(session_, names, types))};
    }
    for (std::size_t i = 0; i < std::min(types.size(), function.arguments.size()); ++i) {
      if (is_polymorphic(function.arguments[i]) ||
          is_binary_coercible(types[i], function.arguments[i])) {
        continue;
      }
      throw SqlError{sqlstate::datatype_mismatch,
                     fmt::format("function {} requires run-time type coercion",
                                 function_signature(session_, names, function.arguments))};
    }
    return function;
  }

  std::vector<TypeId> with_state(TypeId state, bool with_inputs) const {
    std::vector<TypeId> types{state};
    if (with_inputs) types.insert(types.end(), inputs_.begin(), inputs_.end());
    return types;
  }

  void require_result(const FoundFunction& function, TypeId wanted, std::string_view what,
                      ast::NodeList names) {
    if (function.result == wanted) return;
    std::string name;
    for (const ast::Node* part : names) {
      name += (name.empty() ? "" : ".") + std::string{ast::string_of(part)};
    }
    throw SqlError{sqlstate::datatype_mismatch,
                   fmt::format("return type of {} function {} is not {}", what, name,
                               session_.names.type_name_of(wanted))};
  }

  void read_transition() {
    const FoundFunction function = require(transition_, with_state(definition_.state, true));
    require_result(function, definition_.state, "transition", transition_);
    definition_.transition = function.oid;
    if (!function.strict || definition_.initial) return;
    // A strict transition function without an initial value: the first input becomes the state.
    if (inputs_.empty() || !is_binary_coercible(inputs_[0], definition_.state)) {
      throw invalid_aggregate(
          "must not omit initial value when transition function is strict and transition type is "
          "not compatible with input type");
    }
  }

  void read_final() {
    routine_.result = definition_.state;
    if (!final_.empty()) {
      const FoundFunction function =
          require(final_, with_state(definition_.state, definition_.final_extra));
      if (definition_.final_extra && function.strict) {
        throw invalid_aggregate("final function with extra arguments must not be declared STRICT");
      }
      definition_.final = function.oid;
      routine_.result = function.result;
    }
    if (std::string missing = missing_polymorphic_input(routine_.result, inputs_);
        !missing.empty()) {
      throw SqlError{sqlstate::datatype_mismatch, "cannot determine result data type"}.with_detail(
          std::move(missing));
    }
  }

  void read_others() {
    if (!combine_.empty()) {
      const FoundFunction function =
          require(combine_, std::vector{definition_.state, definition_.state});
      require_result(function, definition_.state, "combine", combine_);
      definition_.combine = function.oid;
    }
    if (!serialize_.empty() || !deserialize_.empty()) {
      if (serialize_.empty() || deserialize_.empty()) {
        throw invalid_aggregate(
            "must specify both or neither of serialization and deserialization functions");
      }
      throw invalid_aggregate(
          "serialization functions may be specified only when the aggregate transition data type "
          "is internal");
    }
    if (sort_operator_.empty()) return;
    if (inputs_.size() != 1) {
      throw invalid_aggregate("sort operator can only be specified for single-argument aggregates");
    }
    definition_.sort_operator = sort_operator();
  }

  Oid sort_operator() {
    const std::string_view name = ast::string_of(sort_operator_.back());
    const TypeId type = inputs_[0];
    for (const auto& one : session_.names.find_operators({}, name)) {
      if (one.op->left == type && one.op->right == type) return one.op->oid;
    }
    const auto builtin = resolve_operator(name, type, type);
    return builtin.op->oid;
  }

  void read_moving() {
    const bool any = !moving_transition_.empty() || !moving_inverse_.empty();
    if (moving_state_ == nullptr) {
      if (any) {
        throw invalid_aggregate(fmt::format("aggregate {} must not be specified without mstype",
                                            !moving_transition_.empty() ? "msfunc" : "minvfunc"));
      }
      return;
    }
    if (moving_transition_.empty()) {
      throw invalid_aggregate("aggregate msfunc must be specified when mstype is specified");
    }
    if (moving_inverse_.empty()) {
      throw invalid_aggregate("aggregate minvfunc must be specified when mstype is specified");
    }
    const std::vector<TypeId> types = with_state(definition_.moving_state, true);
    const FoundFunction forward = require(moving_transition_, types);
    require_result(forward, definition_.moving_state, "transition", moving_transition_);
    const FoundFunction inverse = require(moving_inverse_, types);
    require_result(inverse, definition_.moving_state, "inverse transition", moving_inverse_);
    if (forward.strict != inverse.strict) {
      throw invalid_aggregate(
          "strictness of aggregate's forward and inverse transition functions must match");
    }
    definition_.moving_transition = forward.oid;
    definition_.moving_inverse = inverse.oid;
    if (moving_final_.empty()) return;
    const FoundFunction final =
        require(moving_final_, with_state(definition_.moving_state, definition_.moving_extra));
    require_result(final, routine_.result, "moving-aggregate final", moving_final_);
    definition_.moving_final = final.oid;
  }

  /// Parses the initial value for its errors only: it is stored as text.
  void check_initial() {
    if (!definition_.initial || is_polymorphic(definition_.state)) return;
    Arena arena;
    FunctionContext functions{arena, session_.session_context, {}};
    static_cast<void>(input_text(functions, definition_.state, kNoTypmod, *definition_.initial));
  }

  StatementContext& session_;
  const ast::DefineStmt& statement_;
  ResultSink& sink_;
  Routine routine_;
  AggregateDefinition definition_;
  std::vector<TypeId> inputs_;
  const ast::DefElem* base_type_ = nullptr;
  const ast::TypeName* state_ = nullptr;
  const ast::TypeName* moving_state_ = nullptr;
  ast::NodeList transition_;
  ast::NodeList final_;
  ast::NodeList combine_;
  ast::NodeList serialize_;
  ast::NodeList deserialize_;
  ast::NodeList moving_transition_;
  ast::NodeList moving_inverse_;
  ast::NodeList moving_final_;
  ast::NodeList sort_operator_;
};

std::string_view kind_with_article(RoutineKind kind) {
  if (kind == RoutineKind::procedure) return "a procedure";
  return kind == RoutineKind::aggregate ? "an aggregate function" : "a function";
}

}  // namespace

void create_aggregate(StatementContext& session, const ast::DefineStmt& statement,
                      ResultSink& sink) {
  Routine routine = AggregateBuilder{session, statement, sink}.build();
  const std::vector<TypeId> types = routine.argument_types();
  RoutinePtr old;
  for (const RoutinePtr& other : session.catalog.routines_named(routine.name)) {
    if (other->schema == routine.schema && other->argument_types() == types) old = other;
  }
  if (old) {
    if (!statement.replace) {
      throw_error(sqlstate::duplicate_function,
                  "function \"{}\" already exists with same argument types", routine.name);
    }
    require_owner(session, *old);
    if (old->kind != RoutineKind::aggregate) {
      throw sql_error(sqlstate::wrong_object_type, "cannot change routine kind")
          .with_detail(fmt::format("\"{}\" is {}.", old->name, kind_with_article(old->kind)));
    }
    old = session.catalog.lock_routine(*session.transaction, *old);
    if (old->result != routine.result) {
      throw sql_error(sqlstate::invalid_function_definition,
                      "cannot change return type of existing function")
          .with_hint(
              fmt::format("Use DROP AGGREGATE {} first.", session.names.routine_signature(*old)));
    }
    routine.oid = old->oid;
    routine.owner = old->owner;
    routine.grants = old->grants;
    routine.comment = old->comment;
    session.catalog.replace(*session.transaction, *old, std::move(routine));
  } else {
    routine.oid = session.catalog.allocate_oid();
    routine.grants = grants_of_new(session.catalog.of_database(), *session.transaction,
                                   routine.owner, routine.schema, GrantedOn::function);
    session.catalog.create(*session.transaction, std::move(routine));
  }
}

void define_object(StatementContext& session, const ast::DefineStmt& statement, ResultSink& sink) {
  switch (statement.kind) {
    case ast::ObjectType::aggregate:
      return create_aggregate(session, statement, sink);
    case ast::ObjectType::operator_:
      return create_operator(session, statement, sink);
    case ast::ObjectType::collation:
      return create_collation(session, statement, sink);
    case ast::ObjectType::type:
      return create_shell_type(session, statement);
    case ast::ObjectType::tsdictionary:
      return create_text_dictionary(session, statement);
    case ast::ObjectType::tsconfiguration:
      return create_text_config(session, statement);
    default:
      throw_error(sqlstate::feature_not_supported, "CREATE {} in this form is not supported",
                  object_type_name(statement.kind));
  }
}

}  // namespace swizzle::sql
