// Completion status of PCI Express as TLM and as DMA see it.
#pragma once

#include <tlm>

#include "models/host/bus_address_space.h"

namespace hca::pcie {

[[nodiscard]] constexpr tlm::tlm_response_status toResponse(host::DmaStatus status) {
  if (status == host::DmaStatus::kOk) return tlm::TLM_OK_RESPONSE;
  return status == host::DmaStatus::kUnmapped ? tlm::TLM_ADDRESS_ERROR_RESPONSE : tlm::TLM_GENERIC_ERROR_RESPONSE;
}

/// An address error is an Unsupported Request, any other error a Completer Abort.
[[nodiscard]] constexpr host::DmaStatus toDmaStatus(tlm::tlm_response_status response) {
  if (response == tlm::TLM_OK_RESPONSE) return host::DmaStatus::kOk;
  return response == tlm::TLM_ADDRESS_ERROR_RESPONSE ? host::DmaStatus::kUnmapped : host::DmaStatus::kAccessFailed;
}

}  // namespace hca::pcie
