/* A reduction whose combination clang makes of reads and compare-exchanges. */
int main(void) {
  double product = 1;
  long most = 0;
#pragma omp parallel num_threads(3)
  {
#pragma omp for reduction(* : product) reduction(max : most) schedule(dynamic)
    for (int i = 0; i < 9; i++) {
      product *= 1.5;
      if (i > most) most = i;
    }
  }
  return most != 8;
}
