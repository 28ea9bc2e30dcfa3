#include "verbs_shim/register_pages.h"

#include <pthread.h>

namespace hca::shim {
namespace {

// A signal handler looks without a lock: an entry is valid while its length is not 0, and that is written last.
constexpr int kMost = 8192;
RegisterPage pages[kMost];
int used = 0;  // entries behind are free
pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;

}  // namespace

bool addPage(const RegisterPage& page) {
  pthread_mutex_lock(&changing);
  int place = 0;
  while (place < used && pages[place].length != 0) ++place;
  const bool fits = place < kMost;
  if (fits) {
    pages[place].address = page.address;
    pages[place].page = page.page;
    __atomic_store_n(&pages[place].length, page.length, __ATOMIC_RELEASE);
    if (place == used) __atomic_store_n(&used, used + 1, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&changing);
  return fits;
}

void removePages(uintptr_t address, size_t length) {
  if (__atomic_load_n(&used, __ATOMIC_ACQUIRE) == 0) return;
  pthread_mutex_lock(&changing);
  for (int place = 0; place < used; ++place) {
    const bool isInside = pages[place].address - address < length;
    if (isInside) __atomic_store_n(&pages[place].length, size_t{0}, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&changing);
}

const RegisterPage* findPage(uintptr_t address) {
  const int count = __atomic_load_n(&used, __ATOMIC_ACQUIRE);
  for (int place = 0; place < count; ++place) {
    const size_t length = __atomic_load_n(&pages[place].length, __ATOMIC_ACQUIRE);
    if (length != 0 && address - pages[place].address < length) return &pages[place];
  }
  return nullptr;
}

void unlockPages() { pthread_mutex_init(&changing, nullptr); }

void forgetPages() { used = 0; }

}  // namespace hca::shim
