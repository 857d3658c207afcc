#include <fmt/format.h>

#include <algorithm>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/query/parse/literal_lifter.h"
#include "sql-lite-frontend/query/parse/row_lifter.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/types/built_in.h"
#include "sql-lite-frontend/types/user_types.h"

/// Messages that differ only in their literals have one plan.
namespace swizzle::sql {
namespace {

/// Returns the key of a shape: its text and the types of its parameters.
std::string shape_key(const LiftedText& lifted) {
  std::string key;
  key.reserve(lifted.shape.size() + lifted.literals.size());
  key = lifted.shape;
  for (const LiftedText::Literal& literal : lifted.literals) {
    key += literal.type == TypeId::int4 ? 'i' : (literal.type == TypeId::int8 ? 'l' : 's');
  }
  return key;
}
std::string shape_key(const LiftedRows& lifted) {
  // No text has a zero byte.
  std::string key = lifted.shape + '\0';
  for (const TypeId type : lifted.types) key += fmt::format("{} ", raw(type));
  return key;
}

std::vector<TypeId> literal_types(const LiftedText& lifted) {
  std::vector<TypeId> types;
  types.reserve(lifted.literals.size());
  for (const LiftedText::Literal& literal : lifted.literals) types.push_back(literal.type);
  return types;
}

/// True if reading a value of the type may run statements, which need a transaction: a domain's
/// checks may call functions.
bool may_need_transaction(TypeId type) {
  return !is_built_in(type) && !is_enum(type);
}

Value literal_value(FunctionContext& context, TypeId type, const LiftedRows::Literal& literal) {
  if (literal.is_null) return Value::null();
  if (!literal.has_quotes) return input_text(context, type, kNoTypmod, literal.text);
  std::string text;
  for (std::size_t i = 0; i < literal.text.size(); ++i) {
    text += literal.text[i];
    if (literal.text[i] == '\'') ++i;
  }
  return input_text(context, type, kNoTypmod, text);
}

}  // namespace

/// Returns the statement; null if the text cannot be run this way. Throws SqlError.
StatementPtr Session::State::statement_of_shape(const std::string& key, const std::string& shape,
                                                std::vector<TypeId> types, bool repeats_row) {
  StatementPtr statement = plans.known_shape(key);
  if (statement && statement->node == nullptr) return nullptr;
  if (statement && plans.means_the_same(statement->plan)) return statement;
  try {
    statement = plans.parse(shape, {});
    statement->declared_types = std::move(types);
    statement->has_lifted_literals = true;
    statement->repeats_row = repeats_row;
    plans.analyze(*statement);
  } catch (const SqlError&) {
    // Remember the shape, so that it is not tried again.
    plans.keep_shape(key, std::make_shared<Statement>());
    return nullptr;
  }
  plans.keep_shape(key, statement);
  return statement;
}

void Session::State::run_lifted(PortalPtr portal, ResultSink& sink) {
  const bool alone = !transaction;
  if (alone) transaction.begin(SessionTransaction::Block::implicit);
  portals.run_at_once(*portal, sink,
                      alone ? SessionPortals::AtEnd::commit : SessionPortals::AtEnd::stay);
  // Do not keep the memory of the values of many rows.
  if (portal->parameters.size() <= Portal::kKeptParameters) portals.recycle(std::move(portal));
}

/// Runs a message that differs from an earlier one only in its literals with that one's plan.
/// Returns false if there is no such plan, or if the message has an error, which the normal path
/// reports best.
bool Session::State::run_shape(std::string_view text, ResultSink& sink) {
  if (transaction.is_failed()) return false;
  if (run_rows(text, sink)) return true;
  if (text.size() > kLongestKeptText) return false;
  const auto lifted = lift_literals(text);
  if (!lifted) return false;
  PortalPtr portal;
  try {
    const StatementPtr statement =
        statement_of_shape(shape_key(*lifted), lifted->shape, literal_types(*lifted), false);
    if (!statement || std::ranges::any_of(statement->parameter_types, may_need_transaction))
      return false;
    portal = portals.make_empty();
    portal->statement = statement;
    FunctionContext context{portal->arena, session_context, {}};
    for (std::size_t i = 0; i < lifted->literals.size(); ++i) {
      portal->parameters.push_back(
          input_text(context, statement->parameter_types[i], kNoTypmod, lifted->literals[i].text)
              .copy_to(portal->arena));
    }
    portal->use = plans.plan_for(*statement, portal->parameters);
    if (!portal->plan().computed_from_literals.empty()) {
      Execution& execution = plans.run_of(*portal).execution;
      execution.parameters = portal->parameters;
      for (const ExprPtr& part : portal->plan().computed_from_literals) {
        static_cast<void>(part->eval(execution));
      }
    }
  } catch (const SqlError&) {
    return false;
  }
  run_lifted(std::move(portal), sink);
  return true;
}

/// The same for INSERTs of many rows, which may differ in how many they are.
bool Session::State::run_rows(std::string_view text, ResultSink& sink) {
  constexpr std::size_t kLongestRows = std::size_t{1} << 20U;
  if (text.size() > kLongestRows) return false;
  const auto lifted = lift_rows(text, &memory);
  if (!lifted || lifted->shape.size() > kLongestKeptText) return false;
  PortalPtr portal;
  MemoryShare share;
  try {
    const StatementPtr statement =
        statement_of_shape(shape_key(*lifted), lifted->shape, lifted->types, true);
    if (!statement || std::ranges::any_of(statement->parameter_types, may_need_transaction))
      return false;
    portal = portals.make_empty();
    portal->statement = statement;
    std::vector<Value>& values = portal->parameters;
    share.set(&memory, lifted->literals.size() * sizeof(Value));
    values.reserve(lifted->literals.size());
    FunctionContext context{portal->arena, session_context, {}};
    const std::size_t width = lifted->types.size();
    for (const LiftedRows::Literal& literal : lifted->literals) {
      constexpr std::size_t kWorkOfLiteral = 50;
      yield_point(kWorkOfLiteral);
      const TypeId type = statement->parameter_types[values.size() % width];
      values.push_back(literal_value(context, type, literal).copy_to(portal->arena));
    }
    portal->use = plans.plan_for(*statement, std::span{values}.first(width));
  } catch (const SqlError& error) {
    // Parsing the whole text gives a better error for a faulty literal.
    const SqlState state = error.state();
    const std::string_view code = state.code();
    if (code.starts_with("53") || code.starts_with("57")) throw;
    return false;
  }
  run_lifted(std::move(portal), sink);
  return true;
}

}  // namespace swizzle::sql
