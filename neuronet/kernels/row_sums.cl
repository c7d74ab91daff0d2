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

// --- GPU ------------------------------------------------------------------------------------

#include "parts.clh"

// group: 32, 8
// grid: columns, 8
__kernel void AddRowSumsGPU(
    __global const float *matrix,   // [rows, columns]
    __global float *target,         // [columns]
    const int rows, const int columns)
{
    __local float all[ADDING * LANES];
    const int k = get_global_id(0);
    const float sum = parts_together(matrix, rows, columns, k, k < columns, all);
    if (get_local_id(1) == 0 && k < columns) target[k] += sum;
}
