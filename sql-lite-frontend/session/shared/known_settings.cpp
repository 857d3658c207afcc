#include "sql-lite-frontend/session/shared/known_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ranges>
#include <string_view>

#include "base/ascii.h"

namespace swizzle::sql {
namespace {

/// A setting of PostgreSQL without effect here.
struct KnownSetting {
  enum class Type : std::uint8_t { boolean, integer, real, string, enumeration };
  /// `kept`: a hint, so every valid value is accepted. `fixed`: a promise that only the default
  /// keeps, so other values are refused.
  enum class Effect : std::uint8_t { kept, fixed };

  std::string_view name;
  Type type;
  Effect effect;
  std::string_view value;
  double least;
  double most;
  SettingUnit unit;
  SettingContext context;
  std::string_view category;
  std::string_view values;  ///< of an enumeration, separated by commas
};

using SettingType = KnownSetting::Type;
using Effect = KnownSetting::Effect;

constexpr KnownSetting kKnown[] = {
#include "sql-lite-frontend/session/shared/known_settings.inc"
};

std::vector<std::string> listed(std::string_view values) {
  std::vector<std::string> list;
  for (const auto& part : std::views::split(values, ',')) {
    list.emplace_back(part.begin(), part.end());
  }
  return list;
}

SettingDefinition definition_of(const KnownSetting& known) {
  const std::string name{known.name};
  const std::string category{known.category};
  const std::string text = known.effect == Effect::kept
                               ? "Has no effect here; it is kept for applications that set it."
                               : "Has no effect here, so it cannot be set to another value.";
  switch (known.type) {
    case SettingType::boolean:
      return boolean_setting(name, known.value == "on", known.context, category, text);
    case SettingType::integer:
      return integer_setting(
          name, std::strtoll(std::string{known.value}.c_str(), nullptr, 10),
          {static_cast<std::int64_t>(known.least), static_cast<std::int64_t>(known.most)},
          known.unit, known.context, category, text);
    case SettingType::real:
      return real_setting(name, std::strtod(std::string{known.value}.c_str(), nullptr),
                          {known.least, known.most}, known.unit, known.context, category, text);
    case SettingType::string:
      return string_setting(name, std::string{known.value}, known.context, category, text);
    case SettingType::enumeration:
      break;
  }
  return enumeration_setting(name, std::string{known.value}, listed(known.values), known.context,
                             category, text);
}

}  // namespace

SettingDefinition only(std::vector<SettingValue> values, SettingDefinition definition) {
  definition.check = [name = definition.name,
                      values = std::move(values)](const SettingValue& value) -> Result<> {
    if (std::ranges::find(values, value) != values.end()) return {};
    return fail(
        sqlstate::feature_not_supported,
        fmt::format("setting \"{}\" to \"{}\" is not supported", name, bare_setting(value)));
  };
  return definition;
}

SettingDefinition default_only(SettingDefinition definition) {
  std::vector<SettingValue> values{definition.default_value};
  return only(std::move(values), std::move(definition));
}

std::string_view shown_setting_name(std::string_view name) noexcept {
  for (const std::string_view shown : {"DateStyle", "IntervalStyle", "TimeZone"}) {
    if (lower_case(shown) == name) return shown;
  }
  return name;
}

void define_known_settings(Settings& settings) {
  for (const KnownSetting& known : kKnown) {
    SettingDefinition definition = definition_of(known);
    if (known.effect == Effect::fixed) definition = default_only(std::move(definition));
    settings.define(std::move(definition));
  }
}

}  // namespace swizzle::sql
