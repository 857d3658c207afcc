#pragma once

#include <string_view>
#include <vector>

#include "base/settings/settings.h"

/// Settings that clients and files of PostgreSQL name and that steer nothing here.
namespace swizzle::sql {

/// Refuses every value but these with 0A000: another would have no effect.
SettingDefinition only(std::vector<SettingValue> values, SettingDefinition definition);
SettingDefinition default_only(SettingDefinition definition);

/// The name as PostgreSQL shows it: "TimeZone" for timezone.
std::string_view shown_setting_name(std::string_view name) noexcept;

/// Defines those of `known_settings.inc`.
void define_known_settings(Settings& settings);

}  // namespace swizzle::sql
