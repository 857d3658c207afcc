#include "sql-lite-frontend/types/resolve.h"

#include <algorithm>

#include "sql-lite-frontend/types/polymorphic.h"
#include "sql-lite-frontend/types/row_codec.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

char category_of(TypeId type) noexcept {
  if (type == TypeId::unknown) return 'X';
  const Type* info = find_type(type);
  return info != nullptr ? info->category : 'C';
}
bool is_preferred(TypeId type) noexcept {
  const Type* info = find_type(type);
  return info != nullptr && info->preferred;
}

/// Removes collations, which do not affect resolution.
std::vector<TypeId> without_collations(std::span<const TypeId> types) {
  std::vector<TypeId> plain{types.begin(), types.end()};
  std::ranges::transform(plain, plain.begin(), without_collation);
  return plain;
}
bool any_collated(std::span<const TypeId> types) noexcept {
  return std::ranges::any_of(types, is_collated);
}

/// Candidate for a call: the declared types in the order of the call's arguments.
struct Candidate {
  const void* subject = nullptr;
  std::vector<TypeId> declared;
  bool expanded = false;  ///< the VARIADIC parameter was expanded
};

bool accepts(const Candidate& candidate, std::span<const TypeId> actual, const MadeCasts* casts) {
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const TypeId declared = candidate.declared[i];
    const bool is_made = casts != nullptr && casts->is_implicit(actual[i], declared);
    if (!is_made && !can_coerce(actual[i], declared, CastContext::implicit)) return false;
  }
  return bind_polymorphic(candidate.declared, actual).has_value();
}

template <class Score>
void keep_best(std::vector<Candidate*>& candidates, Score score) {
  int best = 0;
  for (const Candidate* c : candidates) best = std::max(best, score(*c));
  std::erase_if(candidates, [&](const Candidate* c) { return score(*c) < best; });
}

/// Category for an unknown argument, from the candidates' parameters at its position.
struct Slot {
  char category = 0;
  bool has_preferred = false;
};

std::optional<Slot> slot_for(const std::vector<Candidate*>& candidates, std::size_t position) {
  Slot slot;
  bool conflict = false;
  for (const Candidate* c : candidates) {
    const TypeId type = c->declared[position];
    const char category = category_of(type);
    const bool preferred = is_preferred(type);
    if (slot.category == 0) {
      slot = {category, preferred};
    } else if (category == slot.category) {
      slot.has_preferred = slot.has_preferred || preferred;
    } else if (category == 'S') {
      // The string category wins over all others, because any literal is a valid string.
      slot = {category, preferred};
    } else if (slot.category != 'S') {
      conflict = true;
    }
  }
  if (conflict && slot.category != 'S') return std::nullopt;
  return slot;
}

void narrow_by_unknowns(std::vector<Candidate*>& candidates, std::span<const TypeId> actual) {
  std::vector<Slot> slots(actual.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (actual[i] != TypeId::unknown) continue;
    const auto slot = slot_for(candidates, i);
    if (!slot) return;
    slots[i] = *slot;
  }
  std::vector<Candidate*> kept;
  for (Candidate* c : candidates) {
    bool keep = true;
    for (std::size_t i = 0; keep && i < actual.size(); ++i) {
      if (actual[i] != TypeId::unknown) continue;
      keep = category_of(c->declared[i]) == slots[i].category &&
             (!slots[i].has_preferred || is_preferred(c->declared[i]));
    }
    if (keep) kept.push_back(c);
  }
  if (!kept.empty()) candidates = std::move(kept);
}

/// If all known arguments have one type, assumes that type for the unknown ones, too.
void narrow_by_one_known_type(std::vector<Candidate*>& candidates, std::span<const TypeId> actual,
                              const MadeCasts* casts) {
  TypeId known = TypeId::unknown;
  for (const TypeId type : actual) {
    if (type == TypeId::unknown) continue;
    if (known != TypeId::unknown && known != type) return;
    known = type;
  }
  if (known == TypeId::unknown) return;
  const std::vector<TypeId> same(actual.size(), known);
  std::vector<Candidate*> kept;
  for (Candidate* c : candidates)
    if (accepts(*c, same, casts)) kept.push_back(c);
  if (kept.size() == 1) candidates = std::move(kept);
}

/// Keeps the candidates that PostgreSQL's rules prefer; several if the rules cannot decide.
void select(std::vector<Candidate*>& candidates, std::span<const TypeId> given,
            const MadeCasts* casts) {
  std::erase_if(candidates, [&](const Candidate* c) { return !accepts(*c, given, casts); });
  if (candidates.size() <= 1) return;
  // For the preferences, domains count as their base types.
  std::vector<TypeId> actual{given.begin(), given.end()};
  std::ranges::transform(actual, actual.begin(), base_type);
  keep_best(candidates, [&](const Candidate& c) {
    int exact = 0;
    for (std::size_t i = 0; i < actual.size(); ++i)
      exact += static_cast<int>(actual[i] != TypeId::unknown && c.declared[i] == actual[i]);
    return exact;
  });
  if (candidates.size() <= 1) return;
  keep_best(candidates, [&](const Candidate& c) {
    int good = 0;
    for (std::size_t i = 0; i < actual.size(); ++i) {
      if (actual[i] == TypeId::unknown) continue;
      good += static_cast<int>(
          c.declared[i] == actual[i] ||
          (category_of(c.declared[i]) == category_of(actual[i]) && is_preferred(c.declared[i])));
    }
    return good;
  });
  if (candidates.size() <= 1) return;
  narrow_by_unknowns(candidates, actual);
  if (candidates.size() <= 1) return;
  narrow_by_one_known_type(candidates, actual, casts);
  if (candidates.size() <= 1) return;
  // A function with exactly these parameters is preferred to an expanded VARIADIC one.
  std::vector<Candidate*> plain;
  for (Candidate* c : candidates)
    if (!c->expanded) plain.push_back(c);
  if (!plain.empty()) candidates = std::move(plain);
}

std::string list_arguments(const FunctionCall& call) {
  std::string out;
  for (std::size_t i = 0; i < call.argument_types.size(); ++i) {
    if (i > 0) out += ", ";
    if (i < call.argument_names.size() && !call.argument_names[i].empty())
      out += fmt::format("{} => ", call.argument_names[i]);
    out += format_type(call.argument_types[i]);
  }
  return out;
}

std::string written_name(const FunctionCall& call) {
  return call.schema.empty() ? std::string{call.name}
                             : fmt::format("{}.{}", call.schema, call.name);
}

/// Candidate with the argument for each of the function's parameters; -1 for its default.
struct Matched {
  Candidate candidate;
  std::vector<int> order;
};

std::optional<std::vector<int>> order_named(const Function& f, const FunctionCall& call) {
  std::vector<int> order(f.arguments.size(), -1);
  for (std::size_t i = 0; i < call.argument_types.size(); ++i) {
    const std::string_view name = call.argument_names[i];
    std::size_t parameter = i;
    if (!name.empty()) {
      const auto found = std::ranges::find(f.argument_names, name);
      if (found == f.argument_names.end()) return std::nullopt;
      parameter = static_cast<std::size_t>(found - f.argument_names.begin());
    }
    if (parameter >= order.size() || order[parameter] >= 0) return std::nullopt;
    order[parameter] = static_cast<int>(i);
  }
  const std::size_t first_default = f.arguments.size() - f.argument_defaults.size();
  for (std::size_t i = 0; i < first_default; ++i)
    if (order[i] < 0) return std::nullopt;
  return order;
}

std::optional<Matched> match(const Function& f, const FunctionCall& call) {
  const std::size_t given = call.argument_types.size();
  const std::size_t wanted = f.arguments.size();
  const bool named =
      std::ranges::any_of(call.argument_names, [](std::string_view name) { return !name.empty(); });
  Matched out;
  out.candidate.subject = &f;
  out.candidate.declared.resize(given);
  if (named) {
    auto order = order_named(f, call);
    if (!order) return std::nullopt;
    for (std::size_t i = 0; i < wanted; ++i)
      if ((*order)[i] >= 0)
        out.candidate.declared[static_cast<std::size_t>((*order)[i])] = f.arguments[i];
    out.order = std::move(*order);
    return out;
  }
  const bool spread = f.variadic != TypeId::none &&
                      call.variadic == FunctionCall::Variadic::expanded && given >= wanted;
  if (!spread && (given > wanted || given + f.argument_defaults.size() < wanted))
    return std::nullopt;
  out.candidate.expanded = spread;
  for (std::size_t i = 0; i < given; ++i)
    out.candidate.declared[i] = spread && i + 1 >= wanted ? f.variadic : f.arguments[i];
  out.order.assign(std::max(given, wanted), -1);
  for (std::size_t i = 0; i < given; ++i) out.order[i] = static_cast<int>(i);
  return out;
}

ResolvedFunction finish(const Matched& matched, const FunctionCall& call) {
  const auto& f = *static_cast<const Function*>(matched.candidate.subject);
  // Throws if the polymorphic parameters do not fit, such as a call by the declared pseudo-types.
  const Bindings bindings = require_polymorphic(matched.candidate.declared, call.argument_types);
  ResolvedFunction out;
  out.function = &f;
  out.argument_order = matched.order;
  out.result = substitute(f.result, bindings);
  const bool needs_element =
      std::ranges::any_of(matched.candidate.declared, is_any_family) || is_any_family(f.result);
  if (needs_element && bindings.element == TypeId::none && bindings.array == TypeId::none)
    throw SqlError{sqlstate::datatype_mismatch,
                   "could not determine polymorphic type because input has type unknown"};
  for (std::size_t i = 0; i < matched.order.size(); ++i) {
    const int argument = matched.order[i];
    const TypeId declared = argument >= 0
                                ? matched.candidate.declared[static_cast<std::size_t>(argument)]
                                : f.arguments[i];
    TypeId type = substitute(declared, bindings);
    // "any" keeps the argument's type, for literals unknown.
    if (type == TypeId::any && argument >= 0)
      type = call.argument_types[static_cast<std::size_t>(argument)];
    out.argument_types.push_back(type);
  }
  out.first_variadic = out.argument_types.size();
  out.variadic_array =
      f.variadic == TypeId::any && call.variadic == FunctionCall::Variadic::as_array;
  if (matched.candidate.expanded && f.variadic != TypeId::any) {
    out.first_variadic = f.arguments.size() - 1;
    out.variadic_element = substitute(f.variadic, bindings);
  }
  return out;
}

}  // namespace

bool can_coerce(TypeId source, TypeId target, CastContext context) {
  source = without_collation(source);
  if (source == target || source == TypeId::unknown || target == TypeId::any) return true;
  if (target == TypeId::anyarray || target == TypeId::anycompatiblearray)
    return element_type(source) != TypeId::none || source == TypeId::anyarray;
  if (target == TypeId::anyenum) return is_enum(source);
  if (target == TypeId::anyrange || target == TypeId::anycompatiblerange)
    return range_subtype(source) != TypeId::none;
  if (target == TypeId::anymultirange || target == TypeId::anycompatiblemultirange)
    return range_of_multirange(source) != TypeId::none;
  if (is_polymorphic(target)) return true;
  if (target == TypeId::record) return shape_of(source) == Shape::record;
  // A ROW expression is converted field by field.
  if (source == TypeId::record && is_composite(base_type(target))) return true;
  return find_cast(source, target, context).has_value();
}

namespace {

/// Pre: no argument has a collation.
std::optional<ResolvedFunction> try_resolve_plain(const FunctionCall& call) {
  std::vector<Matched> matches;
  for (const Function* f : call.candidates.value_or(functions_named(call.name)))
    if (auto matched = match(*f, call)) matches.push_back(std::move(*matched));
  std::vector<Candidate*> candidates;
  for (Matched& m : matches) {
    candidates.push_back(&m.candidate);
    if (!m.candidate.expanded && std::ranges::equal(m.candidate.declared, call.argument_types))
      return finish(m, call);
  }
  select(candidates, call.argument_types, call.casts);
  if (candidates.empty()) return std::nullopt;
  if (candidates.size() > 1)
    throw sql_error(sqlstate::ambiguous_function, "function {}({}) is not unique",
                    written_name(call), list_arguments(call))
        .with_hint(
            "Could not choose a best candidate function. You might need to add explicit type "
            "casts.")
        .at_position(call.position);
  for (const Matched& m : matches)
    if (&m.candidate == candidates.front()) return finish(m, call);
  return std::nullopt;
}

ResolvedFunction resolve_plain(const FunctionCall& call) {
  if (auto resolved = try_resolve_plain(call)) return *resolved;
  const bool unsupported =
      std::ranges::any_of(unsupported_functions(call.name), [&call](const Function& f) {
        const auto matched = match(f, call);
        return matched && accepts(matched->candidate, call.argument_types, call.casts);
      });
  const bool may_be_builtin = call.schema.empty() || call.schema == "pg_catalog";
  if (may_be_builtin && (unsupported || is_missing_function(call.name)))
    throw sql_error(sqlstate::feature_not_supported, "function {}({}) is not supported", call.name,
                    list_arguments(call))
        .at_position(call.position);
  throw sql_error(sqlstate::undefined_function, "function {}({}) does not exist",
                  written_name(call), list_arguments(call))
      .with_hint(
          "No function matches the given name and argument types. You might need to add explicit "
          "type casts.")
      .at_position(call.position);
}

/// Calls `resolve` with the call, or with one like it whose arguments have no collation.
template <class Resolve>
auto without_collations_of(const FunctionCall& call, Resolve resolve) {
  if (!any_collated(call.argument_types)) return resolve(call);
  const std::vector<TypeId> types = without_collations(call.argument_types);
  FunctionCall plain = call;
  plain.argument_types = types;
  return resolve(plain);
}

}  // namespace

std::optional<ResolvedFunction> try_resolve_function(const FunctionCall& call) {
  return without_collations_of(call, try_resolve_plain);
}

ResolvedFunction resolve_function(const FunctionCall& call) {
  return without_collations_of(call, resolve_plain);
}

namespace {

std::string spell_operator(const OperatorCall& call) {
  const TypeId left = call.left;
  const TypeId right = call.right;
  const std::string name =
      call.schema.empty() ? std::string{call.name} : fmt::format("{}.{}", call.schema, call.name);
  return left == TypeId::none
             ? fmt::format("{} {}", name, format_type(right))
             : fmt::format("{} {} {}", format_type(left), name, format_type(right));
}

ResolvedOperator finish_operator(const Operator& op, std::span<const TypeId> actual) {
  const bool binary = op.left != TypeId::none;
  TypeId declared[2] = {op.left, op.right};
  const std::span<const TypeId> used{declared + (binary ? 0 : 1), binary ? 2U : 1U};
  const Bindings bindings = require_polymorphic(used, actual);
  if (std::ranges::any_of(used, is_any_family) && bindings.element == TypeId::none &&
      bindings.array == TypeId::none)
    throw SqlError{sqlstate::datatype_mismatch,
                   "could not determine polymorphic type because input has type unknown"};
  ResolvedOperator out;
  out.op = &op;
  out.left = binary ? substitute(op.left, bindings) : TypeId::none;
  out.right = substitute(op.right, bindings);
  out.result = substitute(op.result, bindings);
  return out;
}

}  // namespace

std::optional<ResolvedOperator> try_resolve_operator(const OperatorCall& call) {
  const TypeId left = without_collation(call.left);
  const TypeId right = without_collation(call.right);
  const bool binary = left != TypeId::none;
  const TypeId actual_types[2] = {left, right};
  const std::span<const TypeId> actual{actual_types + (binary ? 0 : 1), binary ? 2U : 1U};
  // A literal beside a typed operand is first tried with that type.
  const TypeId exact_left = binary && left == TypeId::unknown ? right : left;
  const TypeId exact_right = binary && right == TypeId::unknown ? left : right;
  // Domains use the operators of their base types, unless there is one for the domain itself.
  const Operator* of_base_types = nullptr;
  std::vector<Candidate> all;
  for (const Operator* op : call.candidates.value_or(operators_named(call.name))) {
    if ((op->left != TypeId::none) != binary) continue;
    if (op->left == exact_left && op->right == exact_right && right != TypeId::none)
      return finish_operator(*op, actual);
    if (op->left == base_type(exact_left) && op->right == base_type(exact_right) &&
        of_base_types == nullptr)
      of_base_types = op;
    Candidate candidate{op, {}, false};
    if (binary) candidate.declared.push_back(op->left);
    candidate.declared.push_back(op->right);
    all.push_back(std::move(candidate));
  }
  if (of_base_types != nullptr && right != TypeId::none)
    return finish_operator(*of_base_types, actual);
  std::vector<Candidate*> candidates;
  for (Candidate& c : all) candidates.push_back(&c);
  select(candidates, actual, call.casts);
  if (candidates.empty()) return std::nullopt;
  if (candidates.size() > 1)
    throw sql_error(sqlstate::ambiguous_function, "operator is not unique: {}",
                    spell_operator(call))
        .with_hint(
            "Could not choose a best candidate operator. You might need to add explicit type "
            "casts.");
  return finish_operator(*static_cast<const Operator*>(candidates.front()->subject), actual);
}

ResolvedOperator resolve_operator(const OperatorCall& call) {
  try {
    if (auto resolved = try_resolve_operator(call)) return *resolved;
  } catch (SqlError& error) {
    throw std::move(error).at_position(call.position);
  }
  const bool may_be_builtin = call.schema.empty() || call.schema == "pg_catalog";
  if (may_be_builtin && operators_named(call.name).empty() && is_unsupported_operator(call.name))
    throw sql_error(sqlstate::feature_not_supported, "operator {} is not supported",
                    spell_operator(call))
        .at_position(call.position);
  throw sql_error(sqlstate::undefined_function, "operator does not exist: {}", spell_operator(call))
      .with_hint(call.left == TypeId::none
                     ? "No operator matches the given name and argument type. You might need to "
                       "add an explicit type cast."
                     : "No operator matches the given name and argument types. You might need to "
                       "add explicit type casts.")
      .at_position(call.position);
}

std::optional<ResolvedOperator> try_resolve_operator(std::string_view name, TypeId left,
                                                     TypeId right) {
  return try_resolve_operator(OperatorCall{.name = name, .left = left, .right = right});
}
ResolvedOperator resolve_operator(std::string_view name, TypeId left, TypeId right, int position) {
  return resolve_operator(
      OperatorCall{.name = name, .left = left, .right = right, .position = position});
}

std::optional<TypeId> find_common_type(std::span<const TypeId> types) {
  TypeId chosen = TypeId::unknown;
  const bool all_same = std::ranges::all_of(types, [&](TypeId type) { return type == types[0]; });
  if (all_same && !types.empty() && is_domain(types[0])) return types[0];
  // Among several types, a domain counts as its base type.
  for (const TypeId type : types) {
    const TypeId next = base_type(type);
    if (next == TypeId::unknown || next == chosen) continue;
    if (chosen == TypeId::unknown) {
      chosen = next;
    } else if (category_of(next) != category_of(chosen)) {
      return std::nullopt;
    } else if (!is_preferred(chosen) && can_coerce(chosen, next, CastContext::implicit) &&
               !can_coerce(next, chosen, CastContext::implicit)) {
      chosen = next;
    }
  }
  return chosen == TypeId::unknown ? TypeId::text : chosen;
}

TypeId select_common_type(std::span<const TypeId> types, std::string_view construct, int position) {
  const bool all_same = std::ranges::all_of(types, [&](TypeId type) { return type == types[0]; });
  if (all_same && !types.empty() && is_domain(types[0])) return types[0];
  TypeId chosen = TypeId::unknown;
  for (const TypeId next : types) {
    const TypeId pair[2] = {chosen, next};
    const auto common = find_common_type(pair);
    if (!common)
      throw sql_error(sqlstate::datatype_mismatch, "{} types {} and {} cannot be matched",
                      construct, format_type(chosen), format_type(next))
          .at_position(position);
    if (chosen != TypeId::unknown || next != TypeId::unknown) chosen = *common;
  }
  return chosen == TypeId::unknown ? TypeId::text : chosen;
}

}  // namespace swizzle::sql
