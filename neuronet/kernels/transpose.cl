// transpose.cl: the rows and columns of each sample's matrix change places.
//
//   matrix_out[n,c,r] = matrix_in[n,r,c]
//
// Used by   ops/transpose.py     Checked against   reference/transpose.py
// NeuroNet  Transpose, TransposeRCD

// grid: rows, cols, batch
__kernel void Transpose(
    __global const float *matrix_in,    // [batch, rows, cols]
    __global float *matrix_out,         // [batch, cols, rows]
    const int rows, const int cols)
{
    const int r = get_global_id(0), c = get_global_id(1), n = get_global_id(2);
    matrix_out[(n * cols + c) * rows + r] = matrix_in[(n * rows + r) * cols + c];
}

// A tile goes through local memory, so that neighbouring work-items both read and write neighbours.
#define TILE 16

// group: 16, 16, 1
// grid: cols, rows, batch
__kernel void TransposeGPU(
    __global const float *matrix_in,    // [batch, rows, cols]
    __global float *matrix_out,         // [batch, cols, rows]
    const int rows, const int cols)
{
    __local float tile[TILE][TILE + 1];   // one more column, so that a column has no bank conflicts
    const int lc = get_local_id(0), lr = get_local_id(1), n = get_global_id(2);
    const int c0 = get_group_id(0) * TILE, r0 = get_group_id(1) * TILE;
    if (r0 + lr < rows && c0 + lc < cols) tile[lr][lc] = matrix_in[(n * rows + r0 + lr) * cols + c0 + lc];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (c0 + lr < cols && r0 + lc < rows) matrix_out[(n * cols + c0 + lr) * rows + r0 + lc] = tile[lc][lr];
}

// The same where an element of the matrix is a row of numbers.
// grid: rows, cols, batch
__kernel void TransposeRCD(
    __global const float *matrix_in,    // [batch, rows, cols, depth]
    __global float *matrix_out,         // [batch, cols, rows, depth]
    const int rows, const int cols, const int depth)
{
    const int r = get_global_id(0), c = get_global_id(1), n = get_global_id(2);
    __global const float *from = matrix_in + ((n * rows + r) * cols + c) * depth;
    __global float *to = matrix_out + ((n * cols + c) * rows + r) * depth;
    for (int i = 0; i < depth; i += 8) store8(load8(from + i, depth - i), to + i, depth - i);
}
