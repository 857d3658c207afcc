#include "sql-lite-frontend/statement/statement_kinds.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "sql-lite-frontend/query/parse/parser.h"
#include "sql-lite-frontend/statement/log_class.h"
#include "sql-lite-frontend/statement/statement.h"
#include "sql-lite-frontend/statement/testing/statement_samples.h"

namespace swizzle::sql {
namespace {

/// Nodes named …Stmt that occur only inside others.
constexpr std::string_view kParts[] = {"RawStmt", "ReplicaIdentityStmt"};
/// Statements that occur only in bodies of routines.
constexpr ast::NodeKind kOfBodies[] = {ast::NodeKind::return_stmt, ast::NodeKind::plassign_stmt};

const ast::Node* only_statement(Arena& arena, std::string_view text) {
  const auto script = parse_script(arena, std::string{text});
  REQUIRE(script.size() == 1);
  return script[0]->stmt;
}

}  // namespace

TEST_CASE("every statement of the grammar has a line in the table, and an example",
          "[sql][statements]") {
  std::set<ast::NodeKind> with_example{std::begin(kOfBodies), std::end(kOfBodies)};
  for (const StatementSample& sample : kStatementSamples) {
    INFO(sample.text);
    Arena arena;
    with_example.insert(only_statement(arena, sample.text)->node_kind);
  }
  std::size_t statements = 0;
  for (std::uint16_t number = 1; number <= ast::kLastNodeKind; ++number) {
    const auto kind = static_cast<ast::NodeKind>(number);
    const std::string_view name = ast::node_name(kind);
    if (!ast::is_parsed(kind) || !name.ends_with("Stmt")) continue;
    INFO(name);
    const bool is_part = std::ranges::find(kParts, name) != std::end(kParts);
    CHECK((find_statement_kind(kind) != nullptr) != is_part);
    CHECK(with_example.contains(kind) != is_part);
    ++statements;
  }
  CHECK(statements > 110);
}

TEST_CASE("statements have PostgreSQL's tags and are refused where PostgreSQL refuses them",
          "[sql][statements]") {
  for (const StatementSample& sample : kStatementSamples) {
    INFO(sample.text);
    Arena arena;
    const ast::Node* const node = only_statement(arena, sample.text);
    const StatementKind& kind = kind_of_statement(*node);
    CHECK(kind.tag.of(*node) == sample.tag);
    CHECK(command_tag(*node) == statement_name(node));
    CHECK(kind.writes == sample.writes);
    using Runs = StatementKind::Runs;
    CHECK((kind.runs == Runs::planned) == is_plannable(node));
    // These check their options first; COMMIT PREPARED is up to the transaction.
    const bool asks_itself = kind.runs == Runs::transaction ||
                             node->node_kind == ast::NodeKind::vacuum_stmt ||
                             node->node_kind == ast::NodeKind::reindex_stmt ||
                             node->node_kind == ast::NodeKind::create_subscription_stmt;
    CHECK(kind.outside_blocks.of(*node) == (asks_itself ? "" : sample.outside_blocks));
  }
}

TEST_CASE("a statement's log class is the same by its text and by its tree",
          "[sql][statements][log_class]") {
  const PreparedTree none = [](std::string_view) -> const ast::Node* { return nullptr; };
  for (const StatementSample& sample : kStatementSamples) {
    INFO(sample.text);
    Arena arena;
    const ast::Node* const node = only_statement(arena, sample.text);
    CHECK(log_class_of(sample.text, none) == log_class_of(node, none));
    // PostgreSQL's READ ONLY transactions refuse changes of definitions and rows.
    if (sample.writes) CHECK(log_class_of(node, none) != LogClass::other);
  }
}

}  // namespace swizzle::sql
