#include "sim/vm/qemu_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>

namespace hca::vm {
namespace {

using testing::Contains;
using testing::HasSubstr;

QemuGuest guest() {
  QemuGuest guest;
  guest.host = 1;
  guest.kernel = "vmlinux";
  guest.initrd = "initrd";
  guest.ports[1] = {"/run/a,b", true};
  guest.functions = {"/run/0000:aa:00.0"};
  return guest;
}

TEST(QemuCommand, NamesKernelPortsNetworkAndFunctions) {
  const config::Config config;
  options::VmRequest request{config, {}, {}, std::cout, std::cerr, {}};
  request.append = "quiet";
  request.qemuArguments = {"-gdb", "tcp::123%h"};
  const auto words = qemuCommand(request, guest());
  EXPECT_EQ(words.front(), "qemu-system-x86_64");
  EXPECT_THAT(words, Contains("vfio-pci,bus=root1,sysfsdev=/run/0000:aa:00.0"));
  EXPECT_THAT(words, Contains(HasSubstr("path=/run/a,,b,server=on")));
  EXPECT_THAT(words, Contains(HasSubstr("mac=52:54:00:00:00:02")));
  EXPECT_THAT(words, Contains(testing::EndsWith(" quiet")));
  EXPECT_THAT(words, Contains("tcg,thread=multi"));
  EXPECT_EQ(words.back(), "tcp::1231");
}

TEST(QemuCommand, UsesTheMachinesProcessorWithKvm) {
  const config::Config config;
  const options::VmRequest request{config, {}, {}, std::cout, std::cerr, {}};
  QemuGuest machine = guest();
  machine.usesKvm = true;
  const auto words = qemuCommand(request, machine);
  EXPECT_THAT(words, Contains("kvm"));
  EXPECT_THAT(words, Contains("host"));
}

TEST(QemuCommand, NamesThePackageOfAMissingProgram) {
  try {
    requireQemu("qemu-that-is-not-there");
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("apt-get install qemu-system-x86"));
  }
  EXPECT_THROW(requireQemu("/no/qemu"), std::runtime_error);
  EXPECT_NO_THROW(requireQemu("sh"));
}

TEST(QemuCommand, SeesThatAProgramThatFailsHasNoKvm) { EXPECT_FALSE(canUseKvm("false")); }

}  // namespace
}  // namespace hca::vm
