#include "sim/vm/cpio_archive.h"

#include <sys/stat.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace hca::vm {
namespace {

namespace fs = std::filesystem;

std::string contentOf(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::runtime_error("'" + file.string() + "' can't be read");
  return {std::istreambuf_iterator<char>(in), {}};
}

void pad(std::string& bytes, std::size_t unit) { bytes.append((unit - bytes.size() % unit) % unit, '\0'); }

}  // namespace

void CpioArchive::addParents(const std::string& path) {
  for (std::size_t at = path.find('/'); at != std::string::npos; at = path.find('/', at + 1)) {
    addFolder(path.substr(0, at));
  }
}

void CpioArchive::addFolder(const std::string& path) {
  if (path.empty() || !folders_.insert(path).second) return;
  addParents(path);
  append(path, S_IFDIR | 0755, {});
}

void CpioArchive::addFile(const std::string& path, const std::string& content, unsigned mode) {
  addParents(path);
  append(path, S_IFREG | mode, content);
}

void CpioArchive::addLink(const std::string& path, const std::string& target) {
  addParents(path);
  append(path, S_IFLNK | 0777, target);
}

void CpioArchive::addCopy(const std::string& path, const std::string& source) {
  const fs::file_status status = fs::symlink_status(source);
  constexpr unsigned kPermissions = 0777;
  if (fs::is_symlink(status)) {
    addLink(path, fs::read_symlink(source).string());
  } else if (fs::is_directory(status)) {
    addFolder(path);
    for (const auto& entry : fs::directory_iterator(source)) {
      addCopy(path + '/' + entry.path().filename().string(), entry.path().string());
    }
  } else if (fs::is_regular_file(status)) {
    addFile(path, contentOf(source), static_cast<unsigned>(status.permissions()) & kPermissions);
  } else if (!fs::exists(status)) {
    throw std::runtime_error("there is no file '" + source + "'");
  }
}

void CpioArchive::append(const std::string& path, unsigned mode, const std::string& content) {
  const bool isFolder = (mode & S_IFMT) == S_IFDIR;
  const unsigned number = mode == 0 ? 0 : next_++;
  // Inode, mode, user, group, links, time, size, device, device of a device file, length of the name, checksum.
  char header[112];
  std::snprintf(header, sizeof header, "070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X", number, mode, 0U,
                0U, isFolder ? 2U : 1U, 0U, static_cast<unsigned>(content.size()), 0U, 0U, 0U, 0U,
                static_cast<unsigned>(path.size() + 1), 0U);
  constexpr std::size_t kUnit = 4;
  bytes_ += header + path + '\0';
  pad(bytes_, kUnit);
  bytes_ += content;
  pad(bytes_, kUnit);
}

std::string CpioArchive::finish() {
  constexpr std::size_t kBlock = 512;
  append("TRAILER!!!", 0, {});
  pad(bytes_, kBlock);
  return std::move(bytes_);
}

}  // namespace hca::vm
