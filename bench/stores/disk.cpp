#include "bench/stores/disk.h"

namespace swizzle::bench {

Result<std::unique_ptr<Disk>> Disk::create(const std::filesystem::path& directory) {
  constexpr std::uint64_t kDatabaseId = 0xB3C4;
  std::unique_ptr<Disk> disk{new Disk};
  RETURN_IF_ERROR(disk->files_.create_directory(directory));
  RETURN_IF_ERROR(Volume::create(disk->files_, directory, kDatabaseId));
  RETURN_IF_ERROR(SpaceMap::create(disk->files_, directory, kDatabaseId));
  ASSIGN_OR_RETURN(disk->volume_, Volume::open(disk->files_, directory));
  ASSIGN_OR_RETURN(disk->map_, SpaceMap::load(disk->files_, directory, *disk->volume_, Lsn::none));
  disk->data_file_ = std::make_unique<DataFile>(*disk->volume_, *disk->map_);
  return disk;
}

Cleaning::Cleaning(Disk& disk, BufferPool& pool)
    : pool_(pool), cleaner_(pool.arena(), disk.volume(), log_, pool.layout(), {}) {
  pool_.on_dirty_pressure([](void* cleaner) { static_cast<Cleaner*>(cleaner)->nudge(); },
                          &cleaner_);
  cleaner_.start();
}

Cleaning::~Cleaning() {
  cleaner_.stop();
  pool_.on_dirty_pressure(nullptr, nullptr);
}

Result<DiskTree> make_disk_tree(const std::filesystem::path& directory, RecordShape shape,
                                std::uint64_t bytes, KeyOrder order) {
  DiskTree made;
  ASSIGN_OR_RETURN(made.disk, Disk::create(directory));
  ASSIGN_OR_RETURN(const auto store,
                   TreeStore<SwizzlingPool>::create(made.disk->pages(),
                                                    bytes * 3 / 2 + (std::uint64_t{64} << 20U)));
  Cleaning cleaning{*made.disk, store->pool()};
  // Ascending inserts fill pages to nine tenths; a slot and a length belong to each record.
  const std::size_t record_bytes = shape.key_bytes + shape.value_bytes + 12;
  made.records = bytes * 9 / 10 / record_bytes;
  const KeySpace keys{made.records, order};
  for (std::uint64_t i = 0; i < made.records; ++i) {
    const std::uint64_t number = keys(i);
    store->insert(Key{shape, number}.bytes(), Value{shape, number}.bytes());
  }
  RETURN_IF_ERROR(cleaning.clean_all());
  made.root = store->tree().root_page();
  made.pages = made.disk->map().allocated_pages();
  return made;
}

}  // namespace swizzle::bench
