#include "base/settings/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "base/invariant.h"

namespace swizzle {
namespace {

std::unexpected<Error> unknown(std::string_view name) {
  return fail(sqlstate::undefined_object,
              fmt::format("unrecognized configuration parameter \"{}\"", name));
}

// Adds the assignment's place to the error.
std::unexpected<Error> at(Error error, const SettingAssignment& assignment) {
  return fail(Error{error.state(), error.message()}
                  .with_detail(fmt::format("Set by {}.", assignment.origin))
                  .with_hint(error.hint()));
}

SettingDefinition definition_of(std::string name, SettingValue default_value,
                                SettingContext context, std::string category,
                                std::string description) {
  SettingDefinition definition;
  definition.name = std::move(name);
  definition.category = std::move(category);
  definition.description = std::move(description);
  definition.context = context;
  definition.default_value = std::move(default_value);
  return definition;
}

}  // namespace

std::string_view name_of(SettingContext context) noexcept {
  switch (context) {
    case SettingContext::internal:
      return "internal";
    case SettingContext::postmaster:
      return "postmaster";
    case SettingContext::sighup:
      return "sighup";
    case SettingContext::superuser_backend:
      return "superuser-backend";
    case SettingContext::backend:
      return "backend";
    case SettingContext::superuser:
      return "superuser";
    case SettingContext::user:
      return "user";
  }
  return "";
}

std::string_view name_of(SettingSource source) noexcept {
  switch (source) {
    case SettingSource::default_value:
      return "default";
    case SettingSource::file:
      return "configuration file";
    case SettingSource::command_line:
      return "command line";
    case SettingSource::database:
      return "database";
    case SettingSource::user:
      return "user";
    case SettingSource::client:
      return "client";
    case SettingSource::session:
      return "session";
  }
  return "";
}

std::string_view SettingDefinition::type_name() const noexcept {
  if (!values.empty()) return "enum";
  constexpr std::array<std::string_view, 4> kNames{"bool", "integer", "real", "string"};
  return kNames[default_value.index()];
}

Result<SettingValue> SettingDefinition::parse(std::string_view text) const {
  SettingValue value;
  if (std::holds_alternative<bool>(default_value)) {
    ASSIGN_OR_RETURN(value, parse_boolean_setting(name, text));
  } else if (std::holds_alternative<std::int64_t>(default_value)) {
    ASSIGN_OR_RETURN(value, parse_integer_setting(name, text, unit, integer_bounds));
  } else if (std::holds_alternative<double>(default_value)) {
    ASSIGN_OR_RETURN(value, parse_real_setting(name, text, unit, real_bounds));
  } else if (!values.empty()) {
    ASSIGN_OR_RETURN(value, parse_enumeration_setting(name, text, values));
  } else {
    value = std::string{text};
  }
  if (check) RETURN_IF_ERROR(check(value));
  return value;
}

// ---- The server's

void Settings::define(SettingDefinition definition) {
  INVARIANT(definition.name == lower_case(definition.name));
  INVARIANT(definition.parse(bare_setting(definition.default_value)).has_value());
  const std::lock_guard guard{mutex_};
  Entry entry{.definition = std::move(definition), .value = {}, .origin = {}, .watchers = {}};
  entry.value = entry.definition.default_value;
  std::string name = entry.definition.name;
  const bool is_new = entries_.try_emplace(std::move(name), std::move(entry)).second;
  INVARIANT(is_new);
}

const SettingDefinition* Settings::find(std::string_view name) const {
  const std::lock_guard guard{mutex_};
  const auto found = entries_.find(lower_case(name));
  return found == entries_.end() ? nullptr : &found->second.definition;
}

const Settings::Entry& Settings::entry(std::string_view name) const {
  const auto found = entries_.find(name);
  INVARIANT(found != entries_.end());
  return found->second;
}

Result<Settings::Entry*> Settings::find_or_fail(std::string_view name) {
  const auto found = entries_.find(lower_case(name));
  if (found == entries_.end()) return unknown(name);
  return &found->second;
}

Result<> Settings::set_at_start(const SettingAssignment& assignment, SettingSource source) {
  const std::lock_guard guard{mutex_};
  auto found = find_or_fail(assignment.name);
  if (!found) return at(std::move(found).error(), assignment);
  Entry& entry = **found;
  if (entry.definition.context == SettingContext::internal) {
    return at(Error{SqlState{"55P02"},
                    fmt::format("parameter \"{}\" cannot be changed", assignment.name)},
              assignment);
  }
  auto value = entry.definition.parse(assignment.value);
  if (!value) return at(std::move(value).error(), assignment);
  if (source < entry.source) return {};
  entry.value = std::move(*value);
  entry.source = source;
  entry.origin = assignment.origin;
  // Release, here and below: a thread that sees the number also sees the values.
  revision_.fetch_add(1, std::memory_order_release);
  return {};
}

void Settings::change_preset(std::string_view name, std::string_view value) {
  const std::lock_guard guard{mutex_};
  const auto found = find_or_fail(name);
  INVARIANT(found && (*found)->definition.context == SettingContext::internal);
  auto parsed = (*found)->definition.parse(value);
  INVARIANT(parsed.has_value());
  (*found)->value = (*found)->definition.default_value = *std::move(parsed);
  revision_.fetch_add(1, std::memory_order_release);
}

Result<> Settings::reload(const std::vector<SettingAssignment>& file) {
  struct Wanted {
    SettingValue value;
    SettingSource source = SettingSource::default_value;
    std::string origin = {};
  };
  std::vector<std::pair<Entry*, SettingValue>> changed;
  {
    const std::lock_guard guard{mutex_};
    std::map<Entry*, Wanted> wanted;
    for (auto& [name, entry] : entries_) {
      if (entry.source <= SettingSource::file) wanted[&entry] = {entry.definition.default_value};
    }
    for (const auto& assignment : file) {
      auto found = find_or_fail(assignment.name);
      if (!found) return at(std::move(found).error(), assignment);
      auto value = (*found)->definition.parse(assignment.value);
      if (!value) return at(std::move(value).error(), assignment);
      const auto known = wanted.find(*found);
      // Otherwise the command line takes precedence.
      if (known != wanted.end()) {
        known->second = {std::move(*value), SettingSource::file, assignment.origin};
      }
    }
    for (auto& [entry, now] : wanted) {
      if (entry->definition.context <= SettingContext::postmaster) {
        entry->pending_restart = entry->value != now.value;
        continue;
      }
      if (entry->value != now.value) changed.emplace_back(entry, now.value);
      entry->value = std::move(now.value);
      entry->source = now.source;
      entry->origin = std::move(now.origin);
    }
    revision_.fetch_add(1, std::memory_order_release);
  }
  for (const auto& [entry, value] : changed) {
    for (const auto& watcher : entry->watchers) watcher(value);
  }
  return {};
}

void Settings::on_change(std::string_view name, std::function<void(const SettingValue&)> changed) {
  const std::lock_guard guard{mutex_};
  const auto found = entries_.find(name);
  INVARIANT(found != entries_.end());
  found->second.watchers.push_back(std::move(changed));
}

bool Settings::boolean(std::string_view name) const {
  const std::lock_guard guard{mutex_};
  return std::get<bool>(entry(name).value);
}

std::int64_t Settings::integer(std::string_view name) const {
  const std::lock_guard guard{mutex_};
  return std::get<std::int64_t>(entry(name).value);
}

double Settings::real(std::string_view name) const {
  const std::lock_guard guard{mutex_};
  return std::get<double>(entry(name).value);
}

std::string Settings::text(std::string_view name) const {
  const std::lock_guard guard{mutex_};
  return std::get<std::string>(entry(name).value);
}

SettingView Settings::view_of(const Entry& entry) {
  return {&entry.definition, entry.value,  entry.value,
          entry.source,      entry.origin, entry.pending_restart};
}

std::vector<SettingView> Settings::all() const {
  const std::lock_guard guard{mutex_};
  std::vector<SettingView> views;
  for (const auto& [name, entry] : entries_) views.push_back(view_of(entry));
  return views;
}

SettingView Settings::view(const SettingDefinition& definition) const {
  const std::lock_guard guard{mutex_};
  return view_of(entry(definition.name));
}

// ---- Definitions

SettingDefinition boolean_setting(std::string name, bool default_value, SettingContext context,
                                  std::string category, std::string description) {
  return definition_of(std::move(name), default_value, context, std::move(category),
                       std::move(description));
}

SettingDefinition integer_setting(std::string name, std::int64_t default_value,
                                  IntegerBounds bounds, SettingUnit unit, SettingContext context,
                                  std::string category, std::string description) {
  auto definition = definition_of(std::move(name), default_value, context, std::move(category),
                                  std::move(description));
  definition.unit = unit;
  definition.integer_bounds = bounds;
  return definition;
}

SettingDefinition real_setting(std::string name, double default_value, RealBounds bounds,
                               SettingUnit unit, SettingContext context, std::string category,
                               std::string description) {
  auto definition = definition_of(std::move(name), default_value, context, std::move(category),
                                  std::move(description));
  definition.unit = unit;
  definition.real_bounds = bounds;
  return definition;
}

SettingDefinition string_setting(std::string name, std::string default_value,
                                 SettingContext context, std::string category,
                                 std::string description) {
  return definition_of(std::move(name), std::move(default_value), context, std::move(category),
                       std::move(description));
}

SettingDefinition enumeration_setting(std::string name, std::string default_value,
                                      std::vector<std::string> values, SettingContext context,
                                      std::string category, std::string description) {
  auto definition = definition_of(std::move(name), std::move(default_value), context,
                                  std::move(category), std::move(description));
  definition.values = std::move(values);
  return definition;
}

}  // namespace swizzle
