#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "sql-lite-frontend/query/parse/ast_nodes.h"
#include "sql-lite-frontend/script.h"

/// The table of statements: `statement_kinds.inc` has a line for each kind, with its facts and the
/// function that runs it.
namespace swizzle::sql {

/// A name that all statements of a kind share, or that depends on the statement's tree.
class StatementName {
 public:
  constexpr StatementName() = default;
  template <std::convertible_to<std::string_view> Text>
  constexpr StatementName(
      const Text& shared)  // NOLINT(google-explicit-constructor): a table's cell
      : shared_(shared) {}
  constexpr StatementName(  // NOLINT(google-explicit-constructor): a table's cell
      std::string_view (*by_tree)(const ast::Node&))
      : by_tree_(by_tree) {}

  [[nodiscard]] std::string_view of(const ast::Node& statement) const {
    return by_tree_ != nullptr ? by_tree_(statement) : shared_;
  }

 private:
  std::string_view shared_;
  std::string_view (*by_tree_)(const ast::Node&) = nullptr;
};

/// Facts about a kind of statement. The setters are for the table's lines.
struct StatementKind {
  enum class Runs : std::uint8_t {
    planned,
    transaction,  ///< BEGIN, COMMIT, savepoints …: by SessionTransaction, before one is begun
    command,
    definition,   ///< run again when names come to mean something else before they are locked
    unsupported,  ///< 0A000
  };

  ast::NodeKind node = ast::NodeKind::none;
  Runs runs = Runs::planned;
  /// Tag of CommandComplete, and the statement's name in errors.
  StatementName tag;
  LogClass log_class = LogClass::other;
  /// Refused in a read-only transaction, whatever it names.
  bool writes = false;
  /// Name by which it is refused inside a transaction block; empty: allowed. VACUUM and REINDEX
  /// check that themselves, because their options are checked first.
  StatementName outside_blocks;
  bool only_in_blocks = false;
  /// Name in the refusal within restricted routines, where the statement would affect a user who
  /// did not request it; empty: allowed.
  std::string_view restricted_as;
  /// Counts as the first statement of a REPEATABLE READ transaction, as PostgreSQL's
  /// PlannedStmtRequiresSnapshot() has it.
  bool takes_snapshot = true;
  /// Its function sends the tag, with a number of rows.
  bool sends_tag = false;
  /// For 0A000: the name, if it is not the tag; the object's name in the statement; a hint.
  std::string_view refused_as;
  std::string (*object)(const ast::Node&) = nullptr;
  std::string_view hint;

  [[nodiscard]] constexpr StatementKind logged(LogClass as) const {
    return with(&StatementKind::log_class, as);
  }
  [[nodiscard]] constexpr StatementKind allowed_read_only() const {
    return with(&StatementKind::writes, false);
  }
  [[nodiscard]] constexpr StatementKind not_in_blocks(StatementName name) const {
    return with(&StatementKind::outside_blocks, name);
  }
  [[nodiscard]] constexpr StatementKind in_blocks() const {
    return with(&StatementKind::only_in_blocks, true);
  }
  [[nodiscard]] constexpr StatementKind restricted(std::string_view name) const {
    return with(&StatementKind::restricted_as, name);
  }
  [[nodiscard]] constexpr StatementKind without_snapshot() const {
    return with(&StatementKind::takes_snapshot, false);
  }
  [[nodiscard]] constexpr StatementKind counting_rows() const {
    return with(&StatementKind::sends_tag, true);
  }
  [[nodiscard]] constexpr StatementKind refused(std::string_view name) const {
    return with(&StatementKind::refused_as, name);
  }
  [[nodiscard]] constexpr StatementKind about(std::string (*name)(const ast::Node&)) const {
    return with(&StatementKind::object, name);
  }
  [[nodiscard]] constexpr StatementKind hinting(std::string_view text) const {
    return with(&StatementKind::hint, text);
  }

 private:
  template <class Fact>
  [[nodiscard]] constexpr StatementKind with(Fact StatementKind::* fact, Fact value) const {
    StatementKind changed = *this;
    changed.*fact = value;
    return changed;
  }
};

/// Returns null for a node that is no statement by itself.
const StatementKind* find_statement_kind(ast::NodeKind node) noexcept;
/// Pre: a node that the parser returns as a whole statement; otherwise throws SqlError XX000.
const StatementKind& kind_of_statement(const ast::Node& statement);

/// Returns the statement's tag without numbers: "SELECT", "CREATE TABLE AS".
std::string_view command_tag(const ast::Node& statement);

}  // namespace swizzle::sql
