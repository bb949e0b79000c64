// Looks for signs that it is instrumented, and counts owners from two threads: the
// C++ library counts in another way where it knows.
#include <cstdio>
#include <memory>
#include <thread>

#ifdef __SANITIZE_THREAD__
#error "__SANITIZE_THREAD__ is defined"
#endif
#ifdef __has_feature
#if __has_feature(thread_sanitizer)
#error "the feature thread_sanitizer is there"
#endif
#if defined(__clang__) && !__has_feature(cxx_rvalue_references)
#error "other features are not there"
#endif
#endif
#if !_GLIBCXX_TSAN
#error "the C++ library does not know"
#endif

int main() {
  auto shared = std::make_shared<int>(1);
  std::thread other([shared] { std::shared_ptr<int> copy = shared; });
  std::shared_ptr<int> copy = shared;
  copy.reset();
  shared.reset();
  other.join();
  std::puts("ok");
  return 0;
}
