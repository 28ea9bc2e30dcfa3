// The C library's own functions, behind those that this library has in their place.
#pragma once

#include <dirent.h>
#include <dlfcn.h>

namespace hca::shim {

/// Looks a function up once. Programs call interposed functions before any constructor ran, so that nothing here may
/// need one.
template <class Function>
class RealCall {
 public:
  /// `library`: where the function is, if a program loaded that for itself alone (as interpreters do).
  constexpr explicit RealCall(const char* name, const char* library = nullptr) : name_(name), library_(library) {}
  template <class... Arguments>
  auto operator()(Arguments... arguments) {
    return get()(arguments...);
  }
  Function get() {
    if (function_ == nullptr) function_ = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name_));
    if (function_ == nullptr && library_ != nullptr) {
      void* loaded = dlopen(library_, RTLD_LAZY | RTLD_NOLOAD);
      if (loaded != nullptr) function_ = reinterpret_cast<Function>(dlsym(loaded, name_));
    }
    return function_;
  }

 private:
  const char* name_;
  const char* library_;
  Function function_ = nullptr;
};

}  // namespace hca::shim

/// Defines `name`Real, of the type of the declared function `name`.
#define HCASIM_REAL(name) \
  static ::hca::shim::RealCall<decltype(&::name)> name##Real { #name }
#define HCASIM_EXPORT extern "C" __attribute__((visibility("default")))
