#pragma once

#include <array>
#include <filesystem>
#include <memory>

#include "base/io/file.h"
#include "storage/engine.h"
#include "tpcc/embedded/session.h"
#include "tpcc/tpcb/tpcb.h"

namespace swizzle::tpcc {

/// TPC-B straight on the storage engine, in this process and without SQL.
class EmbeddedTpcb final : public TpcbBackend {
 public:
  enum class Start : std::uint8_t { create, open };
  static Result<std::unique_ptr<EmbeddedTpcb>> start(Start how, FileSystem& files,
                                                     const std::filesystem::path& directory,
                                                     const EngineOptions& options,
                                                     const SessionSettings& settings);

  Result<> load(TpcbSizes sizes) override;
  Result<TpcbSizes> sizes() override { return sizes_; }
  Result<std::unique_ptr<TpcbSession>> session(std::uint32_t number) override;
  Result<std::vector<TpcbSums>> sums() override;
  Result<> close() override { return engine_->close(); }

 private:
  enum Table : std::uint8_t { kBranch, kTeller, kAccount, kHistory, kTables };
  EmbeddedTpcb(std::filesystem::path directory, SessionSettings settings,
               std::unique_ptr<Engine> engine)
      : directory_(std::move(directory)), settings_(settings), engine_(std::move(engine)) {}
  Result<> fill(Table table, std::uint32_t rows);
  Result<> write_catalog() const;
  Result<> read_catalog();
  Result<> open_trees();
  Result<> visit(Table table, const std::function<void(Bytes key, Bytes value)>& visit);

  std::filesystem::path directory_;
  SessionSettings settings_;
  std::unique_ptr<Engine> engine_;
  TpcbSizes sizes_;
  std::array<TreeId, kTables> ids_{};
  std::vector<Tree> trees_;
};

}  // namespace swizzle::tpcc
