// elementwise.cl: sums and copies of arrays of equal size.
//
// Used by   ops/elementwise.py   Checked against   reference/elementwise.py
// NeuroNet  SumMatrix (with its gaps between rows left out)

// grid: n/8
__kernel BY8 void SumMatrix(
    __global const float *matrix1,     // [n]
    __global const float *matrix2,     // [n]
    __global float *matrix_out,        // [n]
    const int n, const float multiplyer)
{
    const int i = 8 * get_global_id(0), count = n - i;
    store8((load8(matrix1 + i, count) + load8(matrix2 + i, count)) * multiplyer, matrix_out + i, count);
}

// grid: n/8
__kernel BY8 void Copy(
    __global const float *source,      // [n]
    __global float *target,            // [n]
    const int n)
{
    const int i = 8 * get_global_id(0);
    store8(load8(source + i, n - i), target + i, n - i);
}

// --- GPU ------------------------------------------------------------------------------------

// grid: n/4
__kernel void SumMatrixGPU(
    __global const float *matrix1,     // [n]
    __global const float *matrix2,     // [n]
    __global float *matrix_out,        // [n]
    const int n, const float multiplyer)
{
    const int i = 4 * get_global_id(0), count = n - i, whole = count >= 4;
    const float4 sum = line4(matrix1 + i, count, whole) + line4(matrix2 + i, count, whole);
    put_line4(sum * multiplyer, matrix_out + i, count, whole);
}

// grid: n/4
__kernel void CopyGPU(
    __global const float *source,      // [n]
    __global float *target,            // [n]
    const int n)
{
    const int i = 4 * get_global_id(0), count = n - i, whole = count >= 4;
    put_line4(line4(source + i, count, whole), target + i, count, whole);
}
