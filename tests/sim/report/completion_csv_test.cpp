#include "sim/report/completion_csv.h"

#include <gtest/gtest.h>

#include <sstream>

namespace hca::report {
namespace {

TEST(CompletionCsv, WritesALineACompletion) {
  std::ostringstream stream;
  CompletionCsv csv(stream);
  CompletionRow row;
  row.time = Time(2'000'001);
  row.flow = "a";
  row.host = HostIndex(1);
  row.cq = CqNumber(129);
  row.qp = QpNumber(65);
  row.workRequestId = 7;
  row.opcode = "WRITE";
  row.status = "SUCCESS";
  row.bytes = 64;
  row.posted = Time(1'000'000);
  csv.add(row);
  row.posted = Time(-1);
  csv.add(row);
  EXPECT_EQ(stream.str(),
            "time_ns,flow,host,cqn,qpn,wr_id,opcode,status,bytes,posted_ns,latency_ns\n"
            "2000.001,a,1,129,65,7,WRITE,SUCCESS,64,1000.000,1000.001\n"
            "2000.001,a,1,129,65,7,WRITE,SUCCESS,64,,\n");
}

TEST(CompletionCsv, NamesAdaptersIfAsked) {
  std::ostringstream stream;
  CompletionCsv csv(stream, true);
  CompletionRow row;
  row.flow = "a";
  row.host = HostIndex(1);
  row.adapter = AdapterIndex(2);
  row.cq = CqNumber(129);
  row.posted = Time(-1);
  csv.add(row);
  EXPECT_EQ(stream.str(),
            "time_ns,flow,host,adapter,cqn,qpn,wr_id,opcode,status,bytes,posted_ns,latency_ns\n"
            "0.000,a,1,2,129,0,0,,,0,,\n");
}

}  // namespace
}  // namespace hca::report
