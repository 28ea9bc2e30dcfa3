#include "sim/vm/terminal.h"

#include <gtest/gtest.h>

namespace hca::vm {
namespace {

TEST(Terminal, PassesKeysOnButForTheEscape) {
  Terminal terminal;
  EXPECT_EQ(terminal.filter("ls\x03"), "ls\x03");
  EXPECT_EQ(terminal.filter("\x01"), "");
  EXPECT_EQ(terminal.filter("\x01"
                            "b"),
            "\x01"
            "b");  // the second one is passed on
  EXPECT_FALSE(terminal.wantsEnd());
  EXPECT_EQ(terminal.filter("\x01x"), "");
  EXPECT_TRUE(terminal.wantsEnd());
}

}  // namespace
}  // namespace hca::vm
