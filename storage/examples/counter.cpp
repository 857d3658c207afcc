// Example of docs/embedding.md: an engine within a program. `swizzle-embedding-example DIRECTORY`
// opens the database there, or creates it, and prints how often it has been run.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/io/posix_file_system.h"
#include "storage/engine.h"

namespace {

using namespace swizzle;

Bytes bytes_of(std::string_view text) {
  return std::as_bytes(std::span{text});
}
std::string text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The tree of the counter. Trees have numbers, which their creator remembers. The engine uses
/// number 1 itself, so the first that a program makes is number 2.
constexpr TreeId kCounters{2};

Result<std::unique_ptr<Engine>> open_or_create(FileSystem& files,
                                               const std::filesystem::path& directory) {
  EngineOptions options;
  options.pool_bytes = 64U << 20U;
  if (std::filesystem::exists(directory)) return Engine::open(files, directory, options);
  RETURN_IF_ERROR(Engine::create(files, directory, options));
  ASSIGN_OR_RETURN(auto engine, Engine::open(files, directory, options));
  const auto transaction = engine->begin();
  ASSIGN_OR_RETURN(const TreeId made, engine->create_tree(*transaction));
  if (made != kCounters) return fail(sqlstate::internal_error, "the first tree has another number");
  RETURN_IF_ERROR(transaction->commit());
  return engine;
}

Result<std::string> count_up(Engine& engine) {
  ASSIGN_OR_RETURN(Tree counters, engine.tree(kCounters));
  const auto transaction = engine.begin(Isolation::repeatable_read);
  transaction->begin_statement();
  ValueBuffer value;
  // Locked, so that two concurrent counts are both counted.
  ASSIGN_OR_RETURN(const bool was_there,
                   counters.get(*transaction, bytes_of("runs"), value, ReadMode::for_update));
  const std::string next = std::to_string(was_there ? std::stoul(text_of(value.bytes())) + 1 : 1);
  ASSIGN_OR_RETURN(const bool written,
                   was_there ? counters.update(*transaction, bytes_of("runs"), bytes_of(next))
                             : counters.insert(*transaction, bytes_of("runs"), bytes_of(next)));
  if (!written) return fail(sqlstate::internal_error, "a locked key has changed");
  // Returns when the commit survives any crash.
  RETURN_IF_ERROR(transaction->commit());
  return next;
}

Result<> run(const std::filesystem::path& directory) {
  PosixFileSystem files;
  ASSIGN_OR_RETURN(const auto engine, open_or_create(files, directory));
  ASSIGN_OR_RETURN(const std::string runs, count_up(*engine));
  std::printf("run %s\n", runs.c_str());
  return engine->close();
}

}  // namespace

int main(int count, char** words) {
  if (count != 2 || words[1][0] == '-') {
    std::fputs("usage: swizzle-embedding-example DIRECTORY\n", stderr);
    return 2;
  }
  const Result<> done = run(words[1]);
  if (done) return EXIT_SUCCESS;
  std::fprintf(stderr, "%s (%s)\n", done.error().message().c_str(),
               std::string{done.error().state().code()}.c_str());
  return EXIT_FAILURE;
}
