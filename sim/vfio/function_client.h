// A process that drives functions itself.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "sim/cosim/other_process_memory.h"
#include "sim/cosim/shared_mapping.h"
#include "sim/vfio/dma_domain.h"
#include "sim/vfio/event_descriptor.h"
#include "sim/vfio/host_functions.h"
#include "verbs_shim/channel/function_message.h"

namespace hca::vfio {

/// What one process has open, and its end of the channel. When this object goes, so does all of that: functions are
/// reset, and reach nothing of the process any more.
class FunctionClient {
 public:
  /// `connection`: of the process, owned from now on.
  FunctionClient(int connection, pid_t process, HostFunctions& functions);
  ~FunctionClient();
  FunctionClient(const FunctionClient&) = delete;
  FunctionClient& operator=(const FunctionClient&) = delete;

  /// Descriptor of the memory that is shared with the process.
  [[nodiscard]] int area() const { return area_.descriptor(); }
  [[nodiscard]] bool isGone() const;

  /// Appends the slots with new requests.
  void collect(std::vector<std::uint32_t>& slots);
  /// Carries a request out, at Calendar::now(); answers it now or when a register has been read.
  void serve(std::uint32_t slot);

  /// The simulation runs from here to `endSlice` (see cosim::ProgramMemory).
  void beginSlice() { memory_.beginSlice(false); }
  void endSlice() { memory_.endSlice(); }

 private:
  using Request = channel::FunctionRequest;
  using Reply = channel::FunctionReply;

  /// A function that the process has open.
  struct OpenFunction final : PassthroughFunction::VectorListener {
    OpenFunction(FunctionClient& owner, std::uint32_t domainNumber, std::uint32_t vectors)
        : client(owner), domain(domainNumber), events(vectors) {}
    void onVector(std::uint32_t vector) override {
      client.flush();
      events[vector].signal();
    }
    FunctionClient& client;
    std::uint32_t domain;
    std::vector<EventDescriptor> events;  // by vector
  };

  int dispatch(std::uint32_t slot, const Request& request, Reply& reply);
  int dispatchOpen(std::uint32_t slot, const Request& request, Reply& reply);
  int describe(const Request& request, Reply& reply);
  int newDomain(Reply& reply);
  int endDomain(std::uint32_t number);
  int map(const Request& request);
  int unmap(const Request& request, Reply& reply);
  int open(const Request& request);
  void close(std::uint32_t function);
  int readBar(std::uint32_t slot, const Request& request);
  int setVectors(const Request& request, OpenFunction& open);
  bool receiveEvents(std::uint64_t count, std::map<std::uint32_t, EventDescriptor>& events) const;
  int disableVectors(std::uint32_t function, OpenFunction& open);
  int triggerVector(const Request& request, const OpenFunction& open) const;
  [[nodiscard]] DmaDomain* domain(std::uint32_t number);
  void answer(std::uint32_t slot, const Reply& reply, std::uint32_t bytes);
  /// What devices wrote so far is in the process's memory.
  void flush();

  int connection_;
  HostFunctions& functions_;
  cosim::OtherProcessMemory memory_;
  cosim::SharedMapping<channel::FunctionArea> area_;
  std::vector<bool> isCalling_;  // by slot
  std::map<std::uint32_t, std::unique_ptr<DmaDomain>> domains_;
  std::uint32_t nextDomain_ = 0;
  std::map<std::uint32_t, std::unique_ptr<OpenFunction>> open_;
  std::shared_ptr<bool> isThere_ = std::make_shared<bool>(true);  // for reads that come back late
};

}  // namespace hca::vfio
