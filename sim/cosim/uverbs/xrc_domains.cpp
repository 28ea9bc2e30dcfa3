#include "sim/cosim/uverbs/xrc_domains.h"

#include <fcntl.h>

#include <cerrno>

#include "sim/cosim/uverbs/command_errors.h"
#include "sim/driver/page_list_of.h"

namespace hca::cosim {

XrcDomains::XrcDomains(driver::DriverRole& driver, host::BusAddressSpace& space)
    : driver_(driver), memory_(space, "XRC domains"), owner_(driver.addClient(*this, "XRC domains")) {}

void XrcDomains::reserve(std::function<void(int error, const Reserved& reserved)> done) {
  if (isReserved_) return done(0, reserved_);
  reservePd([this, done = std::move(done)](int error) {
    isReserved_ = error == 0;
    done(error, reserved_);
  });
}

void XrcDomains::reservePd(Prepared done) {
  driver_.allocatePd(owner_, [this, done = std::move(done)](const driver::Answer<PdNumber>& answer) {
    if (!answer.ok()) return done(errnoOf(answer.result));
    reserved_.pd = answer.value;
    reserveCq(done);
  });
}

// One entry, which nothing ever writes.
void XrcDomains::reserveCq(Prepared done) {
  driver_.allocateUar(owner_, [this, done = std::move(done)](const driver::Answer<UarIndex>& uar) {
    if (!uar.ok()) return done(errnoOf(uar.result));
    adapter::CqAttributes attributes;
    attributes.uar = uar.value;
    const driver::DmaBuffer ring = memory_.allocate(host::BusAddressSpace::kPageSize);
    attributes.ring = driver::pageListOf(ring, ring.length);
    attributes.doorbellRecord = memory_.allocate(host::BusAddressSpace::kPageSize).bus;
    driver_.createCq(owner_, attributes, 0, [this, done](const driver::Answer<CqNumber>& answer) {
      if (!answer.ok()) return done(errnoOf(answer.result));
      reserved_.cq = answer.value;
      reserveDomain(done);
    });
  });
}

void XrcDomains::reserveDomain(Prepared done) {
  driver_.allocateXrcd(owner_, [this, done = std::move(done)](const driver::Answer<adapter::XrcdNumber>& answer) {
    reserved_.domain = answer.value;
    done(errnoOf(answer.result));
  });
}

// Linux drivers/infiniband/core/uverbs_cmd.c, ib_uverbs_open_xrcd.
void XrcDomains::open(const File& file, std::uint32_t flags, Opened opened) {
  const auto at = domains_.find(file);
  if (at != domains_.end()) {
    if ((flags & O_EXCL) != 0) return opened(EINVAL, {});
    ++at->second.users;
    return opened(0, at->second.number);
  }
  if ((flags & O_CREAT) == 0) return opened(EAGAIN, {});
  driver_.allocateXrcd(owner_,
                       [this, file, opened = std::move(opened)](const driver::Answer<adapter::XrcdNumber>& answer) {
                         if (!answer.ok()) return opened(errnoOf(answer.result), {});
                         const auto [place, isNew] = domains_.emplace(file, Domain{answer.value, 0});
                         // Two that open at once: the first to be answered counts.
                         if (!isNew) driver_.deallocateXrcd(owner_, answer.value, [](const driver::Answer<int>&) {});
                         ++place->second.users;
                         opened(0, place->second.number);
                       });
}

void XrcDomains::close(const File& file) {
  const auto at = domains_.find(file);
  if (at == domains_.end() || --at->second.users != 0) return;
  driver_.deallocateXrcd(owner_, at->second.number, [](const driver::Answer<int>&) {});
  domains_.erase(at);
}

}  // namespace hca::cosim
