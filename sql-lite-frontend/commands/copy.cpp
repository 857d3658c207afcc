#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/commands/copy_format.h"
#include "sql-lite-frontend/commands/statements.h"
#include "sql-lite-frontend/plan/planner.h"
#include "sql-lite-frontend/session/results/row_view.h"
#include "sql-lite-frontend/session/state/command_progress.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/types/null_values.h"
#include "sql-lite-frontend/types/text/identifiers.h"

namespace swizzle::sql {
namespace {

constexpr std::string_view kBinarySignature{"PGCOPY\n\377\r\n\0", 11};
// As pg_stat_progress_copy reads them.
constexpr std::uint64_t kCopyFrom = 1;
constexpr std::uint64_t kCopyTo = 2;
constexpr std::uint64_t kCopyPipe = 3;

bool contains(const std::vector<std::string>& list, std::string_view name) {
  return std::ranges::find(list, name) != list.end();
}

std::vector<std::size_t> copy_columns(const Table& table, ast::NodeList names) {
  std::vector<std::size_t> columns;
  if (names.empty()) {
    for (std::size_t i = 0; i < table.relation.columns.size(); ++i) {
      const Column& column = table.relation.columns[i];
      if (!column.dropped && !column.generated) columns.push_back(i);
    }
  }
  for (const ast::Node* name : names) {
    const auto position = table.column_position(ast::string_of(name));
    if (!position) {
      throw_error(sqlstate::undefined_column, "column \"{}\" of relation \"{}\" does not exist",
                  ast::string_of(name), table.relation.name);
    }
    if (table.relation.columns[*position].generated) {
      throw sql_error(SqlState{"42P10"}, "column \"{}\" is a generated column",
                      ast::string_of(name))
          .with_detail("Generated columns cannot be used in COPY.");
    }
    if (std::ranges::find(columns, *position) != columns.end()) {
      throw_error(SqlState{"42701"}, "column \"{}\" specified more than once",
                  ast::string_of(name));
    }
    columns.push_back(*position);
  }
  return columns;
}

/// The columns that an option names must be among those that are copied.
void require_copied(const Table& table, std::span<const std::size_t> columns,
                    const std::vector<std::string>& names, std::string_view option) {
  for (const std::string& name : names) {
    const auto position = table.column_position(name);
    if (!position) {
      throw_error(sqlstate::undefined_column, "column \"{}\" of relation \"{}\" does not exist",
                  name, table.relation.name);
    }
    if (std::ranges::find(columns, *position) == columns.end()) {
      throw_error(SqlState{"42P10"}, "{} column \"{}\" not referenced by COPY", option, name);
    }
  }
}

void append_big_endian(std::string& out, auto value) {
  std::byte bytes[sizeof value];
  store_big_endian(bytes, value);
  out += as_text(Bytes{bytes, sizeof bytes});
}

/// COPY … FROM STDIN: rows from the client into a table.
class CopyIn {
 public:
  CopyIn(Session::State& session, const TablePtr& table, std::vector<std::size_t> columns,
         CopyOptions options, const ast::Node* where)
      : session_(session),
        table_(table),
        columns_(std::move(columns)),
        options_(std::move(options)),
        scratch_(session.new_scratch()),
        progress_(session, CommandProgress::Command::copy, table->relation.oid),
        has_filter_(where != nullptr) {
    progress_.set(CommandProgress::copy_command, kCopyFrom);
    progress_.set(CommandProgress::copy_kind, kCopyPipe);
    Binder binder{session.names, scratch_->arena};
    auto write = binder.bind_row_source(table, columns_, slots_);
    if (where != nullptr) binder.bind_row_filter(*write, where);
    Planner planner{binder};
    scratch_->root = planner.plan_write(std::move(write));
    scratch_->write = planner.last_write();
    planner.plan_pending();
    scratch_->execution.slots.resize(binder.slot_count());
    scratch_->execution.transaction = session.transaction.get();
    scratch_->execution.run = session.plans.new_run();
  }

  std::uint64_t run(ResultSink& sink) {
    const bool binary = options_.kind == CopyOptions::Kind::binary;
    sink.copy_in_begin({binary ? Format::binary : Format::text, columns_.size()});
    scratch_->write->begin(scratch_->execution, WriteOperator::Rows::many);
    if (binary) {
      read_binary(sink);
    } else {
      read_text(sink);
    }
    write_held();
    tell_rows();
    scratch_->write->end(scratch_->execution);
    check_written(scratch_->execution);
    return scratch_->write->written();
  }

 private:
  std::optional<Bytes> receive(ResultSink& sink) {
    tell_rows();
    auto data = sink.copy_in_data();
    if (!data) {
      SqlError error{data.error().state, data.error().message};
      throw error;
    }
    if (*data) {
      bytes_ += (*data)->size();
      progress_.set(CommandProgress::copy_bytes, bytes_);
    }
    return *data;
  }

  void tell_rows() noexcept {
    const std::uint64_t written = scratch_->write->written();
    progress_.set(CommandProgress::copy_rows, has_filter_ ? written : rows_);
    if (has_filter_) progress_.set(CommandProgress::copy_rows_excluded, rows_ - written);
  }

  void read_text(ResultSink& sink) {
    CopyReader reader{options_};
    bool header_left = options_.header;
    bool more = true;
    while (more) {
      const auto data = receive(sink);
      if (data) {
        reader.add(as_text(*data));
      } else {
        reader.finish();
        more = false;
      }
      const std::uint64_t before = reader.line();
      try {
        while (const auto fields = reader.next()) {
          if (std::exchange(header_left, false)) {
            if (options_.header_must_match) check_header(*fields);
          } else {
            insert(*fields);
          }
        }
      } catch (SqlError& error) {
        // A record that never ends is no line of the reader's yet.
        locate(error, std::max(reader.line(), before + 1));
        throw;
      }
    }
    lines_ = reader.line();
  }

  void write_held() {
    try {
      scratch_->write->write_held(scratch_->execution);
    } catch (SqlError& error) {
      locate(error, lines_);
      throw;
    }
  }

  /// Says in which line the error arose, if `line` is the one that was read last.
  void locate(SqlError& error, std::uint64_t line) const {
    std::string& where = error.fields().where;
    if (!where.empty()) where += "\n";
    where += fmt::format("COPY {}, line {}", table_->relation.name,
                         line - scratch_->write->writer().rows_behind());
  }

  void check_header(std::span<const CopyReader::Field> fields) const {
    if (fields.size() != columns_.size()) {
      throw_error(sqlstate::bad_copy_file_format,
                  "wrong number of fields in header line: got {}, expected {}", fields.size(),
                  columns_.size());
    }
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const std::string& name = table_->relation.columns[columns_[i]].name;
      if (!fields[i].is_null && fields[i].text == name) continue;
      throw_error(sqlstate::bad_copy_file_format,
                  "column name mismatch in header line field {}: got {}, expected \"{}\"", i + 1,
                  fields[i].is_null ? "null value (\"" + options_.null + "\")"
                                    : "\"" + std::string{fields[i].text} + "\"",
                  name);
    }
  }

  void insert(std::span<const CopyReader::Field> fields) {
    Execution& execution = scratch_->execution;
    const RowScope scope{execution};
    execution.tick();
    if (fields.size() > columns_.size()) {
      throw SqlError{sqlstate::bad_copy_file_format, "extra data after last expected column"};
    }
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const Column& column = table_->relation.columns[columns_[i]];
      bool is_null = fields[i].is_null;
      if (is_null && contains(options_.force_not_null, column.name)) is_null = false;
      if (fields[i].was_quoted && fields[i].text == options_.null &&
          contains(options_.force_null, column.name)) {
        is_null = true;
      }
      execution.slots[slots_[i]] =
          is_null ? null_of(execution.functions, column.type)
                  : input_text(execution.functions, column.type, column.typmod, fields[i].text);
    }
    if (fields.size() < columns_.size()) {
      throw_error(sqlstate::bad_copy_file_format, "missing data for column \"{}\"",
                  table_->relation.columns[columns_[fields.size()]].name);
    }
    ++rows_;
    scratch_->write->insert_row(execution);
  }

  /// The binary stream in portions: no more of it is kept than one field needs.
  class BinaryStream {
   public:
    BinaryStream(CopyIn& copy, ResultSink& sink) : copy_(copy), sink_(sink) {}
    /// False at the end of what the client sent.
    bool has(std::size_t size) {
      while (data_.size() - at_ < size) {
        const auto piece = copy_.receive(sink_);
        if (!piece) return false;
        data_.erase(0, std::exchange(at_, 0));
        data_ += as_text(*piece);
      }
      return true;
    }
    /// The bytes stay until the next call.
    Bytes take(std::size_t size) {
      if (!has(size)) {
        throw SqlError{sqlstate::bad_copy_file_format, "unexpected EOF in COPY data"};
      }
      const Bytes taken = as_bytes(std::string_view{data_}.substr(at_, size));
      at_ += size;
      return taken;
    }
    std::uint32_t take_number() { return load_big_endian<std::uint32_t>(take(4).data()); }

   private:
    CopyIn& copy_;
    ResultSink& sink_;
    std::string data_;
    std::size_t at_ = 0;
  };

  void read_binary(ResultSink& sink) {
    BinaryStream stream{*this, sink};
    if (!stream.has(kBinarySignature.size()) ||
        as_text(stream.take(kBinarySignature.size())) != kBinarySignature) {
      throw SqlError{sqlstate::bad_copy_file_format, "COPY file signature not recognized"};
    }
    stream.take(4);
    const std::uint32_t extension = stream.take_number();
    if (extension > kMaxFieldBytes) {
      throw SqlError{sqlstate::bad_copy_file_format, "invalid COPY file header (wrong length)"};
    }
    stream.take(extension);
    // The trailer may be left out: then the stream ends with the last row.
    while (stream.has(1)) {
      const auto count =
          static_cast<std::int16_t>(load_big_endian<std::uint16_t>(stream.take(2).data()));
      if (count == -1) {
        if (stream.has(1)) {
          throw SqlError{sqlstate::bad_copy_file_format, "received copy data after EOF marker"};
        }
        return;
      }
      if (count < 0 || static_cast<std::size_t>(count) != columns_.size()) {
        throw_error(sqlstate::bad_copy_file_format, "row field count is {}, expected {}", count,
                    columns_.size());
      }
      ++lines_;
      try {
        insert_binary(stream);
      } catch (SqlError& error) {
        locate(error, lines_);
        throw;
      }
    }
  }

  void insert_binary(BinaryStream& stream) {
    Execution& execution = scratch_->execution;
    const RowScope scope{execution};
    execution.tick();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const Column& column = table_->relation.columns[columns_[i]];
      const auto size = static_cast<std::int32_t>(stream.take_number());
      if (size < -1) throw SqlError{sqlstate::bad_copy_file_format, "invalid field size"};
      execution.slots[slots_[i]] =
          size < 0 ? null_of(execution.functions, column.type)
                   : receive_binary(execution.functions, column.type, column.typmod,
                                    stream.take(static_cast<std::size_t>(size)))
                         .copy_to(execution.row_arena);
    }
    ++rows_;
    scratch_->write->insert_row(execution);
  }

  Session::State& session_;
  TablePtr table_;
  std::vector<std::size_t> columns_;
  CopyOptions options_;
  std::unique_ptr<Scratch> scratch_;
  std::vector<Slot> slots_;
  std::uint64_t lines_ = 0;  ///< that were read
  CommandProgress progress_;
  bool has_filter_;
  std::uint64_t rows_ = 0;
  std::uint64_t bytes_ = 0;
};

/// COPY … TO STDOUT: a plan's rows to the client.
std::uint64_t copy_out(Portal& portal, const CopyOptions& options, CommandProgress& progress,
                       ResultSink& sink) {
  PlanRun& run = *portal.run;
  const Plan& plan = *run.plan;
  Execution& execution = run.execution;
  const bool binary = options.kind == CopyOptions::Kind::binary;
  const bool csv = options.kind == CopyOptions::Kind::csv;
  const auto& columns = portal.statement->columns();
  sink.copy_out_begin({binary ? Format::binary : Format::text, columns.size()});
  std::string out;
  if (binary) {
    out += kBinarySignature;
    out.append(8, '\0');
  } else if (options.header) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (i > 0) out += options.delimiter;
      if (csv) {
        append_copy_csv(out, columns[i].name, options, false, columns.size() == 1);
      } else {
        append_copy_text(out, columns[i].name, options);
      }
    }
    out += '\n';
  }
  std::uint64_t rows = 0;
  std::uint64_t bytes = 0;
  RowScope scope{execution};
  std::string text;
  while (run.root->next(execution)) {
    ++rows;
    if (binary) append_big_endian(out, static_cast<std::uint16_t>(columns.size()));
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const Value& value = execution.slots[plan.outputs[i]];
      if (binary) {
        if (value.is_null()) {
          append_big_endian(out, UINT32_MAX);
          continue;
        }
        text.clear();
        send_binary(execution.functions, plan.types[i], value, text);
        append_big_endian(out, static_cast<std::uint32_t>(text.size()));
        out += text;
        continue;
      }
      if (i > 0) out += options.delimiter;
      if (value.is_null()) {
        out += options.null;
        continue;
      }
      text.clear();
      output_text(execution.functions, plan.types[i], value, text);
      if (csv) {
        const bool force =
            options.force_quote_all || contains(options.force_quote, columns[i].name);
        append_copy_csv(out, text, options, force, columns.size() == 1);
      } else {
        append_copy_text(out, text, options);
      }
    }
    if (!binary) out += '\n';
    // One row per message, as PostgreSQL sends them; clients count on it.
    sink.copy_out_data(as_bytes(out));
    bytes += out.size();
    progress.set(CommandProgress::copy_bytes, bytes);
    progress.set(CommandProgress::copy_rows, rows);
    out.clear();
    scope.rewind();
  }
  if (binary) append_big_endian(out, std::uint16_t{0xffff});
  if (!out.empty()) sink.copy_out_data(as_bytes(out));
  sink.copy_out_end();
  return rows;
}

void require_copyable(const ast::Node* query) {
  const auto refuse = [](std::string_view what) {
    throw SqlError{sqlstate::feature_not_supported, std::string{what}};
  };
  if (const auto* select = ast::try_as<ast::SelectStmt>(query)) {
    if (select->into_clause != nullptr) refuse("COPY (SELECT INTO) is not supported");
    return;
  }
  const auto require_returning = [&](ast::NodeList returning) {
    if (returning.empty()) refuse("COPY query must have a RETURNING clause");
  };
  if (const auto* insert = ast::try_as<ast::InsertStmt>(query)) {
    return require_returning(insert->returning_list);
  }
  if (const auto* update = ast::try_as<ast::UpdateStmt>(query)) {
    return require_returning(update->returning_list);
  }
  if (const auto* remove = ast::try_as<ast::DeleteStmt>(query)) {
    return require_returning(remove->returning_list);
  }
  refuse(ast::try_as<ast::MergeStmt>(query) != nullptr ? "MERGE not supported in COPY"
                                                       : "COPY of this query is not supported");
}

void require_copy_target(Session::State& session, const Relation& relation) {
  if (relation.persistence != Persistence::temporary)
    session.transaction.require_read_write("COPY FROM");
  if (relation.kind == RelationKind::table) return;
  if (relation.kind == RelationKind::view) {
    throw sql_error(sqlstate::wrong_object_type, "cannot copy to view \"{}\"", relation.name)
        .with_hint("To enable copying to a view, provide an INSTEAD OF INSERT trigger.");
  }
  const bool sequence = relation.kind == RelationKind::sequence;
  throw_error(sqlstate::wrong_object_type, "cannot copy to {}\"{}\"", sequence ? "sequence " : "",
              relation.name);
}

/// As it is once it is locked. One that went while we waited may have a successor of its name.
TablePtr lock_target(Session::State& session, Binder& binder, const ast::RangeVar& range) {
  for (;;) {
    const TablePtr found = binder.require_relation(range);
    require_copy_target(session, found->relation);
    const Oid oid = found->relation.oid;
    value_of(session.transaction->lock_relation(lock::RelationId{oid},
                                                lock::RelationMode::row_exclusive));
    if (TablePtr locked = session.catalog.table(oid)) return locked;
  }
}

}  // namespace

void copy_rows(Session::State& session, const ast::CopyStmt& copy, ResultSink& sink) {
  if (copy.is_program) {
    throw SqlError{sqlstate::feature_not_supported, "COPY to or from a program is not supported"};
  }
  if (!copy.filename.empty()) {
    throw SqlError{sqlstate::feature_not_supported,
                   "COPY to or from a file of the server is not supported"}
        .with_hint("Use STDIN or STDOUT; psql's \\copy does that.");
  }
  CopyOptions format =
      read_copy_options(copy.options, copy.is_from ? CopyDirection::from : CopyDirection::to);
  if (copy.is_from) {
    Arena arena;
    Binder binder{session.names, arena};
    const TablePtr table = lock_target(session, binder, *copy.relation);
    session.transaction.begin_statement();
    std::vector<std::size_t> columns = copy_columns(*table, copy.attlist);
    require_copied(*table, columns, format.force_not_null, "FORCE_NOT_NULL");
    require_copied(*table, columns, format.force_null, "FORCE_NULL");
    session.rights.require(RelationAccess{table, kNoOid, privilege::kInsert, {}, columns, {}});
    if (format.freeze && !session.catalog.has_new_rows(*table)) {
      throw SqlError{SqlState{"55000"},
                     "cannot perform COPY FREEZE because the table was not created or truncated in "
                     "the current subtransaction"};
    }
    CopyIn in{session, table, std::move(columns), std::move(format), copy.where_clause};
    const std::uint64_t rows = in.run(sink);
    sink.command_complete(fmt::format("COPY {}", rows));
    return;
  }
  // A table is copied as the query that reads it.
  auto statement = std::make_shared<Statement>();
  Oid relation = kNoOid;
  if (copy.query != nullptr) {
    require_copyable(copy.query);
    statement->node = copy.query;
    statement->takes_parameters = false;
  } else {
    Arena arena;
    Binder binder{session.names, arena};
    const TablePtr table = binder.require_relation(*copy.relation);
    if (table->relation.kind == RelationKind::view) {
      throw sql_error(sqlstate::wrong_object_type, "cannot copy from view \"{}\"",
                      table->relation.name)
          .with_hint("Try the COPY (SELECT ...) TO variant.");
    }
    relation = table->relation.oid;
    std::string text = "SELECT ";
    bool first = true;
    for (const std::size_t position : copy_columns(*table, copy.attlist)) {
      if (!first) text += ", ";
      first = false;
      text += quote_identifier(table->relation.columns[position].name);
    }
    text += " FROM " + session.names.qualified_name(*table);
    statement = session.plans.parse(text, {});
  }
  CommandProgress progress{session, CommandProgress::Command::copy, relation};
  progress.set(CommandProgress::copy_command, kCopyTo);
  progress.set(CommandProgress::copy_kind, kCopyPipe);
  const PortalPtr portal = session.portals.make(statement, {});
  session.portals.start(*portal);
  std::uint64_t rows = 0;
  try {
    rows = copy_out(*portal, format, progress, sink);
  } catch (...) {
    portal->run->end();
    throw;
  }
  session.portals.finish(*portal);
  sink.command_complete(fmt::format("COPY {}", rows));
}

}  // namespace swizzle::sql
