#include <fmt/format.h>

#include <utility>

#include "base/invariant.h"
#include "base/settings.h"

namespace swizzle {
namespace {

constexpr SqlState kUndefinedObject{"42704"};
constexpr SqlState kCannotChangeNow{"55P02"};
constexpr SqlState kInsufficientPrivilege{"42501"};

}  // namespace

Result<const SettingDefinition*> SessionSettings::definition(std::string_view name) const {
  const SettingDefinition* found = server_.find(name);
  if (found == nullptr) {
    return fail(kUndefinedObject, fmt::format("unrecognized configuration parameter \"{}\"", name));
  }
  return found;
}

// What SET may change.
Result<const SettingDefinition*> SessionSettings::changeable(std::string_view name) const {
  ASSIGN_OR_RETURN(const SettingDefinition* found, definition(name));
  switch (found->context) {
    case SettingContext::internal:
      return fail(kCannotChangeNow, fmt::format("parameter \"{}\" cannot be changed", name));
    case SettingContext::postmaster:
      return fail(
          kCannotChangeNow,
          fmt::format("parameter \"{}\" cannot be changed without restarting the server", name));
    case SettingContext::sighup:
      return fail(kCannotChangeNow, fmt::format("parameter \"{}\" cannot be changed now", name));
    case SettingContext::superuser_backend:
    case SettingContext::backend:
      return fail(kCannotChangeNow,
                  fmt::format("parameter \"{}\" cannot be set after connection start", name));
    case SettingContext::superuser:
      if (power_ == Power::superuser) break;
      return fail(kInsufficientPrivilege,
                  fmt::format("permission denied to set parameter \"{}\"", name));
    case SettingContext::user:
      break;
  }
  return found;
}

Result<> SessionSettings::set_at_start(std::string_view name, std::string_view value,
                                       SettingSource source) {
  ASSIGN_OR_RETURN(const SettingDefinition* setting, definition(name));
  const bool for_superusers = setting->context == SettingContext::superuser_backend ||
                              setting->context == SettingContext::superuser;
  if (for_superusers && power_ != Power::superuser) {
    return fail(kInsufficientPrivilege,
                fmt::format("permission denied to set parameter \"{}\"", name));
  }
  if (setting->context <= SettingContext::sighup) {
    RETURN_IF_ERROR(changeable(name));
  }
  ASSIGN_OR_RETURN(SettingValue parsed, setting->parse(value));
  const auto known = initial_.find(setting);
  if (known != initial_.end() && known->second.source > source) return {};
  initial_.insert_or_assign(setting, Own{parsed, source});
  own_.insert_or_assign(setting, Own{std::move(parsed), source});
  return {};
}

Result<> SessionSettings::set(std::string_view name, std::string_view value, Lifetime lifetime) {
  ASSIGN_OR_RETURN(const SettingDefinition* setting, changeable(name));
  ASSIGN_OR_RETURN(SettingValue parsed, setting->parse(value));
  replace(*setting, Own{std::move(parsed), SettingSource::session}, lifetime);
  return {};
}

Result<> SessionSettings::reset(std::string_view name) {
  ASSIGN_OR_RETURN(const SettingDefinition* setting, changeable(name));
  const auto initial = initial_.find(setting);
  replace(*setting, initial == initial_.end() ? std::nullopt : std::optional{initial->second},
          Lifetime::session);
  return {};
}

Result<> SessionSettings::reset_all() {
  std::vector<const SettingDefinition*> changed;
  for (const auto& [setting, own] : own_) {
    if (own.source == SettingSource::session) changed.push_back(setting);
  }
  for (const SettingDefinition* setting : changed) RETURN_IF_ERROR(reset(setting->name));
  return {};
}

void SessionSettings::replace(const SettingDefinition& setting, std::optional<Own> own,
                              Lifetime lifetime) {
  const auto known = own_.find(&setting);
  undo_.push_back(
      {&setting, known == own_.end() ? std::nullopt : std::optional{known->second}, lifetime});
  put(setting, std::move(own));
}

void SessionSettings::put(const SettingDefinition& setting, std::optional<Own> own) {
  if (own) {
    own_.insert_or_assign(&setting, std::move(*own));
  } else {
    own_.erase(&setting);
  }
}

void SessionSettings::roll_back_to(Mark mark) {
  while (undo_.size() > static_cast<std::size_t>(mark)) {
    Undo last = std::move(undo_.back());
    undo_.pop_back();
    put(*last.setting, std::move(last.before));
  }
}

void SessionSettings::commit() {
  // Per setting, the last SET stays; a SET LOCAL after it gives way to what was before.
  while (!undo_.empty()) {
    const SettingDefinition* setting = undo_.back().setting;
    std::optional<Undo> oldest_local;
    for (auto undo = undo_.rbegin(); undo != undo_.rend(); ++undo) {
      if (undo->setting != setting) continue;
      if (undo->lifetime == Lifetime::session) break;
      oldest_local = *undo;
    }
    if (oldest_local) put(*setting, std::move(oldest_local->before));
    std::erase_if(undo_, [&](const Undo& undo) { return undo.setting == setting; });
  }
}

SettingValue SessionSettings::value_of(std::string_view name) const {
  const SettingDefinition* setting = server_.find(name);
  INVARIANT(setting != nullptr);
  const auto own = own_.find(setting);
  return own != own_.end() ? own->second.value : server_.view(*setting).value;
}

Result<std::string> SessionSettings::show(std::string_view name) const {
  ASSIGN_OR_RETURN(const SettingDefinition* setting, definition(name));
  return show_setting(value_of(setting->name), setting->unit);
}

bool SessionSettings::boolean(std::string_view name) const {
  return std::get<bool>(value_of(name));
}
std::int64_t SessionSettings::integer(std::string_view name) const {
  return std::get<std::int64_t>(value_of(name));
}
double SessionSettings::real(std::string_view name) const {
  return std::get<double>(value_of(name));
}
std::string SessionSettings::text(std::string_view name) const {
  return std::get<std::string>(value_of(name));
}

std::vector<SettingView> SessionSettings::all() const {
  auto views = server_.all();
  for (auto& view : views) {
    if (const auto initial = initial_.find(view.definition); initial != initial_.end()) {
      view.reset_value = initial->second.value;
    }
    if (const auto own = own_.find(view.definition); own != own_.end()) {
      view.value = own->second.value;
      view.source = own->second.source;
      view.origin.clear();
    }
  }
  return views;
}

}  // namespace swizzle
