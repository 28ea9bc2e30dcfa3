// Extended reliable connections (XRC): domains, their shared queues and queue pairs.
#include <utility>

#include "sim/driver/kernel_driver.h"

namespace hca::driver {
namespace {

using adapter::CommandResult;
using adapter::CommandStatus;
using wire::CommandOpcode;

constexpr CommandResult kStillNeeded{CommandStatus::kResourceBusy, adapter::Syndrome::kNone};

}  // namespace

// The kernel looks files up under a lock: who names one whose domain is being made waits for it.
void KernelDriver::openXrcd(OwnerId owner, std::uint64_t file, Done<adapter::XrcdNumber> done) {
  if (const auto known = domains_.ofFile(file)) {
    domains_.hold(owner, *known, file);
    return done({{}, *known});
  }
  if (file != XrcDomains::kNoFile && openingFiles_.count(file) != 0) {
    openingFiles_[file].push_back([this, owner, file, done = std::move(done)] { openXrcd(owner, file, done); });
    return;
  }
  openingFiles_[file];
  execute(plainCommand(CommandOpcode::kAllocXrcd), wire::ObjectCommand::kSize,
          [this, owner, file, done = std::move(done)](const CommandReply& reply) {
            adapter::XrcdNumber number;
            if (reply.result.ok()) {
              number = adapter::XrcdNumber(wire::ObjectCommand::Number::get(reply.output));
              domains_.hold(owner, number, file);
            }
            const auto waiting = std::exchange(openingFiles_[file], {});
            openingFiles_.erase(file);
            if (reply.result.ok() && owners_.client(owner) == nullptr) {  // released while the command was under way
              closeXrcd(owner, number, [](const Answer<int>&) {});
              done({kNotYours, number});
            } else {
              done({reply.result, number});
            }
            for (const auto& next : waiting) next();
          });
}

void KernelDriver::closeXrcd(OwnerId owner, adapter::XrcdNumber domain, Done<int> done) {
  if (!domains_.holds(owner, domain)) return done({kNotYours});
  if (domains_.isNeeded(owner, domain)) return done({kStillNeeded});
  const bool isLast = domains_.isLast(domain);
  // Who opens the file meanwhile gets another domain.
  const std::uint64_t file = domains_.drop(owner, domain);
  if (!isLast) return done({});
  execute(objectCommand(CommandOpcode::kDeallocXrcd, domain.value()), 16,
          [this, owner, domain, file, done = std::move(done)](const CommandReply& reply) {
            if (!reply.result.ok()) domains_.hold(owner, domain, file);
            done({reply.result});
          });
}

void KernelDriver::createXrcSrq(OwnerId owner, const adapter::SrqAttributes& attributes, Done<SrqNumber> done) {
  if (!domains_.holds(owner, attributes.domain)) return done({kNotYours});
  create(owner, ObjectKind::kXrcSrq, createXrcSrqCommand(attributes),
         [this, owner, domain = attributes.domain, done = std::move(done)](CommandResult result, std::uint32_t number) {
           if (result.ok()) domains_.addObject(ObjectKind::kXrcSrq, number, owner, domain);
           done({result, SrqNumber(number)});
         });
}

// Linux drivers/infiniband/hw/mlx5/qp.c, create_xrc_tgt_qp, and create_user_qp for IB_QPT_XRC_INI.
void KernelDriver::createXrcQp(OwnerId owner, const adapter::QpAttributes& attributes, Done<QpNumber> done) {
  const bool isTarget = !attributes.hasSendQueue;
  if (isTarget && !domains_.holds(owner, attributes.domain)) return done({kNotYours});
  const auto finish = [this, owner, attributes, isTarget, done = std::move(done)](CommandResult prepared) {
    if (!prepared.ok()) return done({prepared});
    const XrcResources::Numbers& own = xrcResources_.numbers();
    adapter::QpAttributes complete = attributes;
    complete.receiveQueueType = adapter::RqType::kSrq;
    complete.srq = own.srq;
    complete.receiveCq = own.cq;
    if (isTarget) {
      complete.pd = own.pd;
      complete.sendCq = own.cq;
      complete.uar = UarIndex();
    } else {
      complete.domain = own.initiators;
    }
    create(owner, ObjectKind::kQp, createQpCommand(complete),
           [this, owner, isTarget, domain = complete.domain, done](CommandResult result, std::uint32_t number) {
             if (result.ok() && isTarget) domains_.addObject(ObjectKind::kQp, number, owner, domain);
             done({result, QpNumber(number)});
           });
  };
  xrcResources_.prepare(life_.uar(), finish);
}

// Linux drivers/infiniband/core/verbs.c, ib_open_qp.
void KernelDriver::openQp(OwnerId owner, adapter::XrcdNumber domain, QpNumber qp, Done<int> done) {
  const bool isThere = domains_.holds(owner, domain) && domains_.isOf(ObjectKind::kQp, qp.value(), domain);
  if (!isThere) return done({kNotYours});
  owners_.add(owner, ObjectKind::kQp, qp.value());
  domains_.addObject(ObjectKind::kQp, qp.value(), owner, domain);
  done({});
}

// Of a target that others have open: it stays.
void KernelDriver::closeQp(OwnerId owner, QpNumber qp, Done<int> done) {
  owners_.release(owner, ObjectKind::kQp, qp.value());
  domains_.releaseObject(ObjectKind::kQp, qp.value(), owner);
  done({});
}

}  // namespace hca::driver
