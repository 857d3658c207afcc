#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "sql-lite-frontend/catalog/default_grants.h"
#include "sql-lite-frontend/definitions/rights/role_rights.h"
#include "sql-lite-frontend/definitions/script_frame.h"
#include "sql-lite-frontend/definitions/statements.h"
#include "sql-lite-frontend/definitions/tables/table_builder.h"
#include "sql-lite-frontend/silent_sink.h"
#include "sql-lite-frontend/types/functions/text/quoting.h"

/// CREATE SCHEMA, and the objects that it creates in the schema.
namespace swizzle::sql {
namespace {

/// Passes the notices of a schema's elements on, and nothing else.
class NoticesOnly final : public SilentSink {
 public:
  explicit NoticesOnly(ResultSink& to) : to_{to} {}
  void notice(const Diagnostic& diagnostic) override { to_.notice(diagnostic); }

 private:
  ResultSink& to_;
};

/// PostgreSQL's order: relations before their views, indexes, triggers and grants.
constexpr std::array kOrder{ast::NodeKind::create_seq_stmt,  ast::NodeKind::create_stmt,
                            ast::NodeKind::view_stmt,        ast::NodeKind::index_stmt,
                            ast::NodeKind::create_trig_stmt, ast::NodeKind::grant_stmt};

class SchemaElements {
 public:
  SchemaElements(StatementContext& session, const std::string& schema, const Statement& whole,
                 ResultSink& sink)
      : session_{session}, schema_{schema}, sink_{sink} {
    statement_.script = whole.script;
    statement_.location = whole.location;
    statement_.length = whole.length;
  }

  void create(ast::NodeList elements) {
    std::vector<const ast::Node*> ordered;
    for (const ast::Node* element : elements) ordered.push_back(element);
    std::ranges::stable_sort(ordered, {}, [](const ast::Node* element) {
      return std::ranges::find(kOrder, element->node_kind) - kOrder.begin();
    });
    for (const ast::Node* element : ordered) create(*element);
  }

 private:
  void create(const ast::Node& element) {
    switch (element.node_kind) {
      case ast::NodeKind::create_seq_stmt:
        return create_here(ast::as<ast::CreateSeqStmt>(&element), &ast::CreateSeqStmt::sequence);
      case ast::NodeKind::create_stmt:
        return create_here(ast::as<ast::CreateStmt>(&element), &ast::CreateStmt::relation);
      case ast::NodeKind::view_stmt:
        return create_here(ast::as<ast::ViewStmt>(&element), &ast::ViewStmt::view);
      case ast::NodeKind::index_stmt:
        return create_here(ast::as<ast::IndexStmt>(&element), &ast::IndexStmt::relation);
      case ast::NodeKind::create_trig_stmt:
        return create_here(ast::as<ast::CreateTrigStmt>(&element), &ast::CreateTrigStmt::relation);
      default:
        run(element);
    }
  }

  /// Runs the element as if it named the new schema.
  template <class Element>
  void create_here(const Element& element, ast::Link<ast::RangeVar> Element::* relation) {
    ast::RangeVar named = *(element.*relation);
    if (named.schemaname.empty()) named.schemaname = schema_;
    if (named.schemaname != schema_) {
      throw_error(SqlState{"42P15"},
                  "CREATE specifies a schema ({}) different from the one being created ({})",
                  named.schemaname, schema_);
    }
    Element here = element;
    here.*relation = ast::Link<ast::RangeVar>{&named};
    run(here);
  }

  void run(const ast::Node& element) {
    statement_.node = &element;
    session_.inner.run_utility(&element, statement_, {}, sink_);
  }

  StatementContext& session_;
  const std::string& schema_;
  NoticesOnly sink_;
  Statement statement_;
};

}  // namespace

void create_schema(StatementContext& session, const ast::CreateSchemaStmt& statement,
                   const Statement& whole, ResultSink& sink) {
  std::string name{statement.schemaname};
  if (name.empty() && statement.authrole != nullptr)
    name = role_of(session, *statement.authrole)->name;
  const Oid schema_owner =
      statement.authrole != nullptr ? role_of(session, *statement.authrole)->oid : session.user;
  session.rights.require_create_on_database();
  if (const RolePtr role = session.catalog.role(schema_owner))
    session.rights.require_set_role(*role);
  require_schema_name(name);
  if (session.catalog.schema(name)) {
    if (!statement.if_not_exists) {
      throw_error(sqlstate::duplicate_schema, "schema \"{}\" already exists", name);
    }
    return session.notice(sink, Severity::notice, sqlstate::duplicate_schema,
                          fmt::format("schema \"{}\" already exists, skipping", name));
  }
  Schema schema;
  schema.oid = session.catalog.allocate_oid();
  schema.name = name;
  schema.owner = schema_owner;
  schema.grants = grants_of_new(session.catalog.of_database(), *session.transaction, schema.owner,
                                kNoOid, GrantedOn::schema);
  session.catalog.create(*session.transaction, std::move(schema));
  if (statement.schema_elts.empty()) return;
  const std::string path = session.settings.text("search_path");
  const ScriptFrame frame{session, schema_owner,
                          quote_identifier(name) + (path.empty() ? "" : ", " + path)};
  SchemaElements{session, name, whole, sink}.create(statement.schema_elts);
}

}  // namespace swizzle::sql
