#include "sim/cosim/program_group.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "sim/cosim/listening.h"
#include "sim/cosim/process_family.h"
#include "sim/cosim/termination.h"

namespace hca::cosim {

ProgramGroup::ProgramGroup(std::vector<options::CosimCommand> commands, EnvironmentOf environmentOf,
                           std::chrono::milliseconds delay, std::ostream& out)
    : commands_(std::move(commands)), environmentOf_(std::move(environmentOf)), delay_(delay), output_(out) {
  for (const options::CosimCommand& command : commands_) {
    const bool isAlone = commands_.size() == 1;
    outputs_.push_back(isAlone ? -1 : output_.add("host" + std::to_string(command.host) + ": "));
  }
  output_.start();
}

ProgramGroup::~ProgramGroup() {
  closeOutputs();
  for (const auto& program : running_) program->signal(SIGTERM);
}

bool ProgramGroup::areAllAmong(const std::set<int>& attached) {
  return running_.size() == commands_.size() &&
         std::all_of(running_.begin(), running_.end(), [&attached](const auto& program) {
           return program->poll() || isFamilyAmong(program->process(), attached);
         });
}

bool ProgramGroup::areOver() {
  if (running_.size() < commands_.size() && mayStart()) startNext();
  bool isOver = running_.size() == commands_.size();
  if (Termination::signal() != 0) {
    constexpr int kSignalled = 128;  // as a shell reports it
    status_ = kSignalled + Termination::signal();
    return true;
  }
  for (const auto& program : running_) {
    const auto status = program->poll();
    isOver = isOver && status;
    if (status && *status != 0 && status_ == 0) status_ = *status;
  }
  return isOver;
}

bool ProgramGroup::mayStart() {
  if (running_.empty()) return true;
  if (running_.back()->poll()) return true;
  const auto now = std::chrono::steady_clock::now();
  if (delay_.count() != 0) return now - started_ >= delay_;
  // A look takes the kernel a while.
  constexpr auto kBetweenLooks = std::chrono::milliseconds(25);
  if (now - looked_ < kBetweenLooks) return false;
  looked_ = now;
  const bool listens = isListening(running_.back()->process());
  hasServer_ = hasServer_ || listens;
  // One client of several: the next needn't wait for it to listen.
  constexpr auto kPatience = std::chrono::seconds(1);
  return listens || (hasServer_ && now - started_ >= kPatience);
}

void ProgramGroup::startNext() {
  const std::size_t index = running_.size();
  ProgramStart start;
  start.words = commands_[index].words;
  start.environment = environmentOf_(commands_[index].host);
  start.output = outputs_[index];
  running_.push_back(std::make_unique<Program>(start));
  started_ = std::chrono::steady_clock::now();
  if (outputs_[index] >= 0) ::close(outputs_[index]);
  outputs_[index] = -1;
}

void ProgramGroup::closeOutputs() {
  for (const int descriptor : outputs_) {
    if (descriptor >= 0) ::close(descriptor);
  }
}

}  // namespace hca::cosim
