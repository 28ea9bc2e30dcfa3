#include "sim/vm/guest_image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>  // NOLINT: setenv is POSIX
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

namespace hca::vm {
namespace {

using testing::HasSubstr;

class GuestImageTest : public testing::Test {
 protected:
  GuestImageTest() : folder_(testing::TempDir() + "guest_image." + std::to_string(getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~GuestImageTest() override { std::filesystem::remove_all(folder_); }
  void put(const std::string& name, const std::string& text) const { std::ofstream(folder_ + '/' + name) << text; }
  options::VmRequest request() { return {config_, {}, {}, std::cout, std::cerr, folder_}; }

  config::Config config_;
  std::string folder_;
};

TEST_F(GuestImageTest, IsLookedForBelowTheUsersCache) {
  setenv("XDG_CACHE_HOME", "/somewhere", 1);
  EXPECT_EQ(usualImageFolder(), "/somewhere/hcasim/guest");
  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", "/home/me", 1);
  EXPECT_EQ(usualImageFolder(), "/home/me/.cache/hcasim/guest");
}

TEST_F(GuestImageTest, SaysHowToMakeOne) {
  try {
    (void)findImage(request());
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("tools/guest_image --output " + folder_));
  }
}

TEST_F(GuestImageTest, PrefersTheUncompressedKernelAndTheUsersFiles) {
  put("manifest.json", "{}");
  EXPECT_EQ(findImage(request()).kernel, folder_ + "/vmlinuz");
  put("vmlinux", "");
  EXPECT_EQ(findImage(request()).kernel, folder_ + "/vmlinux");
  auto own = request();
  own.kernel = "bzImage";
  EXPECT_EQ(findImage(own).kernel, "bzImage");
  EXPECT_TRUE(findImage(own).isOurs);
  own.initrd = "mine";
  EXPECT_FALSE(findImage(own).isOurs);
}

TEST_F(GuestImageTest, QuotesWordsAndPassesALineOn) {
  EXPECT_EQ(commandScript({0, {"echo", "it's", "a b"}}), "exec 'echo' 'it'\\''s' 'a b'\n");
  EXPECT_EQ(commandScript({0, {"ls | wc"}}), "ls | wc\n");
  EXPECT_EQ(commandScript({0, {"ls"}}), "exec 'ls'\n");
}

TEST_F(GuestImageTest, PutsFilesBehindTheImagesAtAMultipleOfFourBytes) {
  put("initrd", "12345");
  auto own = request();
  own.commands.push_back({1, {"ibv_devinfo"}});
  const std::string files = guestFiles(own, 1, "");
  EXPECT_THAT(files, HasSubstr("exec 'ibv_devinfo'"));
  EXPECT_THAT(files, HasSubstr("10.0.0.2 host1"));
  EXPECT_THAT(guestFiles(own, 0, ""), testing::Not(HasSubstr("ibv_devinfo")));
  writeInitrd({"", folder_ + "/initrd", true}, "070701", folder_ + "/out");
  std::ifstream in(folder_ + "/out");
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(bytes, std::string("12345\0\0\0", 8) + "070701");
}

}  // namespace
}  // namespace hca::vm
