// elementwise.cl: sums and copies of arrays of equal size.
//
// Used by   ops/elementwise.py   Checked against   reference/elementwise.py
// NeuroNet  SumMatrix (with its gaps between rows left out)

// grid: n
__kernel void SumMatrix(
    __global const float *matrix1,     // [n]
    __global const float *matrix2,     // [n]
    __global float *matrix_out,        // [n]
    const float multiplyer)
{
    const int i = get_global_id(0);
    matrix_out[i] = (matrix1[i] + matrix2[i]) * multiplyer;
}

// grid: n
__kernel void Copy(
    __global const float *source,      // [n]
    __global float *target)            // [n]
{
    const int i = get_global_id(0);
    target[i] = source[i];
}
