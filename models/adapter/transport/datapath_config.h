// Section [adapter.transport]: queues, processing units, requester and responder.
#pragma once

#include "models/base/config_key.h"
#include "models/base/units.h"

namespace hca::adapter {

struct DatapathConfig {
  std::int64_t processingUnits = 1;
  Cycles doorbellCycles{20};
  Cycles issueCycles{8};
  Cycles wqeParseCycles{12};
  Cycles payloadCycles{20};
  Cycles receiveWqeCycles{12};
  Cycles memoryOperationCycles{50};
  BitsPerSecond loopbackRate{100'000'000'000};
  Time loopbackLatency = nanoseconds(100);
  Bytes egressBuffer{65536};
  Bytes ingressBuffer{262'016};  // published for ConnectX-5
  Bytes wqeFetch{512};
  std::int64_t receivePrefetch = 8;
  std::int64_t maxQps = 262144;
  bool dynamicConnections = true;
  std::int64_t tagListSize = 128;  // published for ConnectX-5: max_num_tags 127
  std::int64_t ackEvery = 64;
  std::int64_t ackCoalescing = 1;
  Time ackDelay = microseconds(1);

  template <class Self, class Key>
  static void describe(Self& self, Key&& key) {
    using config::range;
    key("processing_units", self.processingUnits, range<std::int64_t>(1, 64),
        "Send processing units; each builds one packet at a time");
    key("doorbell_cycles", self.doorbellCycles, range(Cycles(0), Cycles(100'000)),
        "From the arrival of a send doorbell to the start of its WQE's processing");
    key("issue_cycles", self.issueCycles, range(Cycles(0), Cycles(100'000)),
        "Time for which one packet occupies a processing unit");
    key("wqe_parse_cycles", self.wqeParseCycles, range(Cycles(0), Cycles(100'000)),
        "From the last byte of a fetched WQE to its parsed form");
    key("payload_cycles", self.payloadCycles, range(Cycles(0), Cycles(100'000)),
        "From the last byte of a packet's payload to the packet's first bit on the wire");
    key("receive_wqe_cycles", self.receiveWqeCycles, range(Cycles(0), Cycles(100'000)),
        "From the last byte of fetched receive WQEs to their parsed form");
    key("memory_operation_cycles", self.memoryOperationCycles, range(Cycles(0), Cycles(100'000)),
        "From the turn of a request that changes a memory key (bind, invalidate) or a list of tags to its effect");
    key("loopback_rate", self.loopbackRate, range(BitsPerSecond(1'000'000'000), BitsPerSecond(1'600'000'000'000)),
        "Rate at which packets of a port to itself go round inside the adapter");
    key("loopback_latency", self.loopbackLatency, range(Time(0), microseconds(100)),
        "From the last bit of such a packet to the transport again");
    key("egress_buffer", self.egressBuffer, range(Bytes(8192), Bytes(std::int64_t{1} << 30)),
        "Payload that may be on its way from host memory to the wire of one port");
    key("ingress_buffer", self.ingressBuffer, range(Bytes(0), Bytes(std::int64_t{1} << 30)),
        "What has arrived at a port and may wait for its way to host memory before the neighbour has to hold back; 0B: "
        "no limit");
    key("wqe_fetch", self.wqeFetch, range(Bytes(64), Bytes(4096)), "Most bytes of send WQEs that one DMA read fetches");
    key("receive_prefetch", self.receivePrefetch, range<std::int64_t>(1, 256),
        "Most receive WQEs that one DMA read fetches ahead");
    key("max_qps", self.maxQps, range<std::int64_t>(2, 1 << 23), "Queue pairs that the adapter can hold");
    key("dynamic_connections", self.dynamicConnections,
        "The transport service of dynamic connections (DC), from ConnectX-4 on");
    key("tag_list_size", self.tagListSize, range<std::int64_t>(0, 1 << 15),
        "Places in the list of a tag-matching receive queue, down to a power of two; 0: there are no such queues");
    key("ack_every", self.ackEvery, range<std::int64_t>(1, 1 << 16),
        "A requester asks for an acknowledgement at each message's end and after this many packets of a long one");
    key("ack_coalescing", self.ackCoalescing, range<std::int64_t>(1, 1 << 16),
        "A responder answers so many requests that ask for an acknowledgement with one");
    key("ack_delay", self.ackDelay, range(Time(0), milliseconds(10)),
        "Longest time that an acknowledgement waits for further requests to answer");
  }
};

}  // namespace hca::adapter
