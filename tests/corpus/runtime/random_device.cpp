// Prints random numbers of the C++ library.
#include <fstream>
#include <iostream>
#include <random>

int main() {
  std::random_device device;
  std::cout << device() << ' ' << device() << '\n';
  std::random_device named("/dev/urandom");
  std::cout << named() << '\n';
  std::ifstream file("/dev/urandom", std::ios::binary);
  unsigned long long number = 0;
  if (!file.read(reinterpret_cast<char *>(&number), sizeof number)) return 1;
  std::cout << number << '\n';
}
