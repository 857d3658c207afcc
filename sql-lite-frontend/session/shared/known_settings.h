#pragma once

#include <string_view>
#include <vector>

#include "base/settings/settings.h"

/// Settings of PostgreSQL that clients and files set, and that have no effect here.
namespace swizzle::sql {

/// Refuses all other values with 0A000, because they would have no effect.
SettingDefinition only(std::vector<SettingValue> values, SettingDefinition definition);
SettingDefinition default_only(SettingDefinition definition);

/// The name as PostgreSQL shows it: "TimeZone" for timezone.
std::string_view shown_setting_name(std::string_view name) noexcept;

/// Defines the settings of `known_settings.inc`.
void define_known_settings(Settings& settings);

}  // namespace swizzle::sql
