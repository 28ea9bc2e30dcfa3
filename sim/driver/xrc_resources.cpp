#include "sim/driver/xrc_resources.h"

#include <utility>

#include "models/wire/cqe.h"
#include "sim/driver/client_tables.h"
#include "sim/driver/page_list_of.h"
#include "sim/driver/xrc_domains.h"

namespace hca::driver {
namespace {

constexpr std::uint32_t kEntries = 2;  // one that may be used, and one more
constexpr unsigned kLogSharedStride = 5;

}  // namespace

adapter::SrqAttributes XrcResources::srqAttributes() {
  const std::uint64_t length = std::uint64_t{kEntries} << kLogSharedStride;
  srqRing_ = memory_.allocate(length);
  srqRecord_ = records_.allocate();
  adapter::SrqAttributes attributes;
  attributes.kind = adapter::SrqKind::kXrc;
  attributes.pd = numbers_.pd;
  attributes.logSize = static_cast<std::uint8_t>(logOf(kEntries));
  attributes.logStride = kLogSharedStride;
  attributes.buffer = pageListOf(srqRing_, length);
  attributes.doorbellRecord = srqRecord_.bus;
  attributes.domain = numbers_.targets;
  attributes.cq = numbers_.cq;
  return attributes;
}

void XrcResources::prepare(UarIndex uar, const Sequence::Next& next) {
  if (isReady_) return next({});
  waiting_.push_back(next);
  if (std::exchange(isUnderWay_, true)) return;
  owner_ = driver_.addClient(*this, "driver");
  using Next = Sequence::Next;
  // Stores a created object's number and goes on.
  const auto into = [](auto& number, const Next& goOn) {
    return [&number, goOn](const auto& answer) {
      number = answer.value;
      goOn(answer.result);
    };
  };
  Sequence::run(
      {[=](const Next& goOn) { driver_.allocatePd(owner_, into(numbers_.pd, goOn)); },
       [=](const Next& goOn) { driver_.openXrcd(owner_, XrcDomains::kNoFile, into(numbers_.targets, goOn)); },
       [=](const Next& goOn) { driver_.openXrcd(owner_, XrcDomains::kNoFile, into(numbers_.initiators, goOn)); },
       [=](const Next& goOn) {
         driver_.createCq(owner_, completionQueue_.allocate(memory_, records_, uar, kEntries), 0,
                          into(numbers_.cq, goOn));
       },
       [=](const Next& goOn) { driver_.createSrq(owner_, srqAttributes(), into(numbers_.srq, goOn)); }},
      [this](adapter::CommandResult result) {
        isReady_ = result.ok();
        const auto waiting = std::exchange(waiting_, {});
        if (isReady_) {
          isUnderWay_ = false;
          for (const Next& each : waiting) each({});
          return;
        }
        release([this, waiting, result] {
          isUnderWay_ = false;
          for (const Next& each : waiting) each(result);
        });
      });
}

void XrcResources::release(const std::function<void()>& done) {
  if (owner_ == OwnerId()) return done();
  isReady_ = false;
  driver_.releaseOwner(std::exchange(owner_, OwnerId()), [this, done] {
    for (DmaBuffer* buffer : {&completionQueue_.ring, &srqRing_}) {
      if (buffer->length != 0) memory_.free(std::exchange(*buffer, DmaBuffer{}));
    }
    for (DoorbellRecord* record : {&completionQueue_.record, &srqRecord_}) {
      if (record->bytes != nullptr) records_.free(std::exchange(*record, DoorbellRecord{}));
    }
    done();
  });
}

}  // namespace hca::driver
