#include <algorithm>

#include "sql-lite-frontend/session/commands/copy_directions.h"
#include "sql-lite-frontend/session/commands/copy_ends.h"
#include "sql-lite-frontend/statement/command_progress.h"
#include "sql-lite-frontend/statement/row_view.h"
#include "sql-lite-frontend/types/long_values.h"

namespace swizzle::sql {
namespace {

void append_big_endian(std::string& out, auto value) {
  std::byte bytes[sizeof value];
  store_big_endian(bytes, value);
  out += as_text(Bytes{bytes, sizeof bytes});
}

/// Memory of a row that is being written.
class RowShare {
 public:
  explicit RowShare(MemoryAccount& memory) noexcept : memory_(memory) {}

  /// Throws 53200 where a long row takes more than there is.
  void count(std::size_t bytes) {
    if (bytes > kLongBytes) [[unlikely]]
      share_.set(&memory_, bytes);
  }

 private:
  MemoryAccount& memory_;
  MemoryShare share_;
};

void encode_line(MemoryAccount& memory, const EncodingTable& encoding, std::string& line) {
  RowShare encoded{memory};
  encoded.count(EncodingTable::kMostEncodedGrowth * line.size());
  value_of(for_bytes(line.size(), [&] { return encoding.encode_tail(line, 0); }));
}

/// `encoding` is that of texts; null is UTF-8.
std::uint64_t send_rows(Portal& portal, const CopyOptions& options, const EncodingTable* encoding,
                        CommandProgress& progress, CopyTarget& target) {
  PlanRun& run = *portal.run;
  const Plan& plan = *run.plan;
  Execution& execution = run.execution;
  const bool binary = options.kind == CopyOptions::Kind::binary;
  const bool csv = options.kind == CopyOptions::Kind::csv;
  const auto& columns = portal.statement->columns();
  target.begin({binary ? Format::binary : Format::text, columns.size()});
  std::string out;
  if (binary) {
    out += kCopySignature;
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
  const auto send = [&] {
    if (encoding != nullptr && !binary) encode_line(*execution.memory, *encoding, out);
    target.write(as_bytes(out));
  };
  std::uint64_t rows = 0;
  std::uint64_t bytes = 0;
  RowScope scope{execution};
  std::string text;
  RowShare memory{*execution.memory};
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
        memory.count(out.size() + 2 * text.size());
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
      memory.count(out.size() + 2 * text.size());
      if (csv) {
        const bool force = options.force_quote_all || lists(options.force_quote, columns[i].name);
        append_copy_csv(out, text, options, force, columns.size() == 1);
      } else {
        append_copy_text(out, text, options);
      }
    }
    if (!binary) out += '\n';
    // One row per message, as in PostgreSQL, because clients rely on it.
    send();
    bytes += out.size();
    progress.set(CommandProgress::copy_bytes, bytes);
    progress.set(CommandProgress::copy_rows_done, rows);
    out.clear();
    scope.rewind();
  }
  if (binary) append_big_endian(out, std::uint16_t{0xffff});
  if (!out.empty()) send();
  target.finish();
  return rows;
}

}  // namespace

const EncodingTable* encoding_of_data(Session::State& session, const CopyOptions& options,
                                      CopyDirection direction) {
  if (!options.encoding) return session.session_context.format.client_encoding;
  if (!EncodingTable::is_convertible(*options.encoding)) {
    const std::string_view other = encoding_name(*options.encoding);
    const bool is_input = direction == CopyDirection::from;
    throw_error(sqlstate::undefined_function,
                "default conversion function for encoding \"{}\" to \"{}\" does not exist",
                is_input ? other : "UTF8", is_input ? "UTF8" : other);
  }
  return value_of(EncodingTable::of(*options.encoding));
}

std::uint64_t copy_out(Session::State& session, const ast::CopyStmt& copy,
                       const StatementPtr& query, Oid relation, const CopyOptions& options,
                       ResultSink& sink) {
  CommandProgress progress{session, CommandProgress::Command::copy, relation};
  progress.set(CommandProgress::copy_command, CommandProgress::kCopyTo);
  tell_kind(copy, progress);
  const EncodingTable* const encoding = encoding_of_data(session, options, CopyDirection::to);
  const PortalPtr portal = session.portals.make(query, {});
  session.portals.start(*portal);
  std::uint64_t rows = 0;
  try {
    const auto target = open_copy_target(session, copy, sink);
    rows = send_rows(*portal, options, encoding, progress, *target);
  } catch (...) {
    portal->run->end();
    throw;
  }
  session.portals.finish(*portal);
  return rows;
}

}  // namespace swizzle::sql
