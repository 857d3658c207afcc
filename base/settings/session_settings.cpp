#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/ascii.h"
#include "base/invariant.h"
#include "base/settings/settings.h"

namespace swizzle {
namespace {

constexpr SqlState kCannotChangeNow{"55P02"};
constexpr SqlState kInvalidName{"42602"};

/// Size of a map's node and its value.
constexpr std::size_t kEntryBytes = 96;

/// Two or more identifiers with dots between them.
bool is_custom_name(std::string_view name) {
  bool begins = true;
  for (const char letter : name) {
    if (letter == '.') {
      if (begins) return false;
      begins = true;
      continue;
    }
    const auto byte = static_cast<unsigned char>(letter);
    const bool is_letter = std::isalpha(byte) != 0 || letter == '_' || byte >= 0x80;
    if (!is_letter && (begins || (std::isdigit(byte) == 0 && letter != '$'))) return false;
    begins = false;
  }
  return !begins;
}

}  // namespace

Result<const SettingDefinition*> SessionSettings::definition(std::string_view name) const {
  const SettingDefinition* found = server_.find(name);
  if (found != nullptr) return found;
  const auto custom = custom_.find(lower_case(name));
  if (custom != custom_.end()) return &custom->second;
  return fail(sqlstate::undefined_object,
              fmt::format("unrecognized configuration parameter \"{}\"", name));
}

Result<const SettingDefinition*> SessionSettings::definition_to_set(std::string_view name) {
  if (name.find('.') != std::string_view::npos && !definition(name)) {
    if (!is_custom_name(name)) {
      return std::unexpected{
          Error{kInvalidName, fmt::format("invalid configuration parameter name \"{}\"", name)}
              .with_detail(
                  "Custom parameter names must be two or more simple identifiers separated "
                  "by dots.")};
    }
    const std::string key = lower_case(name);
    if (key.starts_with("plpgsql.")) {
      return std::unexpected{
          Error{kInvalidName, fmt::format("invalid configuration parameter name \"{}\"", name)}
              .with_detail("\"plpgsql\" is a reserved prefix.")};
    }
    custom_.emplace(key, string_setting(key, "", SettingContext::user, "Customized Options", ""));
    kept_bytes_ += sizeof(SettingDefinition) + 2 * key.size() + kEntryBytes;
  }
  return changeable(name);
}

// Returns the definition of a setting that SET may change, or the error that says why it may not.
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
      if (power_() == Power::superuser) break;
      return fail(sqlstate::insufficient_privilege,
                  fmt::format("permission denied to set parameter \"{}\"", name));
    case SettingContext::user:
      break;
  }
  return found;
}

Result<> SessionSettings::set_at_start(std::string_view name, std::string_view value,
                                       SettingSource source) {
  // Clients bring settings of extensions that are not here, as Patroni those of pg_stat_statements.
  if (name.find('.') != std::string_view::npos) RETURN_IF_ERROR(definition_to_set(name));
  ASSIGN_OR_RETURN(const SettingDefinition* setting, definition(name));
  const bool for_superusers = setting->context == SettingContext::superuser_backend ||
                              setting->context == SettingContext::superuser;
  if (for_superusers && power_() != Power::superuser) {
    return fail(sqlstate::insufficient_privilege,
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
  ASSIGN_OR_RETURN(const SettingDefinition* setting, definition_to_set(name));
  ASSIGN_OR_RETURN(SettingValue parsed, setting->parse(value));
  replace(*setting, Own{std::move(parsed), SettingSource::session}, lifetime);
  return {};
}

Result<> SessionSettings::reset(std::string_view name) {
  ASSIGN_OR_RETURN(const SettingDefinition* setting, changeable(name));
  restore(*setting);
  return {};
}

void SessionSettings::restore(const SettingDefinition& setting) {
  const auto initial = initial_.find(&setting);
  replace(setting, initial == initial_.end() ? std::nullopt : std::optional{initial->second},
          Lifetime::session);
}

void SessionSettings::reset_all() {
  std::vector<const SettingDefinition*> changed;
  for (const auto& [setting, own] : own_) {
    if (own.source == SettingSource::session) changed.push_back(setting);
  }
  for (const SettingDefinition* setting : changed) restore(*setting);
}

void SessionSettings::replace(const SettingDefinition& setting, std::optional<Own> own,
                              Lifetime lifetime) {
  const auto known = own_.find(&setting);
  undo_.push_back(
      {&setting, known == own_.end() ? std::nullopt : std::optional{known->second}, lifetime});
  kept_bytes_ += sizeof(Undo) + bytes_of(undo_.back().before);
  put(setting, std::move(own));
}

void SessionSettings::put(const SettingDefinition& setting, std::optional<Own> own) {
  const auto known = own_.find(&setting);
  if (known != own_.end()) kept_bytes_ -= std::min(kept_bytes_, bytes_of(known->second));
  if (own) {
    kept_bytes_ += bytes_of(own);
    own_.insert_or_assign(&setting, std::move(*own));
  } else if (known != own_.end()) {
    own_.erase(known);
  }
}

std::size_t SessionSettings::bytes_of(const std::optional<Own>& own) noexcept {
  if (!own) return 0;
  const auto* text = std::get_if<std::string>(&own->value);
  return kEntryBytes + (text != nullptr ? text->capacity() : 0);
}

void SessionSettings::forget_undo(const Undo& undo) noexcept {
  kept_bytes_ -= std::min(kept_bytes_, sizeof(Undo) + bytes_of(undo.before));
}

void SessionSettings::roll_back_to(Mark mark) {
  while (undo_.size() > static_cast<std::size_t>(mark)) {
    Undo last = std::move(undo_.back());
    undo_.pop_back();
    forget_undo(last);
    put(*last.setting, std::move(last.before));
  }
}

void SessionSettings::end_own(Mark mark, std::size_t own) {
  const auto first = static_cast<std::size_t>(mark);
  std::vector<const SettingDefinition*> names;
  for (std::size_t i = 0; i < own; ++i) names.push_back(undo_[first + i].setting);
  for (const SettingDefinition* name : names) {
    const auto begin = undo_.begin() + static_cast<std::ptrdiff_t>(first);
    const auto oldest =
        std::find_if(begin, undo_.end(), [&](const Undo& undo) { return undo.setting == name; });
    const bool is_set = std::any_of(oldest, undo_.end(), [&](const Undo& undo) {
      return undo.setting == name && undo.lifetime == Lifetime::session;
    });
    // Absent: the name was there twice.
    if (oldest == undo_.end() || is_set) continue;
    put(*name, oldest->before);
    const auto gone = std::remove_if(oldest, undo_.end(), [&](const Undo& undo) {
      if (undo.setting != name) return false;
      forget_undo(undo);
      return true;
    });
    undo_.erase(gone, undo_.end());
  }
}

void SessionSettings::commit() {
  // For each setting, the last SET stays; a SET LOCAL after it is undone at the transaction's end.
  struct End {
    bool stays = false;
    Undo* oldest_local = nullptr;  ///< after the last SET
  };
  std::map<const SettingDefinition*, End> ends;
  for (auto undo = undo_.rbegin(); undo != undo_.rend(); ++undo) {
    forget_undo(*undo);
    End& end = ends[undo->setting];
    if (end.stays) continue;
    end.stays = undo->lifetime == Lifetime::session;
    if (!end.stays) end.oldest_local = &*undo;
  }
  for (auto& [setting, end] : ends) {
    if (end.oldest_local != nullptr) put(*setting, std::move(end.oldest_local->before));
  }
  undo_.clear();
}

SettingValue SessionSettings::value_of(std::string_view name) const {
  const SettingDefinition* setting = server_.find(name);
  INVARIANT(setting != nullptr);
  const auto own = own_.find(setting);
  return own != own_.end() ? own->second.value : server_.view(*setting).value;
}

Result<std::string> SessionSettings::show(std::string_view name) const {
  ASSIGN_OR_RETURN(const SettingDefinition* setting, definition(name));
  if (server_.find(name) == nullptr) {
    const auto own = own_.find(setting);
    return show_setting(own != own_.end() ? own->second.value : SettingValue{std::string{}},
                        setting->unit);
  }
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
