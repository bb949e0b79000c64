// Has the program compile its own std::string, as it does from C++20 on: the compiled one
// of libstdc++ is not instrumented. -1 is the library's own word for "not strings, but all
// other templates are compiled already". Strings of the old ABI stay: they share counters
// with what is compiled.
#include_next <bits/c++config.h>
#if _GLIBCXX_EXTERN_TEMPLATE > 0 && _GLIBCXX_USE_CXX11_ABI
#undef _GLIBCXX_EXTERN_TEMPLATE
#define _GLIBCXX_EXTERN_TEMPLATE -1
#endif
