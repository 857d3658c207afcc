// CREATE and ALTER TEXT SEARCH CONFIGURATION.
#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/definitions/routines/definition_options.h"
#include "sql-lite-frontend/definitions/tables/notice_missing.h"
#include "sql-lite-frontend/definitions/text/text_search.h"
#include "sql-lite-frontend/types/fulltext/text_config.h"

namespace swizzle::sql {
namespace {

using Mapping = UserTextConfig::Mapping;

void require_parser(StatementContext& session, ast::NodeList names) {
  const std::string_view schema =
      names.size() > 1 ? ast::string_of(names[names.size() - 2]) : std::string_view{};
  const std::string_view name = ast::string_of(names.back());
  if (!schema.empty() && !session.names.schema_exists(schema))
    throw_error(sqlstate::invalid_schema_name, "schema \"{}\" does not exist", schema);
  if ((schema.empty() || schema == "pg_catalog") && name == "default") return;
  throw_error(sqlstate::undefined_object, "text search parser \"{}{}{}\" does not exist", schema,
              schema.empty() ? "" : ".", name);
}

std::vector<Mapping> mappings_of(StatementContext& session, Oid config) {
  if (const UserTextConfigPtr made = session.catalog.made<UserTextConfig>(config))
    return made->mappings;
  std::vector<Mapping> mappings;
  const TextConfigInfo* const builtin = find_text_config(config);
  for (const TokenKindInfo& kind : token_kinds()) {
    const Oid dictionary = dictionary_of(*builtin, kind.kind);
    if (dictionary != kNoOid)
      mappings.push_back({static_cast<std::int32_t>(kind.kind), dictionary});
  }
  return mappings;
}

/// Executes one ALTER … MAPPING.
class MappingChange {
 public:
  MappingChange(StatementContext& session, const ast::AlterTSConfigurationStmt& statement,
                const UserTextConfig& made, ResultSink& sink)
      : session_(session), statement_(statement), sink_(sink), changed_(made) {
    for (const ast::Node* node : statement.tokentype) kinds_.push_back(kind_named(node));
  }

  UserTextConfig run() {
    using Form = ast::AlterTSConfigType;
    if (statement_.kind == Form::drop_mapping) {
      drop();
      return std::move(changed_);
    }
    for (const ast::Node* node : statement_.dicts)
      dictionaries_.push_back(require_text_dictionary(session_, ast::as<ast::List>(node).items));
    const bool replaces =
        statement_.kind == Form::replace_dict || statement_.kind == Form::replace_dict_for_token;
    if (replaces) {
      replace();
    } else {
      add();
    }
    return std::move(changed_);
  }

 private:
  static const TokenKindInfo* kind_named(const ast::Node* node) {
    const auto kinds = token_kinds();
    const std::string_view name = ast::string_of(node);
    const auto found = std::ranges::find(kinds, name, &TokenKindInfo::alias);
    if (found == kinds.end()) {
      throw_error(sqlstate::invalid_parameter_value, "token type \"{}\" does not exist", name);
    }
    return &*found;
  }

  static std::int32_t number_of(const TokenKindInfo& kind) {
    return static_cast<std::int32_t>(kind.kind);
  }

  /// Removes the kind's mappings. False: there were none.
  bool forget(const TokenKindInfo& kind) {
    return std::erase_if(changed_.mappings, [&](const Mapping& mapping) {
             return mapping.kind == number_of(kind);
           }) != 0;
  }

  void drop() {
    for (const TokenKindInfo* kind : kinds_) {
      if (forget(*kind)) continue;
      if (!statement_.missing_ok) {
        throw_error(sqlstate::undefined_object, "mapping for token type \"{}\" does not exist",
                    kind->alias);
      }
      notice_missing(session_, sink_, fmt::format("mapping for token type \"{}\"", kind->alias));
    }
  }

  void replace() {
    for (Mapping& mapping : changed_.mappings) {
      const bool is_meant =
          kinds_.empty() || std::ranges::any_of(kinds_, [&](const TokenKindInfo* kind) {
            return number_of(*kind) == mapping.kind;
          });
      if (is_meant && mapping.dictionary == dictionaries_[0]) mapping.dictionary = dictionaries_[1];
    }
  }

  void add() {
    if (statement_.override_) {
      for (const TokenKindInfo* kind : kinds_) forget(*kind);
    }
    for (const TokenKindInfo* kind : kinds_) {
      const std::int32_t number = number_of(*kind);
      const auto behind = std::ranges::upper_bound(changed_.mappings, number, {}, &Mapping::kind);
      if (behind != changed_.mappings.begin() && (behind - 1)->kind == number)
        refuse_second(number);
      auto at = behind - changed_.mappings.begin();
      for (const Oid dictionary : dictionaries_)
        changed_.mappings.insert(changed_.mappings.begin() + at++, {number, dictionary});
    }
  }

  /// As PostgreSQL's catalog has a unique index over them.
  [[noreturn]] void refuse_second(std::int32_t kind) const {
    SqlError error =
        sql_error(sqlstate::unique_violation,
                  "duplicate key value violates unique constraint \"pg_ts_config_map_index\"")
            .with_detail(
                fmt::format("Key (mapcfg, maptokentype, mapseqno)=({}, {}, 1) already exists.",
                            changed_.oid, kind));
    error.fields().schema = "pg_catalog";
    error.fields().table = "pg_ts_config_map";
    error.fields().constraint = "pg_ts_config_map_index";
    throw error;
  }

  StatementContext& session_;
  const ast::AlterTSConfigurationStmt& statement_;
  ResultSink& sink_;
  UserTextConfig changed_;
  std::vector<const TokenKindInfo*> kinds_;
  std::vector<Oid> dictionaries_;
};

}  // namespace

void create_text_config(StatementContext& session, const ast::DefineStmt& statement) {
  UserTextConfig made;
  made.schema = place_of_text_search(session, statement.defnames);
  made.name = ast::string_of(statement.defnames.back());
  made.owner = session.user;
  bool has_parser = false;
  Oid source = kNoOid;
  for (const ast::Node* node : statement.definition) {
    const auto& option = ast::as<ast::DefElem>(node);
    if (option.defname == "parser") {
      require_parser(session, option_names(option));
      has_parser = true;
    } else if (option.defname == "copy") {
      source = require_text_config(session, option_names(option));
    } else {
      throw_error(sqlstate::syntax_error,
                  "text search configuration parameter \"{}\" not recognized", option.defname);
    }
  }
  if (has_parser && source != kNoOid)
    throw SqlError{sqlstate::syntax_error, "cannot specify both PARSER and COPY options"};
  if (!has_parser && source == kNoOid)
    throw SqlError{SqlState{"42P17"}, "text search parser is required"};
  if (source != kNoOid) made.mappings = mappings_of(session, source);
  refuse_taken_text_search(session, made);
  made.oid = session.catalog.allocate_oid();
  session.catalog.create(*session.transaction, std::move(made));
}

void alter_text_config(StatementContext& session, const ast::AlterTSConfigurationStmt& statement,
                       ResultSink& sink) {
  const UserTextConfigPtr made = lock_own_text_config(session, statement.cfgname);
  session.catalog.replace(*session.transaction, *made,
                          MappingChange{session, statement, *made, sink}.run());
}

}  // namespace swizzle::sql
