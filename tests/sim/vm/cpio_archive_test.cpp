#include "sim/vm/cpio_archive.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <vector>

namespace hca::vm {
namespace {

// An independent reader: headers are 110 bytes, names and contents start at multiples of 4.
struct Entry {
  std::string name, content;
  unsigned mode = 0;
};

std::vector<Entry> read(const std::string& bytes) {
  std::vector<Entry> entries;
  const auto field = [&bytes](std::size_t at, int number) {
    return static_cast<unsigned>(
        std::stoul(bytes.substr(at + 6 + static_cast<std::size_t>(number) * 8, 8), nullptr, 16));
  };
  const auto aligned = [](std::size_t at) { return (at + 3) / 4 * 4; };
  for (std::size_t at = 0; at < bytes.size();) {
    EXPECT_EQ(bytes.substr(at, 6), "070701");
    Entry entry;
    entry.mode = field(at, 1);
    const std::size_t size = field(at, 6), name = field(at, 11);
    entry.name = bytes.substr(at + 110, name - 1);
    const std::size_t data = aligned(at + 110 + name);
    entry.content = bytes.substr(data, size);
    if (entry.name == "TRAILER!!!") return entries;
    entries.push_back(entry);
    at = aligned(data + size);
  }
  ADD_FAILURE() << "no end";
  return entries;
}

TEST(CpioArchive, HoldsFilesLinksAndTheFoldersAboveThem) {
  CpioArchive archive;
  archive.addFile("a/b/odd", "12345", 0755);
  archive.addLink("a/link", "b/odd");
  const std::string bytes = archive.finish();
  EXPECT_EQ(bytes.size() % 512, 0U);
  const auto entries = read(bytes);
  ASSERT_EQ(entries.size(), 4U);
  EXPECT_EQ(entries[0].name, "a");
  EXPECT_EQ(entries[0].mode, 040755U);
  EXPECT_EQ(entries[1].name, "a/b");
  EXPECT_EQ(entries[2].content, "12345");
  EXPECT_EQ(entries[2].mode, 0100755U);
  EXPECT_EQ(entries[3].content, "b/odd");
  EXPECT_EQ(entries[3].mode, 0120777U);
}

TEST(CpioArchive, TakesAFolderOfThisMachine) {
  const std::string folder = testing::TempDir() + "cpio_source." + std::to_string(getpid());
  std::filesystem::create_directories(folder + "/inner");
  std::ofstream(folder + "/inner/file") << "text";
  CpioArchive archive;
  archive.addCopy("opt/copy", folder);
  const auto entries = read(archive.finish());
  ASSERT_EQ(entries.size(), 4U);
  EXPECT_EQ(entries[3].name, "opt/copy/inner/file");
  EXPECT_EQ(entries[3].content, "text");
  std::filesystem::remove_all(folder);
}

TEST(CpioArchive, RefusesAFileThatIsNotThere) {
  CpioArchive archive;
  EXPECT_THROW(archive.addCopy("x", "/nonexistent/file"), std::runtime_error);
}

}  // namespace
}  // namespace hca::vm
