#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/io/io_backend.h"
#include "base/programs/command_line.h"
#include "base/result.h"
#include "storage/options.h"
#include "tpcc/driver.h"
#include "tpcc/embedded/session.h"
#include "tpcc/schema.h"
#include "tpcc/tpcb/tpcb.h"
#include "tpcc/wire/wire_backend.h"

namespace swizzle::tpcc {

enum class BackendName : std::uint8_t { embedded, sql_embedded, wire };
enum class WorkloadName : std::uint8_t { tpcc, tpcb };
enum class RuntimeName : std::uint8_t { threads, fibers };

/// Everything that the command line says.
struct Settings {
  WorkloadName workload = WorkloadName::tpcc;
  BackendName backend = BackendName::embedded;
  RuntimeName runtime = RuntimeName::threads;
  std::uint32_t reactors = 2;
  IoEngine io = IoEngine::automatic;
  std::filesystem::path directory;
  Sizes sizes;
  TpcbSizes tpcb_sizes;
  EngineOptions engine;
  SessionSettings session;
  WireSettings wire;
  std::string url;
  RunSettings run;
  bool load_first = false;
  bool check_after = false;
  std::filesystem::path json;
  std::filesystem::path timeline;

  /// As the report repeats them.
  std::vector<std::pair<std::string, std::string>> shown;
};

/// Throws 0A000 for unsupported options, and 22023 for invalid ones.
Result<Settings> read_settings(CommandLine& options);

}  // namespace swizzle::tpcc
