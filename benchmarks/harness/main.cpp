#include "harness.hpp"

int main(int argc, char** argv) { return bench::main(argc, argv); }
