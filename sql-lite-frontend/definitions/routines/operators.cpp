// CREATE, ALTER and DROP OPERATOR.
#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/catalog/class_id.h"
#include "sql-lite-frontend/catalog/facts.h"
#include "sql-lite-frontend/definitions/dependents/dependents.h"
#include "sql-lite-frontend/definitions/rights/role_rights.h"
#include "sql-lite-frontend/definitions/routines/definition_options.h"
#include "sql-lite-frontend/definitions/routines/made_objects.h"
#include "sql-lite-frontend/definitions/tables/notice_missing.h"
#include "sql-lite-frontend/definitions/tables/transfer.h"
#include "sql-lite-frontend/definitions/types/user_types.h"
#include "sql-lite-frontend/routines/signature.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

SqlError invalid_operator(std::string message) {
  return SqlError{sqlstate::invalid_function_definition, std::move(message)};
}

std::string_view schema_of_names(ast::NodeList names) {
  return names.size() > 1 ? ast::string_of(names[names.size() - 2]) : std::string_view{};
}

std::string dotted_operator(ast::NodeList names) {
  std::string text;
  for (const ast::Node* name : names) {
    if (!text.empty()) text += ".";
    text += ast::string_of(name);
  }
  return text;
}

/// Returns the operator as errors show it: "integer === text".
std::string shown_operator(StatementContext& session, std::string_view name, TypeId left,
                           TypeId right) {
  const std::string before =
      left == TypeId::none ? std::string{} : session.names.type_name_of(left) + " ";
  return fmt::format("{}{} {}", before, name, session.names.type_name_of(right));
}

const Operator* builtin_operator(std::string_view name, TypeId left, TypeId right) {
  for (const Operator* op : operators_named(name)) {
    if (op->left == left && op->right == right) return op;
  }
  return nullptr;
}

OperatorPtr operator_in(StatementContext& session, Oid schema, std::string_view name, TypeId left,
                        TypeId right) {
  for (const OperatorPtr& op : session.catalog.all_made<UserOperator>()) {
    if (op->schema == schema && op->name == name && op->left == left && op->right == right) {
      return op;
    }
  }
  return nullptr;
}

OperatorPtr find_made(StatementContext& session, ast::NodeList names, TypeId left, TypeId right) {
  const std::string_view name = ast::string_of(names.back());
  for (const auto& one : session.names.find_operators(schema_of_names(names), name)) {
    if (one.op->left == left && one.op->right == right) return one.op;
  }
  return nullptr;
}

/// Checks and returns the function of RESTRICT or JOIN. Our planner does not use it.
Oid estimator(StatementContext& session, ast::NodeList names, std::string_view arguments) {
  const std::string_view name = ast::string_of(names.back());
  for (const Function& function : unsupported_functions(name)) return function.oid;
  for (const FunctionName& function : internal_function_names()) {
    if (function.name == name) return function.oid;
  }
  static_cast<void>(session);
  throw_error(sqlstate::undefined_function, "function {}({}) does not exist",
              dotted_operator(names), arguments);
}
constexpr std::string_view kRestrictionArguments = "internal, oid, internal, integer";
constexpr std::string_view kJoinArguments = "internal, oid, internal, smallint, internal";

/// One of the two operators that an operator may be paired with.
struct Pairing {
  std::string_view name;
  Oid UserOperator::* place;
};
constexpr Pairing kCommutator{"commutator", &UserOperator::commutator};
constexpr Pairing kNegator{"negator", &UserOperator::negator};

/// Returns the operator of that name over these operands; creates a shell if there is none.
Oid find_or_make_operator(StatementContext& session, const UserOperator& op, ast::NodeList names,
                          TypeId left, TypeId right) {
  const std::string_view name = ast::string_of(names.back());
  const std::string_view schema = schema_of_names(names);
  if (const OperatorPtr found = find_made(session, names, left, right)) return found->oid;
  const bool may_be_builtin = schema.empty() || schema == "pg_catalog";
  if (const Operator* known = may_be_builtin ? builtin_operator(name, left, right) : nullptr) {
    return known->oid;
  }
  UserOperator shell;
  shell.schema = schema.empty() ? op.schema : place_of_definition(session, names);
  shell.name = name;
  shell.left = left;
  shell.right = right;
  const bool is_itself =
      shell.schema == op.schema && name == op.name && left == op.left && right == op.right;
  if (is_itself) return op.oid;
  shell.oid = session.catalog.allocate_oid();
  shell.owner = session.user;
  return session.catalog.create(*session.transaction, std::move(shell))->oid;
}

/// Names of an operator and of the one that it is paired with.
struct Pair {
  std::string name;
  Oid partner = kNoOid;
};
Pair pair_of(StatementContext& session, Oid op, const Pairing& pairing) {
  if (const OperatorPtr made = session.catalog.made<UserOperator>(op)) {
    return {made->name, (*made).*pairing.place};
  }
  const Operator* const builtin = find_operator(op);
  if (builtin == nullptr) return {};
  const bool is_commutator = pairing.place == kCommutator.place;
  return {std::string{builtin->name}, is_commutator ? builtin->commutator : builtin->negator};
}

/// Sets the commutator or the negator of a definition.
void pair(StatementContext& session, UserOperator& op, const Pairing& pairing,
          ast::NodeList names) {
  const bool is_commutator = pairing.place == kCommutator.place;
  const Oid partner = find_or_make_operator(session, op, names, is_commutator ? op.right : op.left,
                                            is_commutator ? op.left : op.right);
  if (!is_commutator && partner == op.oid) {
    throw invalid_operator("operator cannot be its own negator");
  }
  if (partner != op.oid) {
    const Pair other = pair_of(session, partner, pairing);
    if (other.partner != kNoOid && other.partner != op.oid) {
      throw invalid_operator(fmt::format("{0} operator {1} is already the {0} of operator {2}",
                                         pairing.name, other.name,
                                         pair_of(session, other.partner, pairing).name));
    }
  }
  op.*pairing.place = partner;
}

/// Pairs the other operator with this one, unless it is already.
void link(StatementContext& session, const UserOperator& op, const Pairing& pairing) {
  const Oid partner = op.*pairing.place;
  if (partner == kNoOid || partner == op.oid) return;
  const OperatorPtr found = session.catalog.made<UserOperator>(partner);
  if (!found || (*found).*pairing.place != kNoOid) return;
  UserOperator changed = *found;
  changed.*pairing.place = op.oid;
  session.catalog.replace(*session.transaction, *found, std::move(changed));
}

/// Refuses options of an operator that has not the operands or the result for them.
void check_operator_options(const UserOperator& op, bool has_commutator, bool has_negator) {
  const bool is_binary = op.left != TypeId::none;
  const auto only = [](bool holds, bool said, std::string_view what, std::string_view can) {
    if (said && !holds) throw invalid_operator(fmt::format("only {} operators can {}", what, can));
  };
  only(is_binary, has_commutator, "binary", "have commutators");
  only(is_binary, op.join != kNoOid, "binary", "have join selectivity");
  only(is_binary, op.can_merge, "binary", "merge join");
  only(is_binary, op.can_hash, "binary", "hash");
  const bool is_boolean = op.result == TypeId::bool_;
  only(is_boolean, has_negator, "boolean", "have negators");
  only(is_boolean, op.restriction != kNoOid, "boolean", "have restriction selectivity");
  only(is_boolean, op.join != kNoOid, "boolean", "have join selectivity");
  only(is_boolean, op.can_merge, "boolean", "merge join");
  only(is_boolean, op.can_hash, "boolean", "hash");
}

/// Builds the definition from a CREATE OPERATOR.
class OperatorBuilder {
 public:
  OperatorBuilder(StatementContext& session, const ast::DefineStmt& statement, ResultSink& sink)
      : session_(session), statement_(statement), sink_(sink) {}

  void run() {
    op_.name = ast::string_of(statement_.defnames.back());
    op_.owner = session_.user;
    op_.schema = place_of_definition(session_, statement_.defnames);
    for (const ast::Node* node : statement_.definition) {
      read_option(ast::as<ast::DefElem>(node));
    }
    read_function();
    check_operator_options(op_, !commutator_.empty(), !negator_.empty());
    store();
  }

 private:
  void read_option(const ast::DefElem& option) {
    const std::string_view name = option.defname;
    if (name == "leftarg" || name == "rightarg") {
      read_operand(option, name == "leftarg" ? op_.left : op_.right);
    } else if (name == "function" || name == "procedure") {
      function_ = option_names(option);
    } else if (name == "commutator") {
      commutator_ = option_names(option);
    } else if (name == "negator") {
      negator_ = option_names(option);
    } else if (name == "restrict") {
      restriction_ = option_names(option);
    } else if (name == "join") {
      join_ = option_names(option);
    } else if (name == "hashes") {
      op_.can_hash = option_boolean(option);
    } else if (name == "merges") {
      op_.can_merge = option_boolean(option);
    } else if (name == "sort1" || name == "sort2" || name == "ltcmp" || name == "gtcmp") {
      op_.can_merge = true;
    } else {
      session_.notice(sink_, Severity::warning, sqlstate::syntax_error,
                      fmt::format("operator attribute \"{}\" not recognized", name));
    }
  }

  void read_operand(const ast::DefElem& option, TypeId& operand) {
    const ast::TypeName& name = option_type(option);
    if (name.setof) throw invalid_operator("SETOF type not allowed for operator argument");
    const SignatureType type = signature_type(session_, name, &sink_);
    if (type.relation != kNoOid) {
      throw SqlError{sqlstate::feature_not_supported,
                     "operators over the rows of a relation are not supported"};
    }
    hold_type(session_, type.type);
    operand = type.type;
  }

  void read_function() {
    if (function_.empty()) throw invalid_operator("operator function must be specified");
    if (op_.left == TypeId::none && op_.right == TypeId::none) {
      throw invalid_operator("operator argument types must be specified");
    }
    if (op_.right == TypeId::none) {
      throw invalid_operator("operator right argument type must be specified")
          .with_detail("Postfix operators are not supported.");
    }
    std::vector<TypeId> types;
    if (op_.left != TypeId::none) types.push_back(op_.left);
    types.push_back(op_.right);
    const FoundFunction function = require_function(session_, function_, types, Match::exact);
    op_.function = function.oid;
    op_.result = function.result;
    if (!restriction_.empty()) {
      op_.restriction = estimator(session_, restriction_, kRestrictionArguments);
    }
    if (!join_.empty()) op_.join = estimator(session_, join_, kJoinArguments);
  }

  void store() {
    const OperatorPtr old = operator_in(session_, op_.schema, op_.name, op_.left, op_.right);
    if (old && old->function != kNoOid) {
      throw_error(sqlstate::duplicate_function, "operator {} already exists", op_.name);
    }
    op_.oid = old ? old->oid : session_.catalog.allocate_oid();
    if (old) op_.commutator = old->commutator;
    if (old) op_.negator = old->negator;
    if (!commutator_.empty()) pair(session_, op_, kCommutator, commutator_);
    if (!negator_.empty()) pair(session_, op_, kNegator, negator_);
    const UserOperator made = op_;
    if (old) {
      session_.catalog.replace(*session_.transaction, *old, std::move(op_));
    } else {
      session_.catalog.create(*session_.transaction, std::move(op_));
    }
    link(session_, made, kCommutator);
    link(session_, made, kNegator);
  }

  StatementContext& session_;
  const ast::DefineStmt& statement_;
  ResultSink& sink_;
  UserOperator op_;
  ast::NodeList function_;
  ast::NodeList commutator_;
  ast::NodeList negator_;
  ast::NodeList restriction_;
  ast::NodeList join_;
};

struct Operands {
  TypeId left = TypeId::none;
  TypeId right = TypeId::none;
};

/// Returns the operand types; NONE means that there is no such operand.
Operands operands_of(StatementContext& session, const ast::ObjectWithArgs& object) {
  Operands operands;
  std::vector<TypeId> types;
  for (const ast::Node* node : object.objargs) {
    const auto* type = ast::try_as<ast::TypeName>(node);
    types.push_back(type == nullptr ? TypeId::none : signature_type(session, *type, nullptr).type);
  }
  if (types.size() == 1) types.insert(types.begin(), TypeId::none);
  if (types.size() > 1) operands = {types[0], types[1]};
  return operands;
}

void require_operator_owner(StatementContext& session, const UserOperator& op) {
  if (session.rights.owns(op.owner)) return;
  throw_error(sqlstate::insufficient_privilege, "must be owner of operator {}", op.name);
}

OperatorPtr require_operator(StatementContext& session, const ast::ObjectWithArgs& object) {
  const std::string_view schema = schema_of_names(object.objname);
  if (!schema.empty() && !session.names.schema_exists(schema)) {
    throw_error(sqlstate::invalid_schema_name, "schema \"{}\" does not exist", schema);
  }
  const Operands operands = operands_of(session, object);
  if (OperatorPtr found = find_made(session, object.objname, operands.left, operands.right)) {
    return found;
  }
  const std::string_view name = ast::string_of(object.objname.back());
  const bool may_be_builtin = schema.empty() || schema == "pg_catalog";
  if (may_be_builtin && builtin_operator(name, operands.left, operands.right) != nullptr) {
    throw_error(sqlstate::feature_not_supported, "changing a built-in operator is not supported");
  }
  throw_error(
      sqlstate::undefined_function, "operator does not exist: {}",
      shown_operator(session, dotted_operator(object.objname), operands.left, operands.right));
}

OperatorPtr lock_own_operator(StatementContext& session, const ast::Node* object) {
  OperatorPtr op = require_operator(session, ast::as<ast::ObjectWithArgs>(object));
  require_operator_owner(session, *op);
  return op;
}

/// Removes references to the operator from all other operators.
void forget_operator(StatementContext& session, const UserOperator& gone) {
  for (const OperatorPtr& op : session.catalog.all_made<UserOperator>()) {
    if (op->oid == gone.oid || (op->commutator != gone.oid && op->negator != gone.oid)) continue;
    UserOperator changed = *op;
    if (changed.commutator == gone.oid) changed.commutator = kNoOid;
    if (changed.negator == gone.oid) changed.negator = kNoOid;
    session.catalog.replace(*session.transaction, *op, std::move(changed));
  }
}

}  // namespace

void remove_operator(StatementContext& session, const UserOperator& op) {
  forget_operator(session, op);
  // The operator may have been its own commutator.
  const OperatorPtr now = session.catalog.made<UserOperator>(op.oid);
  if (now) session.catalog.remove(*session.transaction, *now);
}

std::string described(StatementContext& session, const UserOperator& op) {
  return "operator " + session.names.operator_signature(op);
}

void create_operator(StatementContext& session, const ast::DefineStmt& statement,
                     ResultSink& sink) {
  OperatorBuilder{session, statement, sink}.run();
}

namespace {

[[noreturn]] void refuse_second_time(std::string_view attribute) {
  throw invalid_operator(fmt::format(
      "operator attribute \"{}\" cannot be changed if it has already been set", attribute));
}

void set_once(bool& attribute, const ast::DefElem& option) {
  const bool wanted = option_boolean(option);
  if (attribute && !wanted) refuse_second_time(option.defname);
  attribute = wanted;
}

void pair_once(StatementContext& session, UserOperator& op, const Pairing& pairing,
               ast::NodeList names) {
  const Oid before = op.*pairing.place;
  pair(session, op, pairing, names);
  if (before != kNoOid && before != op.*pairing.place) refuse_second_time(pairing.name);
}

}  // namespace

void alter_operator(StatementContext& session, const ast::AlterOperatorStmt& statement) {
  const OperatorPtr op = require_operator(session, *statement.opername);
  require_operator_owner(session, *op);
  UserOperator changed = *op;
  ast::NodeList commutator;
  ast::NodeList negator;
  for (const ast::Node* node : statement.options) {
    const auto& option = ast::as<ast::DefElem>(node);
    const std::string_view name = option.defname;
    const bool is_none = option_is_none(option);
    if (name == "restrict") {
      changed.restriction =
          is_none ? kNoOid : estimator(session, option_names(option), kRestrictionArguments);
    } else if (name == "join") {
      changed.join = is_none ? kNoOid : estimator(session, option_names(option), kJoinArguments);
    } else if (name == "commutator") {
      commutator = option_names(option);
    } else if (name == "negator") {
      negator = option_names(option);
    } else if (name == "merges") {
      set_once(changed.can_merge, option);
    } else if (name == "hashes") {
      set_once(changed.can_hash, option);
    } else if (name == "leftarg" || name == "rightarg" || name == "function" ||
               name == "procedure") {
      throw_error(sqlstate::syntax_error, "operator attribute \"{}\" cannot be changed", name);
    } else {
      throw_error(sqlstate::syntax_error, "operator attribute \"{}\" not recognized", name);
    }
  }
  check_operator_options(changed, !commutator.empty(), !negator.empty());
  if (!commutator.empty()) pair_once(session, changed, kCommutator, commutator);
  if (!negator.empty()) pair_once(session, changed, kNegator, negator);
  session.catalog.replace(*session.transaction, *op, UserOperator{changed});
  link(session, changed, kCommutator);
  link(session, changed, kNegator);
}

void drop_operators(StatementContext& session, const ast::DropStmt& statement, ResultSink& sink) {
  std::vector<OperatorPtr> gone;
  for (const ast::Node* node : statement.objects) {
    const auto& object = ast::as<ast::ObjectWithArgs>(node);
    OperatorPtr op;
    try {
      const Operands operands = operands_of(session, object);
      const std::string_view name = ast::string_of(object.objname.back());
      const std::string_view schema = schema_of_names(object.objname);
      op = find_made(session, object.objname, operands.left, operands.right);
      const bool may_be_builtin = schema.empty() || schema == "pg_catalog";
      const bool is_builtin =
          may_be_builtin && builtin_operator(name, operands.left, operands.right) != nullptr;
      if (!op && is_builtin) {
        throw_error(sqlstate::dependent_objects_still_exist,
                    "cannot drop operator {}({},{}) because it is required by the database system",
                    name, session.names.type_name_of(operands.left),
                    session.names.type_name_of(operands.right));
      }
      if (!op) op = require_operator(session, object);
    } catch (const SqlError& error) {
      const bool is_missing = error.state() == sqlstate::undefined_function ||
                              error.state() == sqlstate::undefined_object ||
                              error.state() == sqlstate::invalid_schema_name;
      if (!statement.missing_ok || !is_missing) throw;
      const bool by_operator = error.state() == sqlstate::undefined_function;
      notice_skipped(
          session, sink,
          by_operator ? fmt::format("operator {} does not exist", dotted_operator(object.objname))
                      : error.error().message());
      continue;
    }
    const SchemaPtr schema = session.catalog.schema(op->schema);
    if (!schema || !session.rights.owns(schema->owner)) require_operator_owner(session, *op);
    refuse_extension_member(session, {class_id::pg_operator, op->oid}, described(session, *op));
    session.catalog.lock(*session.transaction, op->oid, lock::RelationMode::access_exclusive);
    if (!session.names.made_operator(op->oid)) continue;  // dropped meanwhile
    gone.push_back(std::move(op));
  }
  if (!gone.empty()) {
    const std::string what =
        gone.size() == 1 ? described(session, *gone[0]) : std::string{kSeveralObjects};
    drop_dependents(session, dependents_of_operators(session, gone), what, statement.behavior,
                    sink);
    for (const OperatorPtr& op : gone) {
      if (session.catalog.made<UserOperator>(op->oid)) remove_operator(session, *op);
    }
  }
}

void set_operator_owner(StatementContext& session, const ast::AlterOwnerStmt& statement) {
  const OperatorPtr op = lock_own_operator(session, statement.object);
  const RolePtr owner = require_new_owner(session, *statement.newowner, op->owner, op->schema);
  if (!owner) return;
  UserOperator changed = *op;
  changed.owner = owner->oid;
  session.catalog.replace(*session.transaction, *op, std::move(changed));
}

void set_operator_schema(StatementContext& session, const ast::AlterObjectSchemaStmt& statement) {
  const OperatorPtr op = lock_own_operator(session, statement.object);
  const SchemaPtr schema = require_new_schema(session, statement.newschema);
  if (schema->oid == op->schema) return;
  if (operator_in(session, schema->oid, op->name, op->left, op->right)) {
    throw_error(sqlstate::duplicate_function, "operator {} already exists in schema \"{}\"",
                op->name, schema->name);
  }
  UserOperator changed = *op;
  changed.schema = schema->oid;
  session.catalog.replace(*session.transaction, *op, std::move(changed));
}

void comment_on_operator(StatementContext& session, const ast::ObjectWithArgs& object,
                         std::string_view text) {
  const OperatorPtr op = require_operator(session, object);
  require_operator_owner(session, *op);
  UserOperator changed = *op;
  changed.comment = text;
  session.catalog.replace(*session.transaction, *op, std::move(changed));
}

}  // namespace swizzle::sql
