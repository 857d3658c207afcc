#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/settings/setting_value.h"

namespace swizzle {

/// Context in which a setting may change, as PostgreSQL's; each allows more than the ones before.
enum class SettingContext : std::uint8_t {
  internal,           ///< shows a state; never set
  postmaster,         ///< at the start of the server
  sighup,             ///< also in the file, on reload
  superuser_backend,  ///< also at the start of a session, by superusers
  backend,            ///< also at the start of a session
  superuser,          ///< also by SET, by superusers
  user,               ///< also by SET
};
std::string_view name_of(SettingContext context) noexcept;

/// Origin of a value. A later one takes precedence over an earlier one.
enum class SettingSource : std::uint8_t {
  default_value,
  file,
  command_line,
  database,
  user,
  client,   ///< the start-up packet
  session,  ///< SET
};
std::string_view name_of(SettingSource source) noexcept;

/// The definition of a setting. Made with the functions below.
struct SettingDefinition {
  /// Checks a value that its type and bounds allow; an error refuses it.
  using Check = std::function<Result<>(const SettingValue& value)>;

  std::string name;
  /// The heading of the documentation, as in pg_settings.category.
  std::string category;
  std::string description;
  SettingContext context = SettingContext::user;
  SettingValue default_value;
  SettingUnit unit = SettingUnit::none;
  IntegerBounds integer_bounds = {};
  RealBounds real_bounds = {};
  /// Not empty for an enumeration.
  std::vector<std::string> values = {};
  Check check = {};

  /// "bool", "integer", "real", "string" or "enum".
  [[nodiscard]] std::string_view type_name() const noexcept;
  Result<SettingValue> parse(std::string_view text) const;
};

/// One value as pg_settings shows it.
struct SettingView {
  const SettingDefinition* definition;
  SettingValue value;
  /// The value that RESET would restore.
  SettingValue reset_value;
  SettingSource source;
  /// The file and line, or empty.
  std::string origin;
  /// True if the file has a value that needs a restart.
  bool pending_restart = false;
};

/// A line `name = value` of a settings file, or an option of a command line.
struct SettingAssignment {
  std::string name;
  std::string value;
  /// `file "x" line 3`, or `command line`.
  std::string origin;
};

/// PostgreSQL's file format: `name = value` or `name value`; values with other characters than
/// letters, digits and -._:/ are quoted with ' (doubled, or \', within); # begins a comment.
/// Names come out in lower case. F0000 with file and line.
Result<std::vector<SettingAssignment>> parse_settings_file(std::string_view text,
                                                           std::string_view file_name);

/// The server's settings. Each folder defines its own while the server starts; there is no other
/// place where they are listed. After that definitions are fixed and values thread-safe.
class Settings {
 public:
  Settings() = default;
  Settings(const Settings&) = delete;
  Settings& operator=(const Settings&) = delete;

  /// Pre: the name is new and in lower case, the default is within the bounds.
  void define(SettingDefinition definition);
  /// Null when there is none of this name, in any case.
  [[nodiscard]] const SettingDefinition* find(std::string_view name) const;

  /// Before the server runs: every context but internal may be set. 42704 for an unknown name.
  Result<> set_at_start(const SettingAssignment& assignment, SettingSource source);
  /// Applies the settings file. Settings that it no longer has return to their defaults; those that
  /// cannot change at run time are marked as pending a restart. All or nothing: an error leaves
  /// everything unchanged.
  Result<> reload(const std::vector<SettingAssignment>& file);
  /// Gives a setting of the internal context another value, which RESET restores, too.
  void change_preset(std::string_view name, std::string_view value);
  /// Calls `changed` after every reload that changed this setting, on the reloading thread.
  void on_change(std::string_view name, std::function<void(const SettingValue&)> changed);

  // Pre: defined, and of that type.
  [[nodiscard]] bool boolean(std::string_view name) const;
  [[nodiscard]] std::int64_t integer(std::string_view name) const;
  [[nodiscard]] double real(std::string_view name) const;
  [[nodiscard]] std::string text(std::string_view name) const;

  /// Changes whenever a value may have changed: for callers that cache values.
  [[nodiscard]] std::uint64_t revision() const noexcept {
    // Acquire: a thread that sees the number sees values that are as new.
    return revision_.load(std::memory_order_acquire);
  }

  /// In the order of their names.
  [[nodiscard]] std::vector<SettingView> all() const;
  [[nodiscard]] SettingView view(const SettingDefinition& definition) const;

 private:
  friend class SessionSettings;
  struct Entry {
    SettingDefinition definition;
    SettingValue value;
    SettingSource source = SettingSource::default_value;
    std::string origin;
    bool pending_restart = false;
    std::vector<std::function<void(const SettingValue&)>> watchers;
  };
  using Entries = std::map<std::string, Entry, std::less<>>;

  [[nodiscard]] const Entry& entry(std::string_view name) const;
  Result<Entry*> find_or_fail(std::string_view name);
  [[nodiscard]] static SettingView view_of(const Entry& entry);

  mutable std::mutex mutex_;
  Entries entries_;
  std::atomic<std::uint64_t> revision_{1};
};

/// The settings of one session, over the server's settings. A transaction that rolls back takes its
/// SETs with it. Not thread-safe.
class SessionSettings {
 public:
  enum class Power : std::uint8_t { ordinary, superuser };
  /// Returns the session's power at this moment: asked at each use, never cached.
  using PowerNow = std::function<Power()>;
  enum class Lifetime : std::uint8_t { session, transaction };
  /// A savepoint of the transaction.
  enum class Mark : std::size_t {};

  /// `server` outlives it.
  SessionSettings(const Settings& server, PowerNow power)
      : server_(server), power_(std::move(power)) {}

  /// Sets from the start-up packet, a role or a database. Stays until the session ends.
  Result<> set_at_start(std::string_view name, std::string_view value, SettingSource source);
  /// SET and SET LOCAL. A name with a dot need not be defined. 42704, 42602 (a bad name with a
  /// dot), 22023, 55P02 (not now), 42501 (not by this user).
  Result<> set(std::string_view name, std::string_view value, Lifetime lifetime);
  /// RESET: restores the session's first value.
  Result<> reset(std::string_view name);
  /// RESET of everything that was set, also without the power to set it.
  void reset_all();

  /// Returns the bytes of values, names and undo entries, for memory accounting.
  [[nodiscard]] std::size_t kept_bytes() const noexcept { return kept_bytes_; }

  [[nodiscard]] Mark mark() const noexcept { return Mark{undo_.size()}; }
  void roll_back_to(Mark mark);
  /// Ends the first `own` settings that were made after the mark, which were for a call. Later ones
  /// stay, also if a SET replaced one of them; a SET LOCAL of one ends with it.
  void end_own(Mark mark, std::size_t own);
  /// The transaction is committed: SET stays, SET LOCAL ends.
  void commit();
  void roll_back() { roll_back_to(Mark{0}); }

  /// Revision of the server's settings.
  [[nodiscard]] std::uint64_t server_revision() const noexcept { return server_.revision(); }

  /// SHOW. 42704.
  [[nodiscard]] Result<std::string> show(std::string_view name) const;
  // Pre: defined, and of that type.
  [[nodiscard]] bool boolean(std::string_view name) const;
  [[nodiscard]] std::int64_t integer(std::string_view name) const;
  [[nodiscard]] double real(std::string_view name) const;
  [[nodiscard]] std::string text(std::string_view name) const;
  [[nodiscard]] std::vector<SettingView> all() const;

 private:
  struct Own {
    SettingValue value;
    SettingSource source;
  };
  struct Undo {
    const SettingDefinition* setting = nullptr;
    std::optional<Own> before;
    Lifetime lifetime = Lifetime::session;
  };

  Result<const SettingDefinition*> definition(std::string_view name) const;
  /// Like definition(), but creates "class.name" if it is not defined.
  Result<const SettingDefinition*> definition_to_set(std::string_view name);
  Result<const SettingDefinition*> changeable(std::string_view name) const;
  void restore(const SettingDefinition& setting);
  void replace(const SettingDefinition& setting, std::optional<Own> own, Lifetime lifetime);
  void put(const SettingDefinition& setting, std::optional<Own> own);
  static std::size_t bytes_of(const std::optional<Own>& own) noexcept;
  void forget_undo(const Undo& undo) noexcept;
  [[nodiscard]] SettingValue value_of(std::string_view name) const;

  const Settings& server_;
  PowerNow power_;
  std::map<const SettingDefinition*, Own> own_;
  std::map<const SettingDefinition*, Own> initial_;
  std::vector<Undo> undo_;
  std::size_t kept_bytes_ = 0;
  /// Names with a dot that the session has set without a definition; they stay known.
  std::map<std::string, SettingDefinition, std::less<>> custom_;
};

// Definitions, by type.
SettingDefinition boolean_setting(std::string name, bool default_value, SettingContext context,
                                  std::string category, std::string description);
SettingDefinition integer_setting(std::string name, std::int64_t default_value,
                                  IntegerBounds bounds, SettingUnit unit, SettingContext context,
                                  std::string category, std::string description);
SettingDefinition real_setting(std::string name, double default_value, RealBounds bounds,
                               SettingUnit unit, SettingContext context, std::string category,
                               std::string description);
SettingDefinition string_setting(std::string name, std::string default_value,
                                 SettingContext context, std::string category,
                                 std::string description);
SettingDefinition enumeration_setting(std::string name, std::string default_value,
                                      std::vector<std::string> values, SettingContext context,
                                      std::string category, std::string description);

}  // namespace swizzle
