//! Operator schemas: PyTorch's schema language, checked down to what a GPSIMD op can take. Knows no C++.
