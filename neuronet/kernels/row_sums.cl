// row_sums.cl: sums over the rows of a matrix, such as parts of a gradient that many work-items made.
//
//   target[k] += sum_r rows[r,k]
//
// Used by   ops/row_sums.py      Checked against   reference/row_sums.py
// Adds to target.

// grid: columns
__kernel void AddRowSums(
    __global const float *matrix,   // [rows, columns]
    __global float *target,         // [columns]
    const int rows, const int columns)
{
    const int k = get_global_id(0);
    float sum = 0.0f;
    for (int r = 0; r < rows; ++r)
        sum += matrix[r * columns + k];
    target[k] += sum;
}

// grid: columns/8
__kernel void AddRowSumsCPU(
    __global const float *matrix,   // [rows, columns]
    __global float *target,         // [columns]
    const int rows, const int columns)
{
    const int k = 8 * get_global_id(0), count = columns - k;
    float8 sum = 0.0f;
    for (int r = 0; r < rows; ++r)
        sum += load8(matrix + r * columns + k, count);
    store8(load8(target + k, count) + sum, target + k, count);
}
