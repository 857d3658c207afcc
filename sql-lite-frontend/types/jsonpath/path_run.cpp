#include "sql-lite-frontend/types/jsonpath/path_run.h"

#include <algorithm>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/json/json.h"
#include "sql-lite-frontend/types/numeric/numeric.h"
#include "sql-lite-frontend/types/type_codec.h"

namespace swizzle::sql {
namespace {

constexpr std::size_t kWorkOfStep = 60;

// SQLSTATEs of SQL/JSON.
constexpr SqlState kNoMember{"2203A"};
constexpr SqlState kNoArray{"22039"};
constexpr SqlState kNoObject{"2203C"};
constexpr SqlState kNoNumber{"2203B"};
constexpr SqlState kBadSubscript{"22033"};
constexpr SqlState kNotSingle{"22038"};

}  // namespace

/// Restores the run's state at the end of a step.
class PathRun::Restore {
 public:
  explicit Restore(PathRun& run) noexcept
      : run_(run), place_(run.place_), first_only_(run.first_only_), throws_(run.throws_) {}
  Restore(const Restore&) = delete;
  Restore& operator=(const Restore&) = delete;
  ~Restore() {
    run_.place_ = place_;
    run_.first_only_ = first_only_;
    run_.throws_ = throws_;
  }

 private:
  PathRun& run_;
  Place place_;
  const PathItems* first_only_;
  bool throws_;
};

PathRun::PathRun(FunctionContext& context, const PathTree& path, std::string_view json,
                 std::string_view variables, Zones zones)
    : context_(context),
      path_(path),
      zones_(zones),
      root_(take_json_apart(json, context.arena.account())),
      root_text_(json) {
  if (!variables.empty()) {
    variables_ = take_json_apart(variables, context.arena.account());
    if (variables_->kind != JsonKind::object) {
      throw sql_error(sqlstate::invalid_parameter_value, "\"vars\" argument is not an object")
          .with_detail(
              "Jsonpath parameters should be encoded as key-value pairs of \"vars\" object.");
    }
  }
  place_.current = {&root_};
  place_.ignores_structure = is_lax();
}

PathRun::PathRun(FunctionContext& context, const PathTree& path, std::string_view json,
                 NamedVariables /*variables*/)
    : PathRun(context, path, json, {}, Zones::used) {
  has_named_ = true;
}

void PathRun::fail(SqlState state, std::string message, std::string hint) {
  SqlError error{state, std::move(message)};
  if (!hint.empty()) error = std::move(error).with_hint(std::move(hint));
  throw PathFailure{std::move(error)};
}

PathItem PathRun::made(JsonValue value) {
  constexpr std::size_t kOwn = sizeof(JsonValue) + sizeof(std::string);
  made_bytes_ += kOwn + value.text.size() + value.raw.size();
  share_.set(context_.arena.account(), made_bytes_);
  made_.push_back(std::move(value));
  return {&made_.back()};
}

PathItem PathRun::number(const Value& value) {
  std::string& written = texts_.emplace_back();
  append_numeric(written, value);
  JsonValue json;
  json.kind = JsonKind::number;
  json.text = written;
  json.raw = written;
  return made(std::move(json));
}

PathItem PathRun::text(std::string value) {
  std::string& written = texts_.emplace_back();
  append_json_string(value, written);
  JsonValue json;
  json.kind = JsonKind::string;
  json.text = std::move(value);
  json.raw = written;
  return made(std::move(json));
}

PathItem PathRun::boolean(Truth truth) {
  JsonValue json;
  json.kind = truth == Truth::unknown ? JsonKind::null : JsonKind::boolean;
  json.raw = truth == Truth::unknown ? "null" : (truth == Truth::yes ? "true" : "false");
  json.text = json.raw;
  return made(std::move(json));
}

PathItem PathRun::variable(std::string_view name) {
  if (has_named_) {
    const auto named =
        std::ranges::find_if(named_, [&](const auto& known) { return known.first == name; });
    if (named != named_.end()) return named->second;
    throw_error(sqlstate::undefined_object, "could not find jsonpath variable \"{}\"", name);
  }
  // The operators @? and @@ pass no variables.
  const JsonValue* const found = variables_ ? variables_->member(name) : nullptr;
  if (found == nullptr) {
    throw_error(sqlstate::undefined_object, "could not find jsonpath variable \"{}\"", name);
  }
  return {found};
}

Value PathRun::number_of(const PathItem& item) const {
  return numeric_from_text(context_.arena, item.json->text);
}

PathRun::Outcome PathRun::items(Failures failures) {
  Outcome outcome{no_items()};
  throws_ = failures == Failures::thrown;
  try {
    run(path_.root, {&root_}, outcome.found);
  } catch (PathFailure& failure) {
    if (throws_) throw std::move(failure.error);
    outcome.failed = true;
  }
  return outcome;
}

std::optional<bool> PathRun::exists(Failures failures) {
  throws_ = failures == Failures::thrown;
  try {
    return comes_to_any(path_.root, {&root_});
  } catch (PathFailure& failure) {
    if (throws_) throw std::move(failure.error);
    return std::nullopt;
  }
}

bool PathRun::comes_to_any(PathPlace place, const PathItem& item) {
  const Restore restore{*this};
  PathItems found = no_items();
  // Lax mode stops at the first item. Strict mode must find failures of all.
  first_only_ = is_lax() ? &found : nullptr;
  run(place, item, found);
  return !found.empty();
}

std::optional<bool> PathRun::exists_or_nothing(PathPlace place, const PathItem& item) {
  const Restore restore{*this};
  throws_ = false;
  try {
    return comes_to_any(place, item);
  } catch (const PathFailure&) {
    return std::nullopt;
  }
}

void PathRun::append(const PathItem& item, std::string& out) const {
  if (item.json != nullptr) {
    out += item.json->raw;
    return;
  }
  append_json_string(item.moment->text, out);
}

void PathRun::next(const PathNode& node, const PathItem& item, PathItems& found) {
  if (node.next == kNoPlace) {
    found.push_back(item);
  } else {
    run(node.next, item, found);
  }
}

void PathRun::run(PathPlace place, const PathItem& item, PathItems& found) {
  run(place, item, found, is_lax());
}

/// Runs the step on each element of an array.
void PathRun::each_element(const PathNode& /*node*/, PathPlace place, const PathItem& array,
                           PathItems& found) {
  for (const JsonValue& element : array.json->items) {
    run(place, {&element}, found, false);
    if (is_enough(found)) return;
  }
}

bool PathRun::unwrap_target(PathPlace place, const PathItem& item, PathItems& found, bool unwraps) {
  if (!unwraps || item.kind() != JsonKind::array) return false;
  each_element(path_.at(place), place, item, found);
  return true;
}

void PathRun::run(PathPlace place, const PathItem& item, PathItems& found, bool unwraps) {
  check_stack();
  yield_point(kWorkOfStep);
  const PathNode& node = path_.at(place);
  switch (node.op) {
    case PathOp::root:
      return next(node, {&root_}, found);
    case PathOp::current:
      return next(node, PathItem{place_.current}, found);
    case PathOp::last:
      return next(node, number(numeric_from_int(place_.array_size - 1)), found);
    case PathOp::variable:
      return next(node, variable(node.text), found);
    case PathOp::null:
      return next(node, boolean(Truth::unknown), found);
    case PathOp::boolean:
      return next(node, boolean(node.truth ? Truth::yes : Truth::no), found);
    case PathOp::number:
      return next(node, number(numeric_from_text(context_.arena, node.text)), found);
    case PathOp::string:
      return next(node, text(node.text), found);
    case PathOp::key:
      return run_key(node, place, item, found, unwraps);
    case PathOp::any_key:
      return run_any_key(node, place, item, found, unwraps);
    case PathOp::any_array:
      return run_any_array(node, item, found);
    case PathOp::subscripts:
      return run_subscripts(node, item, found);
    case PathOp::any:
      return run_any(node, item, found);
    case PathOp::filter: {
      if (unwrap_target(place, item, found, unwraps)) return;
      Truth holds = Truth::unknown;
      {
        const Restore restore{*this};
        place_.current = item;
        holds = truth(node.left, item);
      }
      if (holds == Truth::yes) next(node, item, found);
      return;
    }
    case PathOp::add:
    case PathOp::subtract:
    case PathOp::multiply:
    case PathOp::divide:
    case PathOp::modulo:
      return run_arithmetic(node, item, found);
    case PathOp::plus:
    case PathOp::minus:
      return run_sign(node, item, found);
    default:
      if (!path_method(node.op).empty()) return run_method(node, place, item, found, unwraps);
      return next(node, boolean(truth(place, item)), found);
  }
}

void PathRun::run_key(const PathNode& node, PathPlace place, const PathItem& item, PathItems& found,
                      bool unwraps) {
  if (item.kind() == JsonKind::object) {
    if (const JsonValue* member = item.json->member(node.text)) {
      return next(node, {member}, found);
    }
    if (!ignores_structure()) {
      fail(kNoMember, "JSON object does not contain key \"" + node.text + "\"");
    }
    return;
  }
  if (unwrap_target(place, item, found, unwraps)) return;
  if (!ignores_structure()) {
    fail(kNoMember, "jsonpath member accessor can only be applied to an object");
  }
}

void PathRun::run_any_key(const PathNode& node, PathPlace place, const PathItem& item,
                          PathItems& found, bool unwraps) {
  if (item.kind() == JsonKind::object) {
    for (const auto& [name, value] : item.json->members) {
      next(node, {&value}, found);
      if (is_enough(found)) return;
    }
    return;
  }
  if (unwrap_target(place, item, found, unwraps)) return;
  if (!ignores_structure()) {
    fail(kNoObject, "jsonpath wildcard member accessor can only be applied to an object");
  }
}

void PathRun::run_any_array(const PathNode& node, const PathItem& item, PathItems& found) {
  if (item.kind() == JsonKind::array) {
    for (const JsonValue& element : item.json->items) {
      next(node, {&element}, found);
      if (is_enough(found)) return;
    }
    return;
  }
  if (is_lax()) return next(node, item, found);
  if (!ignores_structure()) {
    fail(kNoArray, "jsonpath wildcard array accessor can only be applied to an array");
  }
}

std::int64_t PathRun::subscript(PathPlace place, const PathItem& item) {
  PathItems found = no_items();
  run(place, item, found);
  if (found.size() != 1 || found.front().kind() != JsonKind::number) {
    fail(kBadSubscript, "jsonpath array subscript is not a single numeric value");
  }
  const Value whole = numeric_truncate(context_.arena, number_of(found.front()), 0);
  const Value least = numeric_from_int(INT32_MIN);
  const Value most = numeric_from_int(INT32_MAX);
  if (numeric_compare(whole, least) < 0 || numeric_compare(whole, most) > 0) {
    fail(kBadSubscript, "jsonpath array subscript is out of integer range");
  }
  return numeric_to_int(whole, INT32_MIN, INT32_MAX, "integer");
}

void PathRun::run_subscripts(const PathNode& node, const PathItem& item, PathItems& found) {
  const bool is_array = item.kind() == JsonKind::array;
  if (!is_array && !is_lax()) {
    if (ignores_structure()) return;
    fail(kNoArray, "jsonpath array accessor can only be applied to an array");
  }
  const std::int64_t size = is_array ? static_cast<std::int64_t>(item.json->items.size()) : 1;
  for (const PathNode::Subscript& one : node.list) {
    std::int64_t from = 0;
    std::int64_t to = 0;
    {
      const Restore restore{*this};
      place_.array_size = size;
      from = subscript(one.from, item);
      to = one.to == kNoPlace ? from : subscript(one.to, item);
    }
    if (!ignores_structure() && (from < 0 || from > to || to >= size)) {
      fail(kBadSubscript, "jsonpath array subscript is out of bounds");
    }
    const Restore restore{*this};
    place_.array_size = size;
    for (std::int64_t i = std::max<std::int64_t>(from, 0); i <= std::min(to, size - 1); ++i) {
      next(node, is_array ? PathItem{&item.json->items[static_cast<std::size_t>(i)]} : item, found);
      if (is_enough(found)) return;
    }
  }
}

void PathRun::run_any(const PathNode& node, const PathItem& item, PathItems& found) {
  const Restore restore{*this};
  const bool has_parts = item.json != nullptr && !item.json->is_scalar();
  if (node.first == 0) {
    place_.ignores_structure = true;
    try {
      next(node, item, found);
    } catch (const PathFailure&) {
      // As in PostgreSQL, a failure on the value itself is dropped if its parts follow.
      if (throws_ || !has_parts) throw;
    }
  }
  if (has_parts && !is_enough(found)) descend(node, *item.json, 1, found);
}

void PathRun::descend(const PathNode& node, const JsonValue& json, std::uint32_t level,
                      PathItems& found) {
  check_stack();
  if (level > node.last) return;
  const auto visit = [&](const JsonValue& child) {
    yield_point(kWorkOfStep);
    const bool only_leaves = node.first == kLastLevel && node.last == kLastLevel;
    if (level >= node.first || (only_leaves && child.is_scalar())) {
      place_.ignores_structure = true;
      next(node, {&child}, found);
    }
    if (level < node.last && !child.is_scalar()) descend(node, child, level + 1, found);
  };
  for (const JsonValue& item : json.items) {
    if (is_enough(found)) return;
    visit(item);
  }
  for (const auto& [name, value] : json.members) {
    if (is_enough(found)) return;
    visit(value);
  }
}

PathItems PathRun::operand(PathPlace place, const PathItem& item, bool unwraps) {
  PathItems found = no_items();
  run(place, item, found);
  const auto is_array = [](const PathItem& one) { return one.kind() == JsonKind::array; };
  if (!unwraps || !is_lax() || std::ranges::none_of(found, is_array)) return found;
  PathItems flat = no_items();
  for (const PathItem& one : found) {
    if (!is_array(one)) {
      flat.push_back(one);
      continue;
    }
    for (const JsonValue& element : one.json->items) flat.push_back({&element});
  }
  return flat;
}

std::optional<PathItems> PathRun::operand_or_nothing(PathPlace place, const PathItem& item,
                                                     bool unwraps) {
  const Restore restore{*this};
  throws_ = false;
  try {
    return operand(place, item, unwraps);
  } catch (const PathFailure&) {
    return std::nullopt;
  }
}

void PathRun::run_arithmetic(const PathNode& node, const PathItem& item, PathItems& found) {
  const std::string name{path_operator(node.op)};
  const PathItems lefts = operand(node.left, item, true);
  const PathItems rights = operand(node.right, item, true);
  const auto single = [&](const PathItems& all, const char* side) {
    if (all.size() != 1 || all.front().kind() != JsonKind::number) {
      fail(kNotSingle, std::string{side} + " operand of jsonpath operator " + name +
                           " is not a single numeric value");
    }
    return number_of(all.front());
  };
  const Value left = single(lefts, "left");
  const Value right = single(rights, "right");
  Arena& arena = context_.arena;
  Value result;
  try {
    switch (node.op) {
      case PathOp::add:
        result = numeric_add(arena, left, right);
        break;
      case PathOp::subtract:
        result = numeric_subtract(arena, left, right);
        break;
      case PathOp::multiply:
        result = numeric_multiply(arena, left, right);
        break;
      case PathOp::divide:
        result = numeric_divide(arena, left, right);
        break;
      default:
        result = numeric_modulo(arena, left, right);
    }
  } catch (SqlError& error) {
    // Errors of the data make the path fail; others, such as a cancelled statement, pass.
    if (!error.state().code().starts_with("22")) throw;
    throw PathFailure{std::move(error)};
  }
  next(node, number(result), found);
}

void PathRun::run_sign(const PathNode& node, const PathItem& item, PathItems& found) {
  const PathItems all = operand(node.left, item, true);
  for (const PathItem& one : all) {
    if (one.kind() != JsonKind::number) {
      if (only_asks(node, found)) continue;
      fail(kNoNumber, "operand of unary jsonpath operator " + std::string{path_operator(node.op)} +
                          " is not a numeric value");
    }
    next(node,
         node.op == PathOp::plus ? one : number(numeric_negate(context_.arena, number_of(one))),
         found);
    if (is_enough(found)) return;
  }
}

}  // namespace swizzle::sql
