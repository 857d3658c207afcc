#include <fcntl.h>
#include <libpq-fe.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <system_error>
#include <vector>

#include "clients/swizzle/commands.h"

namespace swizzle::clients {
namespace {

using Clock = std::chrono::steady_clock;

/// An input file, read once from front to back.
class InputFile {
 public:
  explicit InputFile(const std::string& path) : descriptor_(::open(path.c_str(), O_RDONLY)) {
    struct stat facts{};
    if (descriptor_ < 0 || ::fstat(descriptor_, &facts) != 0) {
      throw std::system_error{errno, std::generic_category(), path};
    }
    bytes_ = S_ISREG(facts.st_mode) ? static_cast<std::uint64_t>(facts.st_size) : 0;
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile() { ::close(descriptor_); }

  /// Returns the size; 0 for a pipe.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  /// Returns 0 at the end.
  std::size_t read(std::vector<char>& into) const {
    const ssize_t got = ::read(descriptor_, into.data(), into.size());
    if (got < 0) throw std::system_error{errno, std::generic_category(), "read"};
    return static_cast<std::size_t>(got);
  }

 private:
  int descriptor_;
  std::uint64_t bytes_ = 0;
};

/// A line on a terminal, rewritten a few times a second.
class ProgressBar {
 public:
  explicit ProgressBar(std::uint64_t total) : total_(total) {}
  void advance(std::uint64_t bytes) {
    done_ += bytes;
    const Clock::time_point now = Clock::now();
    if (now - shown_ < std::chrono::milliseconds{200}) return;
    shown_ = now;
    show();
  }
  void finish() const {
    if (!is_terminal_) return;
    show();
    std::fputc('\n', stderr);
  }

 private:
  void show() const {
    if (!is_terminal_) return;
    constexpr int kWidth = 40;
    const double seconds = std::chrono::duration<double>(Clock::now() - began_).count();
    const double megabytes = static_cast<double>(done_) / 1e6;
    const double share =
        total_ > 0 ? std::min(1.0, static_cast<double>(done_) / static_cast<double>(total_)) : 0;
    const std::string bar(static_cast<std::size_t>(share * kWidth), '#');
    std::fprintf(stderr, "\r[%-*s] %3.0f %%  %.1f MB  %.1f MB/s ", kWidth, bar.c_str(), share * 100,
                 megabytes, seconds > 0 ? megabytes / seconds : 0);
  }

  std::uint64_t total_;
  std::uint64_t done_ = 0;
  Clock::time_point began_ = Clock::now();
  Clock::time_point shown_;
  bool is_terminal_ = ::isatty(STDERR_FILENO) != 0;
};

using Connection = std::unique_ptr<PGconn, decltype(&PQfinish)>;
using ResultHandle = std::unique_ptr<PGresult, decltype(&PQclear)>;

[[noreturn]] void fail(const Connection& connection) {
  throw std::runtime_error{PQerrorMessage(connection.get())};
}

std::string copy_statement(const Connection& connection, const LoadOptions& options) {
  const std::unique_ptr<char, decltype(&PQfreemem)> delimiter{
      PQescapeLiteral(connection.get(), &options.delimiter, 1), &PQfreemem};
  std::string text =
      "COPY " + options.table + " FROM STDIN (FORMAT csv, DELIMITER " + delimiter.get();
  if (options.has_header) text += ", HEADER";
  return text + ")";
}

}  // namespace

/// Sends the file as it is to the server, which parses the CSV. Uses libpq, because libpqxx's
/// streams send only rows that they encode themselves.
int run_load(const std::string& conninfo, const LoadOptions& options) {
  const InputFile file{options.file};
  const Connection connection{PQconnectdb(conninfo.c_str()), &PQfinish};
  if (PQstatus(connection.get()) != CONNECTION_OK) fail(connection);
  const ResultHandle begun{PQexec(connection.get(), copy_statement(connection, options).c_str()),
                           &PQclear};
  if (PQresultStatus(begun.get()) != PGRES_COPY_IN) fail(connection);

  ProgressBar progress{file.bytes()};
  std::vector<char> piece(std::size_t{256} << 10U);
  while (const std::size_t got = file.read(piece)) {
    if (PQputCopyData(connection.get(), piece.data(), static_cast<int>(got)) != 1) break;
    progress.advance(got);
  }
  PQputCopyEnd(connection.get(), nullptr);
  const ResultHandle done{PQgetResult(connection.get()), &PQclear};
  progress.finish();
  if (PQresultStatus(done.get()) != PGRES_COMMAND_OK) fail(connection);
  std::printf("%s rows\n", PQcmdTuples(done.get()));
  return 0;
}

}  // namespace swizzle::clients
