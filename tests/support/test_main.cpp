// main for every test: libsystemc would otherwise bring one that calls sc_main.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

// libsystemc's own main refers to it; never called.
extern "C" int sc_main(int, char*[]) { return 0; }

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
