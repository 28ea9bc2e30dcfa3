#include "sim/vm/qemu_command.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>

namespace hca::vm {
namespace {

// A comma in a value of an option is written twice.
std::string escaped(const std::string& path) {
  std::string text;
  for (const char c : path) text += c == ',' ? std::string(",,") : std::string(1, c);
  return text;
}

void add(std::vector<std::string>& words, std::initializer_list<std::string> more) { words.insert(words.end(), more); }

// "%h" is the guest's number.
std::string withHost(std::string word, std::uint32_t host) {
  for (std::size_t at = word.find("%h"); at != std::string::npos; at = word.find("%h", at)) {
    word.replace(at, 2, std::to_string(host));
  }
  return word;
}

void addNetwork(std::vector<std::string>& words, const QemuGuest& guest) {
  char address[] = "52:54:00:00:00:00";
  constexpr std::size_t kLastByte = 15;
  std::snprintf(address + kLastByte, 3, "%02x", (guest.host + 1) & 0xff);
  add(words, {"-netdev", "dgram,id=net,local.type=unix,local.path=" + escaped(guest.networkLocal) +
                             ",remote.type=unix,remote.path=" + escaped(guest.networkRemote)});
  add(words, {"-device", std::string("virtio-net-pci,netdev=net,romfile=,mac=") + address});
}

// Each behind a root port: a function of the root complex itself would have no link.
void addFunctions(std::vector<std::string>& words, const QemuGuest& guest) {
  for (std::size_t i = 0; i < guest.functions.size(); ++i) {
    const std::string number = std::to_string(i + 1);
    add(words, {"-device", "pcie-root-port,id=root" + number + ",chassis=" + number + ",slot=" + number});
    add(words, {"-device", "vfio-pci,bus=root" + number + ",sysfsdev=" + escaped(guest.functions[i])});
  }
}

}  // namespace

std::vector<std::string> qemuCommand(const options::VmRequest& request, const QemuGuest& guest) {
  std::vector<std::string> words{request.qemu, "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"};
  // Five levels of page tables cost a translator time and give nothing.
  add(words, {"-machine", "q35", "-accel", guest.usesKvm ? "kvm" : "tcg,thread=multi"});
  add(words, {"-cpu", guest.usesKvm ? "host" : "max,-la57"});
  add(words, {"-smp", std::to_string(request.processors), "-m", request.memory});
  add(words, {"-kernel", guest.kernel, "-initrd", guest.initrd});
  // Warnings and worse on the console, for what comes before the guest's first program and behind its last.
  add(words, {"-append", "console=ttyS0 loglevel=5 panic=-1 8250.nr_uarts=4" +
                             (request.append.empty() ? "" : ' ' + request.append)});
  for (std::size_t i = 0; i < guest.ports.size(); ++i) {
    const std::string id = "port" + std::to_string(i);
    add(words, {"-chardev", "socket,id=" + id + ",path=" + escaped(guest.ports[i].path) +
                                (guest.ports[i].isServer ? ",server=on,wait=off" : "")});
    add(words, {"-serial", "chardev:" + id});
  }
  addNetwork(words, guest);
  addFunctions(words, guest);
  for (const std::string& word : request.qemuArguments) words.push_back(withHost(word, guest.host));
  return words;
}

void requireQemu(const std::string& program) {
  if (program.find('/') != std::string::npos) {
    if (::access(program.c_str(), X_OK) == 0) return;
    throw std::runtime_error("--qemu: '" + program + "' is no program");
  }
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((folder + '/' + program).c_str(), X_OK) == 0) return;
  }
  throw std::runtime_error(program +
                           " is missing: install QEMU (Debian, Ubuntu: apt-get install qemu-system-x86), or " +
                           "name it by --qemu");
}

bool canUseKvm(const std::string& program) {
  if (::access("/dev/kvm", R_OK | W_OK) != 0) return false;
  int input[2];
  if (pipe2(input, O_CLOEXEC) != 0) return false;
  const pid_t process = fork();
  if (process == 0) {
    const int nothing = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(input[0], STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
    dup2(nothing, STDERR_FILENO);
    // A processor that stands still gets all its registers before the monitor reads its first line.
    execlp(program.c_str(), program.c_str(), "-nodefaults", "-display", "none", "-machine", "q35", "-accel", "kvm",
           "-cpu", "host", "-m", "32", "-S", "-monitor", "stdio", nullptr);
    _exit(127);
  }
  ::close(input[0]);
  (void)!::write(input[1], "quit\n", 5);
  int status = -1;
  const bool isOver = process > 0 && waitpid(process, &status, 0) == process;
  ::close(input[1]);
  return isOver && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace hca::vm
