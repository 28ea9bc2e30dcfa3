// A driver role without a device: every call succeeds at once, doorbells are recorded with their times.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "models/kernel/calendar.h"
#include "sim/driver/driver_role.h"

namespace hca::test {

class FakeDriver final : public driver::DriverRole {
 public:
  struct Doorbell {
    Time time;
    std::uint32_t offset;
    std::vector<std::uint8_t> bytes;
  };

  explicit FakeDriver(kernel::Calendar& calendar) : calendar_(calendar) {}

  void start(std::function<void(adapter::CommandResult)> ready) override { ready({}); }
  void stop(std::function<void(adapter::CommandResult)> done) override { done({}); }
  OwnerId addClient(driver::DriverClient& added, const char*) override {
    client = &added;
    return OwnerId(1);
  }
  void releaseOwner(OwnerId, std::function<void()> done) override { done(); }
  void allocatePd(OwnerId, driver::Done<PdNumber> done) override { done({{}, PdNumber(1)}); }
  void deallocatePd(OwnerId, PdNumber, driver::Done<int> done) override { done({}); }
  void allocateUar(OwnerId, driver::Done<UarIndex> done) override { done({{}, UarIndex(64)}); }
  void deallocateUar(OwnerId, UarIndex, driver::Done<int> done) override { done({}); }
  void createMkey(OwnerId, const adapter::MkeyAttributes& attributes, driver::Done<MemoryKey> done) override {
    keys.push_back(attributes);
    done({{}, MemoryKey(0x100)});
  }
  void destroyMkey(OwnerId, MemoryKey, driver::Done<int> done) override { done({}); }
  void updateMkey(OwnerId, MemoryKey, std::uint64_t, const adapter::MkeyAttributes&, driver::Done<int> done) override {
    done({});
  }
  void allocateMw(OwnerId, PdNumber, driver::WindowType, driver::Done<MemoryKey> done) override {
    done({{}, MemoryKey(0x200)});
  }
  void deallocateMw(OwnerId, MemoryKey, driver::Done<int> done) override { done({}); }
  void createCq(OwnerId, const adapter::CqAttributes& attributes, std::uint32_t, driver::Done<CqNumber> done) override {
    queues.push_back(attributes);
    done({createCqResult, CqNumber(static_cast<std::uint32_t>(queues.size()))});
  }
  void destroyCq(OwnerId, CqNumber, driver::Done<int> done) override { done({}); }
  void modifyCqModeration(OwnerId, CqNumber, std::uint16_t, std::uint16_t, driver::Done<int> done) override {
    done({});
  }
  void resizeCq(OwnerId, CqNumber, const adapter::CqAttributes&, driver::Done<int> done) override { done({}); }
  void queryCq(OwnerId, CqNumber, driver::Done<adapter::CqAttributes> done) override { done({}); }
  void openXrcd(OwnerId, std::uint64_t, driver::Done<adapter::XrcdNumber> done) override {
    done({{}, adapter::XrcdNumber(1)});
  }
  void allocateDeviceMemory(OwnerId, std::uint64_t, unsigned, driver::Done<std::uint64_t> done) override { done({}); }
  void freeDeviceMemory(OwnerId, std::uint64_t, driver::Done<int> done) override { done({}); }
  void closeXrcd(OwnerId, adapter::XrcdNumber, driver::Done<int> done) override { done({}); }
  void createSrq(OwnerId, const adapter::SrqAttributes&, driver::Done<SrqNumber> done) override {
    done({{}, SrqNumber(0x20)});
  }
  void armSrq(OwnerId, SrqNumber, std::uint16_t, driver::Done<int> done) override { done({}); }
  void querySrq(OwnerId, SrqNumber, driver::Done<adapter::SrqAttributes> done) override { done({}); }
  void destroySrq(OwnerId, SrqNumber, driver::Done<int> done) override { done({}); }
  void createQp(OwnerId, const adapter::QpAttributes& attributes, driver::Done<QpNumber> done) override {
    pairs.push_back(attributes);
    done({{}, QpNumber(0x40)});
  }
  void openQp(OwnerId, adapter::XrcdNumber, QpNumber, driver::Done<int> done) override { done({}); }
  void modifyQp(OwnerId, QpNumber, adapter::QpTransition, std::uint32_t, const adapter::QpAttributes&,
                driver::Done<int> done) override {
    done({});
  }
  void queryQp(OwnerId, QpNumber, driver::Done<adapter::QpAttributes> done) override { done({}); }
  void destroyQp(OwnerId, QpNumber, driver::Done<int> done) override { done({}); }
  void createDct(OwnerId, const adapter::QpAttributes&, driver::Done<QpNumber> done) override { done({}); }
  void destroyDct(OwnerId, QpNumber, driver::Done<int> done) override { done({}); }
  void attachMulticast(OwnerId, QpNumber, const network::Gid&, driver::Done<int> done) override { done({}); }
  void detachMulticast(OwnerId, QpNumber, const network::Gid&, driver::Done<int> done) override { done({}); }
  [[nodiscard]] std::uint32_t completionVectors() const override { return 4; }
  [[nodiscard]] const driver::DeviceCapabilities& capabilities() const override { return device; }
  void ringDoorbell(UarIndex, std::uint32_t offset, ByteView bytes) override {
    doorbells.push_back({calendar_.now(), offset, {bytes.begin(), bytes.end()}});
  }
  void readBack(std::function<void()> done) override { readBacks.push_back(std::move(done)); }

  driver::DriverClient* client = nullptr;
  driver::DeviceCapabilities device;
  adapter::CommandResult createCqResult;
  std::vector<Doorbell> doorbells;
  std::vector<std::function<void()>> readBacks;
  std::vector<adapter::MkeyAttributes> keys;
  std::vector<adapter::CqAttributes> queues;
  std::vector<adapter::QpAttributes> pairs;

 private:
  kernel::Calendar& calendar_;
};

}  // namespace hca::test
