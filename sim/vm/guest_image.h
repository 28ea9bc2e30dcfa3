// What a guest starts from.
#pragma once

#include <string>

#include "sim/options/vm_request.h"

namespace hca::vm {

struct GuestImage {
  std::string kernel;
  std::string initrd;
  bool isOurs = true;  ///< its first program is that of tools/guest_image, which runs commands
};

/// Where tools/guest_image puts it: $XDG_CACHE_HOME/hcasim/guest, else ~/.cache/hcasim/guest.
[[nodiscard]] std::string usualImageFolder();
/// Throws std::runtime_error, which says what to do, if something is missing.
[[nodiscard]] GuestImage findImage(const options::VmRequest& request);

/// The initial file system of host `host`: the image's, with the command and the files of `request` behind it.
/// `terminal`: what stty sets of the shell's terminal. Throws std::runtime_error if a file can't be read.
[[nodiscard]] std::string guestFiles(const options::VmRequest& request, std::uint32_t host,
                                     const std::string& terminal);
/// Writes `image`'s initrd with `files` behind it to `path`.
void writeInitrd(const GuestImage& image, const std::string& files, const std::string& path);
/// The command as a script for the guest's shell.
[[nodiscard]] std::string commandScript(const options::CosimCommand& command);

}  // namespace hca::vm
