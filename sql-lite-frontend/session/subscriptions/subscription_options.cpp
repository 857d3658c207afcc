#include "sql-lite-frontend/session/subscriptions/subscription_options.h"

#include <fmt/format.h>

#include "base/ascii.h"
#include "sql-lite-frontend/definitions/routines/definition_options.h"
#include "sql-lite-frontend/session/replication/slots.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

[[noreturn]] void refuse_value(std::string_view option, std::string_view value) {
  throw_error(sqlstate::feature_not_supported,
              "subscription parameter \"{}\" with the value \"{}\" is not supported", option,
              value);
}

/// True for the words that a Boolean option may have.
bool is_boolean_word(std::string_view lower) {
  for (const std::string_view word : {"true", "false", "on", "off", "0", "1"})
    if (lower == word) return true;
  return false;
}

Subscription::Streaming checked_streaming(const ast::DefElem& option) {
  using Streaming = Subscription::Streaming;
  const std::string value = option.arg == nullptr ? "true" : lower_case(option_text(option));
  if (value == "parallel") return Streaming::parallel;
  if (!is_boolean_word(value)) {
    throw_error(sqlstate::syntax_error, "{} requires a Boolean value or \"parallel\"",
                option.defname);
  }
  return option.arg == nullptr || option_boolean(option) ? Streaming::on : Streaming::off;
}

std::string checked_origin(const ast::DefElem& option) {
  std::string value = option_text(option);
  const std::string lower = lower_case(value);
  if (lower != "any" && lower != "none") {
    throw_error(sqlstate::invalid_parameter_value, "unrecognized origin value: \"{}\"", value);
  }
  return value;
}

std::optional<std::string> checked_slot(const ast::DefElem& option) {
  std::string name = option_text(option);
  if (name == "none") return std::nullopt;
  require_slot_name(name);
  return name;
}

std::string checked_commit(const Session::State& session, const ast::DefElem& option) {
  std::string value = option_text(option);
  const SettingDefinition* const setting = session.shared.settings.find("synchronous_commit");
  STATEMENT_INVARIANT(setting != nullptr);
  value_of(setting->parse(value));
  return value;
}

Lsn checked_lsn(const ast::DefElem& option) {
  const std::string text = option_text(option);
  if (text == "none") return Lsn::none;
  const Lsn lsn = parse_lsn(text);
  if (lsn == Lsn::none)
    throw_error(sqlstate::invalid_parameter_value, "invalid WAL location (LSN): {}", text);
  return lsn;
}

void refuse_if_on(const ast::DefElem& option) {
  if (option_boolean(option)) refuse_value(option.defname, "true");
}

/// Returns the place of a Boolean option; null for any other.
bool* boolean_option(SubscriptionOptions& options, std::string_view name) {
  struct Place {
    std::string_view name;
    bool SubscriptionOptions::* value;
  };
  constexpr Place kPlaces[] = {{"connect", &SubscriptionOptions::connect},
                               {"enabled", &SubscriptionOptions::enabled},
                               {"create_slot", &SubscriptionOptions::create_slot},
                               {"copy_data", &SubscriptionOptions::copy_data},
                               {"refresh", &SubscriptionOptions::refresh},
                               {"disable_on_error", &SubscriptionOptions::disable_on_error},
                               {"password_required", &SubscriptionOptions::password_required},
                               {"run_as_owner", &SubscriptionOptions::run_as_owner},
                               {"binary", &SubscriptionOptions::binary},
                               {"two_phase", &SubscriptionOptions::two_phase}};
  for (const Place& place : kPlaces)
    if (place.name == name) return &(options.*place.value);
  return nullptr;
}

void apply(SubscriptionOptions& options, const Session::State& session,
           const ast::DefElem& option) {
  const std::string_view name = option.defname;
  if (bool* const value = boolean_option(options, name)) {
    *value = option_boolean(option);
  } else if (name == "slot_name") {
    options.slot_name = checked_slot(option);
  } else if (name == "synchronous_commit") {
    options.synchronous_commit = checked_commit(session, option);
  } else if (name == "streaming") {
    options.streaming = checked_streaming(option);
  } else if (name == "origin") {
    options.origin = checked_origin(option);
  } else if (name == "lsn") {
    options.lsn = checked_lsn(option);
  } else {
    // failover
    refuse_if_on(option);
  }
}

[[noreturn]] void refuse_together(std::string_view one, std::string_view other) {
  throw_error(sqlstate::syntax_error, "{} and {} are mutually exclusive options", one, other);
}

void turn_off_unconnected(SubscriptionOptions& options) {
  const auto turn_off = [&](bool& value, std::string_view name) {
    if (value && options.has(name))
      refuse_together("connect = false", fmt::format("{} = true", name));
    value = false;
  };
  turn_off(options.enabled, "enabled");
  turn_off(options.create_slot, "create_slot");
  turn_off(options.copy_data, "copy_data");
}

void check_without_slot(const SubscriptionOptions& options) {
  const auto refuse = [&](std::string_view name) {
    if (options.has(name)) refuse_together("slot_name = NONE", fmt::format("{} = true", name));
    throw_error(sqlstate::syntax_error, "subscription with {} must also set {}", "slot_name = NONE",
                fmt::format("{} = false", name));
  };
  if (options.enabled) refuse("enabled");
  if (options.create_slot) refuse("create_slot");
}

bool is_among(std::string_view allowed, std::string_view name) {
  return fmt::format(" {} ", allowed).find(fmt::format(" {} ", name)) != std::string::npos;
}

}  // namespace

SubscriptionOptions subscription_options(Session::State& session, ast::NodeList list,
                                         std::string_view allowed) {
  SubscriptionOptions options;
  for (const ast::Node* node : list) {
    const auto& option = ast::as<ast::DefElem>(node);
    if (!is_among(allowed, option.defname)) {
      throw_error(sqlstate::syntax_error, "unrecognized subscription parameter: \"{}\"",
                  option.defname);
    }
    if (!options.given.emplace(option.defname).second) {
      throw SqlError{sqlstate::syntax_error, "conflicting or redundant options"}.at_position(
          option.location + 1);
    }
    apply(options, session, option);
  }
  if (!is_among(allowed, "connect")) {
    // ALTER SUBSCRIPTION … SET has neither `enabled` nor `create_slot`.
    return options;
  }
  if (!options.connect) turn_off_unconnected(options);
  if (options.has("slot_name") && !options.slot_name) check_without_slot(options);
  return options;
}

}  // namespace swizzle::sql
