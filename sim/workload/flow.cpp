#include "sim/workload/flow.h"

#include <algorithm>
#include <utility>

#include "sim/workload/message_verbs.h"

namespace hca::sim {
namespace {

using driver::VerbsError;

const char* text(VerbsError error) {
  switch (error) {
    case VerbsError::kNone:
      return "no error";
    case VerbsError::kInvalid:
      return "EINVAL";
    case VerbsError::kNoMemory:
      return "ENOMEM";
    case VerbsError::kBusy:
      return "EBUSY";
    case VerbsError::kNotSupported:
      return "EOPNOTSUPP";
    case VerbsError::kInputOutput:
      return "EIO";
  }
  return "unknown error";
}

}  // namespace

Flow::Flow(std::string name, const FlowConfig& config, bool movesPayload)
    : name_(std::move(name)), config_(config), movesPayload_(movesPayload) {}

void Flow::makeEnds(driver::VerbsClient& client, driver::VerbsClient& server, const FlowEndpoint::Shape& clientShape,
                    const FlowEndpoint::Shape& serverShape) {
  client_ = std::make_unique<FlowEndpoint>(client, config_, clientShape);
  server_ = std::make_unique<FlowEndpoint>(server, config_, serverShape);
}

void Flow::start(std::function<void()> finished) {
  onFinished_ = std::move(finished);
  client_->setUp([this](VerbsError clientError) {
    if (clientError != VerbsError::kNone) return fail(std::string("client set-up: ") + text(clientError));
    server_->setUp([this](VerbsError serverError) {
      if (serverError != VerbsError::kNone) return fail(std::string("server set-up: ") + text(serverError));
      connectBoth();
    });
  });
}

// The responder first: it must not get a packet before it is ready.
void Flow::connectBoth() {
  server_->connect(*client_, [this](VerbsError serverError) {
    if (serverError != VerbsError::kNone) return fail(std::string("server connect: ") + text(serverError));
    client_->connect(*server_, [this](VerbsError clientError) {
      if (clientError != VerbsError::kNone) return fail(std::string("client connect: ") + text(clientError));
      begin();
    });
  });
}

void Flow::measureFrom(Time when) {
  begin_ = when;
  if (onMeasurement_) onMeasurement_(when);
}

void Flow::finish() {
  if (std::exchange(finished_, true)) return;
  const auto finished = std::move(onFinished_);
  if (finished) finished();
}

void Flow::fail(std::string problem) {
  if (problem_.empty()) problem_ = std::move(problem);
  finish();
}

driver::SendWorkRequest Flow::requestTemplate(const FlowEndpoint& from, const FlowEndpoint& to) const {
  driver::SendWorkRequest request;
  request.opcode = opcodeOf(config_.verb);
  request.scatterGather.push_back({0, static_cast<std::uint32_t>(size()), from.key()});
  request.solicited = config_.solicited;
  request.inlineData = from.inlines() && !usesResponses();
  request.remoteKey = to.key();
  request.datagram = to.datagramTarget(0);
  request.remoteSrq = to.srqNumber(0);
  return request;
}

driver::ReceiveWorkRequest Flow::receiveTemplate(const FlowEndpoint& at) const {
  driver::ReceiveWorkRequest request;
  request.scatterGather.push_back({0, static_cast<std::uint32_t>(size()) + at.headerSize(), at.key()});
  return request;
}

bool Flow::countError(const driver::WorkCompletion& completion) {
  if (completion.status == driver::WcStatus::kSuccess) return false;
  ++errors_;
  if (problem_.empty()) {
    problem_ = std::string("completion with ") + driver::name(completion.status) + ", vendor error " +
               std::to_string(completion.vendorError);
  }
  return true;
}

double Flow::done() const {
  if (finished_) return 1;
  const double wanted = static_cast<double>(config_.iters) * config_.qps;
  return wanted > 0 ? std::min(1.0, static_cast<double>(measured_) / wanted) : 0;
}

report::FlowResult Flow::result() {
  if (!std::exchange(remainderChecked_, true)) checkRemainder();
  report::FlowResult result;
  result.name = name_;
  result.client = HostIndex(config_.client);
  result.iterations = measured_;
  result.bytes = measuredBytes();
  result.errors = errors_;
  result.latencyKind = latencyKind_;
  result.latency = report::summarise(latency_);
  result.measured = end_ - begin_;
  report::computeRates(result);
  if (config_.published_latency > Time()) result.published = config_.published_latency;
  return result;
}

}  // namespace hca::sim
