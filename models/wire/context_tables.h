// The named fields of contexts and registers, by their names in the public driver (Linux
// include/linux/mlx5/mlx5_ifc.h).
#pragma once

#include "models/wire/field_table.h"

namespace hca::wire {

// queue_tables.cpp
extern const FieldTable kCqcFields;
extern const FieldTable kEqcFields;
extern const FieldTable kMkcFields;
extern const FieldTable kQpcFields;
extern const FieldTable kSrqcFields;
extern const FieldTable kRmpcFields;
extern const FieldTable kXrqcFields;
extern const FieldTable kDctcFields;
extern const FieldTable kWqFields;

// ethernet_tables.cpp
extern const FieldTable kSqcFields;
extern const FieldTable kRqcFields;
extern const FieldTable kFlowMatchFields;

// capability_tables.cpp
/// By the operation modifier of QUERY_HCA_CAP and SET_HCA_CAP in `input`.
[[nodiscard]] const NamedTable* capabilitiesOf(ByteView input);

// port_tables.cpp
extern const FieldTable kHcaVportFields;
/// By the register of ACCESS_REG in `input`.
[[nodiscard]] const NamedTable* registerOf(ByteView input);

}  // namespace hca::wire
