#include <fmt/format.h>

#include <algorithm>

#include "base/encodings/encoding.h"
#include "sql-lite-frontend/session/state/session_state.h"

/// Settings that outlive the session: of a role, of a database, of a routine.
namespace swizzle::sql {
namespace {

/// "name=value" in a role's or database's list: put, replaced or removed.
void change_list(std::vector<std::string>& list, std::string_view name,
                 const std::optional<std::string>& value) {
  const auto found = std::ranges::find_if(list, [&](const std::string& entry) {
    return entry.size() > name.size() && entry[name.size()] == '=' && entry.starts_with(name);
  });
  if (found != list.end()) list.erase(found);
  if (value) list.push_back(fmt::format("{}={}", name, *value));
}

}  // namespace

void SessionVariables::change_stored(std::vector<std::string>& list,
                                     const ast::VariableSetStmt& change) {
  if (change.kind == ast::VariableSetKind::reset_all) {
    list.clear();
    return;
  }
  std::string name{change.name};
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  const std::optional<std::string> value = stored_value(change);
  if (value) {
    // Refused here as SET would refuse it, so that the role's next login does not fail.
    const SettingDefinition* definition = session_.shared.settings.find(name);
    if (definition == nullptr && name.find('.') == std::string::npos) {
      throw_error(sqlstate::undefined_object, "unrecognized configuration parameter \"{}\"", name);
    }
    if (definition != nullptr) {
      if (definition->context < SettingContext::superuser_backend) {
        throw_error(SqlState{"55P02"}, "parameter \"{}\" cannot be changed now", name);
      }
      const bool for_superusers = definition->context == SettingContext::superuser ||
                                  definition->context == SettingContext::superuser_backend;
      if (for_superusers && !session_.rights.is_superuser(session_.user)) {
        throw_error(sqlstate::insufficient_privilege, "permission denied to set parameter \"{}\"",
                    name);
      }
      value_of(definition->parse(*value));
      if (name == "client_encoding") static_cast<void>(canonical_value(name, *value));
    }
  }
  change_list(list, name, value);
}

/// At login: applies the database's settings, then the role's, which win; the client's come last.
namespace {

/// Returns the encoding's own name; the text itself if it means none.
std::string encoding_name_or(const std::string& text) {
  const auto encoding = find_encoding(text);
  return encoding ? std::string{encoding_name(*encoding)} : text;
}

}  // namespace

void SessionVariables::apply_stored() {
  const auto apply = [&](const std::vector<std::string>& list, SettingSource source) {
    for (const std::string& entry : list) {
      const std::size_t equals = entry.find('=');
      // A setting that this version does not have any more must not prevent a login.
      const std::string name = entry.substr(0, equals);
      std::string value = entry.substr(equals + 1);
      if (name == "client_encoding") value = encoding_name_or(value);
      static_cast<void>(session_.settings.set_at_start(name, value, source));
    }
  };
  if (const DatabasePtr database = session_.catalog.database(session_.options.database)) {
    apply(database->settings, SettingSource::database);
  }
  if (const RolePtr role = session_.catalog.role(session_.login))
    apply(role->settings, SettingSource::user);
}

}  // namespace swizzle::sql
