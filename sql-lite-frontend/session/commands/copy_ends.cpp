#include "sql-lite-frontend/session/commands/copy_ends.h"

#include <fmt/format.h>

#include <cerrno>
#include <string>

#include "sql-lite-frontend/catalog/predefined_roles.h"
#include "sql-lite-frontend/session/commands/copy_format.h"
#include "sql-lite-frontend/session/server_files/file_errors.h"
#include "sql-lite-frontend/session/server_files/server_program.h"

namespace swizzle::sql {
namespace {

/// Size of the pieces that are read and written.
constexpr std::size_t kPieceBytes = std::size_t{256} << 10U;

/// True for STDIN and STDOUT. An empty name is one of a file.
bool is_of_client(const ast::CopyStmt& copy) noexcept {
  return copy.filename.data() == nullptr;
}

class ClientSource final : public CopySource {
 public:
  explicit ClientSource(ResultSink& sink) : sink_(sink) {}
  void begin(const CopyDescription& description) override { sink_.copy_in_begin(description); }
  std::optional<Bytes> next() override {
    auto data = sink_.copy_in_data();
    if (data) return *data;
    throw SqlError{data.error().state, data.error().message};
  }
  [[nodiscard]] bool must_be_read_out() const noexcept override { return true; }
  void finish() override {}

 private:
  ResultSink& sink_;
};

class ClientTarget final : public CopyTarget {
 public:
  explicit ClientTarget(ResultSink& sink) : sink_(sink) {}
  void begin(const CopyDescription& description) override { sink_.copy_out_begin(description); }
  void write(Bytes data) override { sink_.copy_out_data(data); }
  void finish() override { sink_.copy_out_end(); }

 private:
  ResultSink& sink_;
};

/// Reads a stream of the server in pieces.
class PieceReader {
 public:
  explicit PieceReader(Session::State& session)
      : piece_(kPieceBytes, '\0', CountedAllocator<char>{&session.memory}) {}

  std::optional<Bytes> next(ServerStream& stream) {
    const auto size = stream.read(std::as_writable_bytes(std::span{piece_}));
    if (!size) throw file_error(size.error(), "could not read from COPY file");
    if (*size > 0) return as_bytes(std::string_view{piece_}.substr(0, *size));
    has_ended_ = true;
    return std::nullopt;
  }
  [[nodiscard]] bool has_ended() const noexcept { return has_ended_; }

 private:
  CountedString piece_;
  bool has_ended_ = false;
};

class FileSource final : public CopySource {
 public:
  FileSource(Session::State& session, ServerStream stream)
      : stream_(std::move(stream)), reader_(session) {}
  void begin(const CopyDescription&) override {}
  std::optional<Bytes> next() override { return reader_.next(stream_); }
  [[nodiscard]] bool must_be_read_out() const noexcept override { return false; }
  void finish() override { static_cast<void>(stream_.close()); }

 private:
  ServerStream stream_;
  PieceReader reader_;
};

[[noreturn]] void throw_failed(const std::string& command, int status) {
  throw sql_error(SqlState{"38000"}, "program \"{}\" failed", command)
      .with_detail(end_of_child(status));
}

constexpr std::string_view kCannotClose = "could not close pipe to external command";

int end_of(ServerProgram& program) {
  const auto status = program.finish();
  if (status) return *status;
  throw file_error(status.error(), kCannotClose);
}

class ProgramSource final : public CopySource {
 public:
  ProgramSource(Session::State& session, std::string command, ServerProgram program)
      : command_(std::move(command)), program_(std::move(program)), reader_(session) {}
  void begin(const CopyDescription&) override {}
  std::optional<Bytes> next() override { return reader_.next(program_.stream()); }
  [[nodiscard]] bool must_be_read_out() const noexcept override { return false; }
  void finish() override {
    const int status = end_of(program_);
    // The rest of its output was not read.
    const bool is_meant = !reader_.has_ended() && was_cut_off(status);
    if (status != 0 && !is_meant) throw_failed(command_, status);
  }

 private:
  std::string command_;
  ServerProgram program_;
  PieceReader reader_;
};

/// Collects pieces for a stream of the server.
class PieceWriter {
 public:
  explicit PieceWriter(Session::State& session) : piece_(CountedAllocator<char>{&session.memory}) {}

  /// Takes data, and writes if there are enough. Returns an errno, or 0.
  int add(Bytes data, ServerStream& stream) {
    piece_ += as_text(data);
    return piece_.size() < kPieceBytes ? 0 : flush(stream);
  }
  int flush(ServerStream& stream) {
    const auto written = stream.write(as_bytes(std::string_view{piece_}));
    piece_.clear();
    return written ? 0 : written.error();
  }

 private:
  CountedString piece_;
};

class FileTarget final : public CopyTarget {
 public:
  FileTarget(Session::State& session, std::string name, ServerStream stream)
      : name_(std::move(name)), stream_(std::move(stream)), writer_(session) {}
  void begin(const CopyDescription&) override {}
  void write(Bytes data) override {
    const int error = writer_.add(data, stream_);
    if (error != 0) throw file_error(error, "could not write to COPY file");
  }
  void finish() override {
    int error = writer_.flush(stream_);
    if (const auto closed = stream_.close(); error == 0 && !closed) error = closed.error();
    // As in PostgreSQL, whose close writes the last piece.
    if (error != 0) throw file_error(error, fmt::format("could not close file \"{}\"", name_));
  }

 private:
  std::string name_;
  ServerStream stream_;
  PieceWriter writer_;
};

class ProgramTarget final : public CopyTarget {
 public:
  ProgramTarget(Session::State& session, std::string command, ServerProgram program)
      : command_(std::move(command)), program_(std::move(program)), writer_(session) {}
  void begin(const CopyDescription&) override {}
  void write(Bytes data) override {
    const int error = writer_.add(data, program_.stream());
    if (error == 0) return;
    // The program's status says more than a broken pipe.
    if (error == EPIPE) require_success();
    throw file_error(error, "could not write to COPY program");
  }
  void finish() override {
    const int error = writer_.flush(program_.stream());
    if (error == 0 || error == EPIPE) require_success();
    // As in PostgreSQL, whose close writes the last piece.
    if (error != 0) throw file_error(error, kCannotClose);
  }

 private:
  void require_success() {
    if (const int status = end_of(program_); status != 0) throw_failed(command_, status);
  }

  std::string command_;
  ServerProgram program_;
  PieceWriter writer_;
};

ServerProgram started(Session::State& session, const std::string& command,
                      ServerProgram::Pipe pipe) {
  auto program = ServerProgram::start(session, command, pipe);
  if (program) return std::move(*program);
  throw file_error(program.error(), fmt::format("could not execute command \"{}\"", command));
}

/// Returns an opened file, or throws its error with PostgreSQL's hint about psql.
ServerStream usable(SystemResult<ServerStream> stream, const std::string& name,
                    std::string_view purpose, std::string_view hint) {
  if (!stream) {
    SqlError error =
        file_error(stream.error(), fmt::format("could not open file \"{}\" for {}", name, purpose));
    if (stream.error() != ENOENT && stream.error() != EACCES) throw error;
    throw std::move(error).with_hint(
        fmt::format("{} You may want a client-side facility such as psql's \\copy.", hint));
  }
  if (stream->is_directory()) {
    throw_error(sqlstate::wrong_object_type, "\"{}\" is a directory", name);
  }
  return std::move(*stream);
}

}  // namespace

void require_copy_allowed(const Session::State& session, const ast::CopyStmt& copy) {
  if (is_of_client(copy)) return;
  const auto require = [&](Oid role, std::string_view name, std::string_view what) {
    if (session.rights.owns(role)) return;
    throw sql_error(sqlstate::insufficient_privilege, "permission denied to COPY {}", what)
        .with_detail(
            fmt::format("Only roles with privileges of the \"{}\" role may COPY {}.", name, what))
        .with_hint(
            "Anyone can COPY to stdout or from stdin. psql's \\copy command also works for "
            "anyone.");
  };
  if (copy.is_program) {
    require(kExecuteServerProgramRole, "pg_execute_server_program",
            "to or from an external program");
  } else if (copy.is_from) {
    require(kReadServerFilesRole, "pg_read_server_files", "from a file");
  } else {
    require(kWriteServerFilesRole, "pg_write_server_files", "to a file");
  }
}

void tell_kind(const ast::CopyStmt& copy, CommandProgress& progress) noexcept {
  const std::uint64_t kind = copy.is_program      ? CommandProgress::kCopyProgram
                             : is_of_client(copy) ? CommandProgress::kCopyPipe
                                                  : CommandProgress::kCopyFile;
  progress.set(CommandProgress::copy_kind, kind);
}

std::unique_ptr<CopySource> open_copy_source(Session::State& session, const ast::CopyStmt& copy,
                                             ResultSink& sink, CommandProgress& progress) {
  std::string name{copy.filename};
  if (copy.is_program) {
    ServerProgram program = started(session, name, ServerProgram::Pipe::from_output);
    return std::make_unique<ProgramSource>(session, std::move(name), std::move(program));
  }
  if (is_of_client(copy)) return std::make_unique<ClientSource>(sink);
  ServerStream stream =
      usable(ServerStream::open_to_read(session, server_path(session, name)), name, "reading",
             "COPY FROM instructs the PostgreSQL server process to read a file.");
  progress.set(CommandProgress::copy_bytes_all, stream.size());
  return std::make_unique<FileSource>(session, std::move(stream));
}

std::unique_ptr<CopyTarget> open_copy_target(Session::State& session, const ast::CopyStmt& copy,
                                             ResultSink& sink) {
  std::string name{copy.filename};
  if (copy.is_program) {
    ServerProgram program = started(session, name, ServerProgram::Pipe::to_input);
    return std::make_unique<ProgramTarget>(session, std::move(name), std::move(program));
  }
  if (is_of_client(copy)) return std::make_unique<ClientTarget>(sink);
  // Too easily would it be a file of the database.
  if (!std::filesystem::path{name}.is_absolute()) {
    throw SqlError{sqlstate::invalid_name, "relative path not allowed for COPY to file"};
  }
  ServerStream stream = usable(ServerStream::open_to_write(session, name), name, "writing",
                               "COPY TO instructs the PostgreSQL server process to write a file.");
  return std::make_unique<FileTarget>(session, std::move(name), std::move(stream));
}

}  // namespace swizzle::sql
