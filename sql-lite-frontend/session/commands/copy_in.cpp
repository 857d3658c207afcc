#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/plan/planner.h"
#include "sql-lite-frontend/session/commands/copy_decoder.h"
#include "sql-lite-frontend/session/commands/copy_directions.h"
#include "sql-lite-frontend/session/commands/copy_ends.h"
#include "sql-lite-frontend/session/results/execute_sink.h"
#include "sql-lite-frontend/statement/command_progress.h"
#include "sql-lite-frontend/statement/names/partitions.h"
#include "sql-lite-frontend/statement/row_view.h"
#include "sql-lite-frontend/types/null_values.h"
#include "sql-lite-frontend/types/text/utf8.h"

namespace swizzle::sql {
namespace {

class CopyIn {
 public:
  CopyIn(Session::State& session, const TablePtr& table, std::vector<std::size_t> columns,
         CopyOptions options, const ast::CopyStmt& copy)
      : session_(session),
        table_(table),
        columns_(std::move(columns)),
        options_(std::move(options)),
        encoding_(encoding_of_data(session, options_, CopyDirection::from)),
        scratch_(session.new_scratch()),
        progress_(session, CommandProgress::Command::copy, table->relation.oid),
        has_filter_(copy.where_clause != nullptr) {
    progress_.set(CommandProgress::copy_command, CommandProgress::kCopyFrom);
    tell_kind(copy, progress_);
    Binder binder{session.names, scratch_->arena};
    auto write = binder.bind_row_source(table, columns_, slots_);
    if (has_filter_) binder.bind_row_filter(*write, copy.where_clause);
    if (options_.default_marker) defaults_ = binder.bind_column_defaults(table, columns_);
    Planner planner{binder};
    scratch_->root = planner.plan_write(std::move(write));
    scratch_->write = planner.last_write();
    planner.plan_pending();
    // Checks, defaults and index expressions call functions with the rights of the user of COPY.
    for (const RoutinePtr& called : binder.routines_called()) {
      session.rights.require_execute(*called);
    }
    scratch_->execution.slots.resize(binder.slot_count());
    scratch_->execution.transaction = session.transaction.get();
    scratch_->execution.run = session.new_run();
  }

  std::uint64_t run(const ast::CopyStmt& copy, ResultSink& sink) {
    const TablesInUse::Tables tables = with_partitions(session_, table_);
    const TablesInUse::Entry in_use{session_.tables_in_use, tables};
    session_.transaction.note_temporaries(tables);
    const bool binary = options_.kind == CopyOptions::Kind::binary;
    notices_ = &sink;
    const auto source = open_copy_source(session_, copy, sink, progress_);
    source_ = source.get();
    source->begin({binary ? Format::binary : Format::text, columns_.size()});
    scratch_->write->begin(scratch_->execution, WriteOperator::Rows::many);
    {
      const LocatedNotices notices{*this, sink};
      if (binary) {
        read_binary();
      } else {
        read_text();
      }
    }
    tell_rows();
    tell_skipped(sink);
    scratch_->write->end(scratch_->execution);
    check_written(scratch_->execution);
    source->finish();
    return scratch_->write->written();
  }

 private:
  std::optional<Bytes> receive() {
    tell_rows();
    const auto data = source_->next();
    if (data) {
      bytes_ += data->size();
      progress_.set(CommandProgress::copy_bytes, bytes_);
    }
    return data;
  }

  void tell_rows() noexcept {
    const std::uint64_t written = scratch_->write->written();
    progress_.set(CommandProgress::copy_rows_done, has_filter_ ? written : rows_);
    if (has_filter_) progress_.set(CommandProgress::copy_rows_excluded, rows_ - written);
  }

  void read_text() {
    CopyReader reader{options_, &session_.memory};
    reader_ = &reader;
    std::unique_ptr<CopyDecoder> decoder;
    if (encoding_ != nullptr) decoder = std::make_unique<CopyDecoder>(*encoding_);
    bool header_left = options_.header;
    bool more = true;
    while (more) {
      const auto data = receive();
      more = data.has_value();
      CopyDecoder::Failure failure;
      if (data && decoder != nullptr) {
        failure = decoder->add(as_text(*data), reader);
      } else if (data) {
        reader.add(as_text(*data));
      } else if (decoder != nullptr) {
        failure = decoder->finish(reader);
      } else {
        reader.finish();
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
        // Rows before it were read first: its own line is the next one.
        if (failure) throw SqlError{std::move(*failure)};
      } catch (SqlError& error) {
        // A record that never ends is no line of the reader's yet.
        locate(error, std::max(reader.line(), before + 1), reader.record());
        throw;
      }
      if (reader.has_ended() && !source_->must_be_read_out()) break;
    }
    lines_ = reader.line();
    reader_ = nullptr;
  }

  void locate(SqlError& error, std::uint64_t line,
              std::optional<std::string_view> record = std::nullopt) const {
    if (is_of_an_index(error)) record.reset();
    add_place(error.fields().where, line, record);
  }

  /// Adds the place to an error, if `line` is the one that was read last; `record` is its content.
  void add_place(std::string& where, std::uint64_t line,
                 std::optional<std::string_view> record) const {
    const bool binary = options_.kind == CopyOptions::Kind::binary;
    if (!where.empty()) where += "\n";
    where += fmt::format("COPY {}, line {}", table_->relation.name, line);
    if (converted_ != nullptr && (binary || shows(value_))) {
      where += ", column " + converted_->name;
      if (!binary) where += value_ ? ": " + shown(*value_) : ": null input";
    } else if (record && shows(record)) {
      where += ": " + shown(*record);
    }
  }

  /// Adds the input row to the notices of triggers while rows are read.
  class LocatedNotices final : public ForwardingSink {
   public:
    LocatedNotices(const CopyIn& copy, ResultSink& sink)
        : ForwardingSink(sink),
          copy_(copy),
          before_(std::exchange(copy.session_.sink_for_notices, this)) {}
    LocatedNotices(const LocatedNotices&) = delete;
    LocatedNotices& operator=(const LocatedNotices&) = delete;
    ~LocatedNotices() override { copy_.session_.sink_for_notices = before_; }

    void notice(const Diagnostic& diagnostic) override {
      Diagnostic located = diagnostic;
      const CopyReader* reader = copy_.reader_;
      copy_.add_place(located.where, reader != nullptr ? reader->line() : copy_.lines_,
                      reader != nullptr ? reader->record() : std::nullopt);
      to_.notice(located);
    }

   private:
    const CopyIn& copy_;
    ResultSink* before_;
  };

  /// True for an error of an index. PostgreSQL writes many rows at once, unless a BEFORE ROW
  /// trigger fires, and then enters them into indexes, when it no longer has their text for the
  /// context.
  [[nodiscard]] bool is_of_an_index(const SqlError& error) const {
    constexpr SqlState kExclusionViolation{"23P01"};
    if (error.state() != sqlstate::unique_violation && error.state() != kExclusionViolation) {
      return false;
    }
    return std::ranges::none_of(table_->relation.triggers, [](const Trigger& trigger) {
      return trigger.for_each_row && trigger.time == TriggerTime::before &&
             trigger.fires_on(TriggerEvent::insert);
    });
  }

  /// Returns true if the input is valid text; otherwise the error does not quote it.
  static bool shows(std::optional<std::string_view> sent) {
    try {
      if (sent) verify_utf8(*sent);
      return true;
    } catch (const SqlError&) {
      return false;
    }
  }
  static std::string shown(std::string_view sent) {
    constexpr std::size_t kShown = 100;
    const std::string_view clipped = clip_bytes(sent, kShown);
    return fmt::format("\"{}{}\"", clipped, clipped.size() < sent.size() ? "..." : "");
  }

  void check_header(std::span<const CopyReader::Field> fields) const {
    if (fields.size() != columns_.size()) {
      throw_error(sqlstate::bad_copy_file_format,
                  "wrong number of fields in header line: got {}, expected {}", fields.size(),
                  columns_.size());
    }
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const std::string& name = table_->relation.columns[columns_[i]].name;
      if (fields[i].is_default) require_default(i);
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
      if (fields[i].is_default) {
        execution.slots[slots_[i]] = default_of(execution, i);
        continue;
      }
      bool is_null = fields[i].is_null;
      if (is_null && lists(options_.force_not_null, column.name)) is_null = false;
      if (fields[i].was_quoted && fields[i].text == options_.null &&
          lists(options_.force_null, column.name)) {
        is_null = true;
      }
      converted_ = &column;
      value_ = is_null ? std::nullopt : std::optional{fields[i].text};
      const auto convert = [&] {
        execution.slots[slots_[i]] =
            is_null ? null_of(execution.functions, column.type)
                    : input_text(execution.functions, column.type, column.typmod, fields[i].text);
      };
      if (!options_.skips_errors) {
        convert();
      } else if (!is_readable(convert)) {
        return skip_row(column);
      }
    }
    converted_ = nullptr;
    if (fields.size() < columns_.size()) {
      throw_error(sqlstate::bad_copy_file_format, "missing data for column \"{}\"",
                  table_->relation.columns[columns_[fields.size()]].name);
    }
    ++rows_;
    scratch_->write->insert_row(execution);
  }

  Value default_of(Execution& execution, std::size_t place) {
    converted_ = nullptr;
    require_default(place);
    return defaults_[place]->eval(execution).copy_to(execution.row_arena);
  }

  void require_default(std::size_t place) const {
    if (defaults_[place]) return;
    throw SqlError{sqlstate::bad_copy_file_format, "unexpected default marker in COPY data"}
        .with_detail(fmt::format("Column \"{}\" has no default value.",
                                 table_->relation.columns[columns_[place]].name));
  }

  /// False if the value's type or domain refuses it. Other errors, of memory or a cancelled
  /// statement, are thrown.
  static bool is_readable(const auto& convert) {
    try {
      convert();
      return true;
    } catch (const SqlError& error) {
      constexpr SqlState kBadEncoding{"22021"};
      const SqlState state = error.state();
      const std::string_view code = state.code();
      const bool is_of_value =
          code.starts_with("22") || code.starts_with("23") || code.starts_with("42");
      if (!is_of_value || state == kBadEncoding) throw;
      return false;
    }
  }

  void skip_row(const Column& column) {
    ++skipped_;
    if (options_.verbosity == CopyOptions::Verbosity::verbose) {
      Diagnostic notice;
      notice.severity = Severity::notice;
      notice.state = SqlState{"00000"};
      notice.message = fmt::format(
          "skipping row due to data type incompatibility at line {} for column \"{}\": {}",
          reader_->line(), column.name, value_ && shows(value_) ? shown(*value_) : "null input");
      notice.where = "COPY " + table_->relation.name;
      notices_->notice(notice);
    }
    if (options_.reject_limit > 0 && skipped_ > options_.reject_limit) {
      throw_error(sqlstate::invalid_text_representation,
                  "skipped more than REJECT_LIMIT ({}) rows due to data type incompatibility",
                  options_.reject_limit);
    }
    converted_ = nullptr;
  }

  void tell_skipped(ResultSink& sink) {
    if (skipped_ == 0 || options_.verbosity == CopyOptions::Verbosity::silent) return;
    session_.notice(sink, Severity::notice, SqlState{"00000"},
                    fmt::format("{} {} skipped due to data type incompatibility", skipped_,
                                skipped_ == 1 ? "row was" : "rows were"));
  }

  /// The binary stream in portions: no more of it is kept than one field needs.
  class BinaryStream {
   public:
    explicit BinaryStream(CopyIn& copy)
        : copy_(copy), data_(CountedAllocator<char>{&copy.session_.memory}) {}
    /// Returns false at the end of the data.
    bool has(std::size_t size) {
      while (data_.size() - at_ < size) {
        const auto piece = copy_.receive();
        if (!piece) return false;
        data_.erase(0, std::exchange(at_, 0));
        require_copy_room(data_.size(), piece->size());
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
    CountedString data_;
    std::size_t at_ = 0;
  };

  void read_binary() {
    BinaryStream stream{*this};
    if (!stream.has(kCopySignature.size()) ||
        as_text(stream.take(kCopySignature.size())) != kCopySignature) {
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
      ++lines_;
      try {
        if (!read_binary_row(stream)) return;
      } catch (SqlError& error) {
        locate(error, lines_);
        throw;
      }
    }
  }

  /// Returns false for the trailer.
  bool read_binary_row(BinaryStream& stream) {
    const auto count =
        static_cast<std::int16_t>(load_big_endian<std::uint16_t>(stream.take(2).data()));
    if (count == -1) {
      if (!stream.has(1)) return false;
      throw SqlError{sqlstate::bad_copy_file_format, "received copy data after EOF marker"};
    }
    if (count < 0 || static_cast<std::size_t>(count) != columns_.size()) {
      throw_error(sqlstate::bad_copy_file_format, "row field count is {}, expected {}", count,
                  columns_.size());
    }
    insert_binary(stream);
    return true;
  }

  void insert_binary(BinaryStream& stream) {
    Execution& execution = scratch_->execution;
    const RowScope scope{execution};
    execution.tick();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const Column& column = table_->relation.columns[columns_[i]];
      const auto size = static_cast<std::int32_t>(stream.take_number());
      converted_ = &column;
      if (size < -1) throw SqlError{sqlstate::bad_copy_file_format, "invalid field size"};
      execution.slots[slots_[i]] =
          size < 0 ? null_of(execution.functions, column.type)
                   : receive_binary(execution.functions, column.type, column.typmod,
                                    stream.take(static_cast<std::size_t>(size)))
                         .copy_to(execution.row_arena);
    }
    converted_ = nullptr;
    ++rows_;
    scratch_->write->insert_row(execution);
  }

  Session::State& session_;
  TablePtr table_;
  std::vector<std::size_t> columns_;
  CopyOptions options_;
  const EncodingTable* encoding_;  ///< of text and CSV; null is UTF-8
  std::unique_ptr<Scratch> scratch_;
  std::vector<Slot> slots_;
  std::vector<ExprPtr> defaults_;       ///< of the columns, with DEFAULT; null: none
  std::uint64_t lines_ = 0;             ///< that were read
  const CopyReader* reader_ = nullptr;  ///< while it reads
  const Column* converted_ = nullptr;   ///< whose value is being converted
  std::optional<std::string_view> value_;
  CommandProgress progress_;
  bool has_filter_;
  std::uint64_t rows_ = 0;
  std::uint64_t bytes_ = 0;
  std::int64_t skipped_ = 0;
  CopySource* source_ = nullptr;   ///< while it is read
  ResultSink* notices_ = nullptr;  ///< for notices that do not say more than the table
};

}  // namespace

std::uint64_t copy_in(Session::State& session, const TablePtr& table,
                      std::vector<std::size_t> columns, CopyOptions options,
                      const ast::CopyStmt& copy, ResultSink& sink) {
  CopyIn in{session, table, std::move(columns), std::move(options), copy};
  return in.run(copy, sink);
}

}  // namespace swizzle::sql
