#include "sim/vm/guest_image.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "sim/vm/cpio_archive.h"

namespace hca::vm {
namespace {

namespace fs = std::filesystem;

std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + '\'';
}

std::string hostsFile(std::uint32_t hosts) {
  std::string text = "127.0.0.1 localhost\n";
  for (std::uint32_t host = 0; host < hosts; ++host) {
    text += "10.0.0." + std::to_string(host + 1) + " host" + std::to_string(host) + '\n';
  }
  return text;
}

}  // namespace

std::string usualImageFolder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  const fs::path base = cache != nullptr && *cache != '\0' ? fs::path(cache) : fs::path(home ? home : "/") / ".cache";
  return (base / "hcasim/guest").string();
}

GuestImage findImage(const options::VmRequest& request) {
  GuestImage image{request.kernel, request.initrd, request.initrd.empty()};
  if (!image.kernel.empty() && !image.initrd.empty()) return image;
  const fs::path folder = request.image.empty() ? fs::path(usualImageFolder()) : fs::path(request.image);
  if (!fs::exists(folder / "manifest.json")) {
    const std::string option = request.image.empty() ? "" : " --output " + request.image;
    throw std::runtime_error("there is no guest in '" + folder.string() + "': make one with tools/guest_image" +
                             option);
  }
  const char* kernel = fs::exists(folder / "vmlinux") ? "vmlinux" : "vmlinuz";
  if (image.kernel.empty()) image.kernel = (folder / kernel).string();
  if (image.initrd.empty()) image.initrd = (folder / "initrd").string();
  return image;
}

std::string commandScript(const options::CosimCommand& command) {
  if (command.words.size() == 1 && command.words[0].find(' ') != std::string::npos) return command.words[0] + '\n';
  std::string text = "exec";
  for (const std::string& word : command.words) text += ' ' + quoted(word);
  return text + '\n';
}

std::string guestFiles(const options::VmRequest& request, std::uint32_t host, const std::string& terminal) {
  CpioArchive archive;
  archive.addFile("hcasim/host", std::to_string(host) + '\n');
  archive.addFile("etc/hosts", hostsFile(request.config.host.count));
  for (const options::CosimCommand& command : request.commands) {
    if (command.host == host) archive.addFile("hcasim/command", commandScript(command));
  }
  if (request.shellHost) archive.addFile("hcasim/interactive", terminal);
  for (const auto& [source, path] : request.files) archive.addCopy(path, source);
  return archive.finish();
}

// Archives begin at a multiple of 4 bytes; zeros between them are skipped.
void writeInitrd(const GuestImage& image, const std::string& files, const std::string& path) {
  std::error_code error;
  fs::copy_file(image.initrd, path, error);
  if (error) throw std::runtime_error("'" + image.initrd + "' can't be copied: " + error.message());
  constexpr std::uintmax_t kUnit = 4;
  const std::uintmax_t odd = fs::file_size(path) % kUnit;
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  std::ofstream out(path, std::ios::binary | std::ios::app);
  out << std::string(static_cast<std::size_t>((kUnit - odd) % kUnit), '\0') << files;
  if (!out.flush()) throw std::runtime_error("'" + path + "' can't be written");
}

}  // namespace hca::vm
