// matmul_tensor.cl: products of matrices, the dense layer and gradients of its weights on many rows, on tensor cores.
//
//   c[i, j] = act(sum_k a[i, k] b[k, j] + bias[j])
//
// Not both matrices are turned, and their rows are multiples of four. Wide takes 128 x 64 results a work-group, narrow
// 128 x 32, with float32's accuracy; TF32 takes 128 x 128 of numbers rounded to TF32: see tensor_tile.clh.
//
// Used by   ops/matmul_gpu.py, ops/split_weights.py
// Checked against   reference/matmul_tensor.py, reference/split_weights.py

#include "tensor.clh"
#include "tensor_tile.clh"

// c = act(sum + bias) of a block of 32 x 32 results, from row and col on. Those with an activation go through `tile`,
// the warp's own, to a loop: unrolled like the sums it would outgrow the caches for instructions.
static void finish(float (*sum)[4][4], __global const float *bias, __global float *c, const int rows, const int cols,
                   const int row, const int col, const int biased, const int activation, __local float4 *tile)
{
    const int h = LANE_H, t = LANE_T;
    UNROLL
    for (int e = 0; e < 2; ++e) {
        const int quad = t + 4 * e, f = col + 4 * quad;
        const float4 shift = biased ? line4(bias + f, cols - f, 0) : (float4)0.0f;
        UNROLL
        for (int i = 0; i < 4; ++i) {
            const int r = 4 * h + i;
            const float4 z = sums_of(sum, i, e) + shift;
            if (activation != ACT_NONE)
                tile[8 * r + quad] = z;
            else if (row + r < rows)
                put_line4(z, c + (row + r) * cols + f, cols - f, 1);
        }
    }
    if (activation == ACT_NONE) return;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int n = get_local_id(0) % 32; n < 256; n += 32) {
        const int r = row + n / 8, f = col + 4 * (n % 8);
        const float4 z = tile[n];
        const float4 y = (float4)(activate(z.s0, activation), activate(z.s1, activation),
                                  activate(z.s2, activation), activate(z.s3, activation));
        if (r < rows) put_line4(y, c + r * cols + f, cols - f, 1);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

// All of a work-group. Constants are `turned` and the last six, see tensor_tile.clh.
static void product(__global const float *a, __global const float *b, __global const float *bias, __global float *c,
                    const int rows, const int cols, const int a_rows, const int a_cols, const int b_rows,
                    const int b_cols, const int turned_a, const int turned_b, const int biased, const int activation,
                    __local float4 *tiles, __local uint *exchange, const int warps_down, const int warps_across,
                    const int blocks_down, const int blocks_across, const int stages, const int terms)
{
    const int warp = get_local_id(0) / 32, v = get_group_id(2);
    const int row = 32 * warps_down * blocks_down * get_group_id(1);
    const int col = 32 * warps_across * blocks_across * get_group_id(0);
    float sum[2][2][2][4][4];
    sum_products(a + v * a_rows * a_cols, a_cols, turned_a, row, rows, b + v * b_rows * b_cols, b_cols, turned_b, col,
                 cols, turned_a ? a_rows : a_cols, tiles, exchange, sum, 0, 0, warps_down, warps_across, blocks_down,
                 blocks_across, stages, terms);
    UNROLL
    for (int d = 0; d < blocks_down; ++d)
        UNROLL
        for (int u = 0; u < blocks_across; ++u)
            finish(sum[d][u], bias, c + v * rows * cols, rows, cols,
                   row + 32 * (blocks_down * (warp / warps_across) + d),
                   col + 32 * (blocks_across * (warp % warps_across) + u), biased, activation, tiles + 256 * warp);
}

#define PRODUCT(turned_a, turned_b, warps_down, warps_across, blocks_down, blocks_across, stages, terms)                \
    product(a, b, bias, c, rows, cols, a_rows, a_cols, b_rows, b_cols, turned_a, turned_b, biased, activation, tiles,  \
            exchange, warps_down, warps_across, blocks_down, blocks_across, stages, terms)
#define ANY_PRODUCT(warps_down, warps_across, blocks_down, blocks_across, stages, terms)                               \
    if (turned_a) PRODUCT(1, 0, warps_down, warps_across, blocks_down, blocks_across, stages, terms);                \
    else if (turned_b) PRODUCT(0, 1, warps_down, warps_across, blocks_down, blocks_across, stages, terms);           \
    else PRODUCT(0, 0, warps_down, warps_across, blocks_down, blocks_across, stages, terms)

// group: 128, 1, 1
// grid: cols/64*128, rows/128, variables
__kernel void MatMultTensorWide(
    __global const float *a,    // [variables, a_rows, a_cols]     [rows, depth], or turned: [depth, rows]
    __global const float *b,    // [variables, b_rows, b_cols]     [depth, cols], or turned: [cols, depth]
    __global const float *bias, // [biases]                        [cols]; not read unless biased
    __global float *c,          // [variables, rows, cols]
    const int rows, const int cols, const int a_rows, const int a_cols, const int b_rows, const int b_cols,
    const int turned_a, const int turned_b, const int biased, const int activation)
{
    __local float4 tiles[3 * 4 * (128 + 64)];
    EXCHANGE(exchange, 128);
    ANY_PRODUCT(2, 2, 2, 1, 3, 3);
}

// group: 128, 1, 1
// grid: cols/32*128, rows/128, variables
__kernel void MatMultTensorNarrow(
    __global const float *a,    // [variables, a_rows, a_cols]     [rows, depth], or turned: [depth, rows]
    __global const float *b,    // [variables, b_rows, b_cols]     [depth, cols], or turned: [cols, depth]
    __global const float *bias, // [biases]                        [cols]; not read unless biased
    __global float *c,          // [variables, rows, cols]
    const int rows, const int cols, const int a_rows, const int a_cols, const int b_rows, const int b_cols,
    const int turned_a, const int turned_b, const int biased, const int activation)
{
    __local float4 tiles[3 * 4 * (128 + 32)];
    EXCHANGE(exchange, 128);
    ANY_PRODUCT(4, 1, 1, 1, 3, 3);
}

// group: 128, 1, 1
// grid: cols/128*128, rows/128, variables
__kernel void MatMultTF32(
    __global const float *a,    // [variables, a_rows, a_cols]     [rows, depth], or turned: [depth, rows]
    __global const float *b,    // [variables, b_rows, b_cols]     [depth, cols], or turned: [cols, depth]
    __global const float *bias, // [biases]                        [cols]; not read unless biased
    __global float *c,          // [variables, rows, cols]
    const int rows, const int cols, const int a_rows, const int a_cols, const int b_rows, const int b_cols,
    const int turned_a, const int turned_b, const int biased, const int activation)
{
    __local float4 tiles[2 * 4 * (128 + 128)];
    EXCHANGE(exchange, 128);
    ANY_PRODUCT(2, 2, 2, 2, 2, 1);
}

// --- the same of split_weights.cl: dw[f, k] = sum_r dz[r, f] x[r, k], db[f] = sum_r dz[r, f] ---------------------

// group: 128, 1, 1
// grid: window/64*128, window_out/64, splits
__kernel void SplitWeightsGradientTensor(
    __global const float *x,        // [rows, window]
    __global const float *dz,       // [rows, window_out]
    __global float *parts,          // [splits, window_out, columns]
    const int rows, const int window, const int window_out, const int columns, const int some)
{
    __local float4 tiles[3 * 4 * (64 + 64)];
    EXCHANGE(exchange, 128);
    const int id = get_local_id(0), right = id / 32 % 2, h = LANE_H, t = LANE_T;
    const int f0 = 64 * get_group_id(1), k0 = 64 * get_group_id(0), part = get_group_id(2), begin = part * some;
    const int f = f0 + 32 * (id / 64) + 4 * h;
    float sum[2][2][2][4][4];
    float4 total = 0.0f;
    sum_products(dz + begin * window_out, window_out, 1, f0, window_out, x + begin * window, window, 0, k0, window,
                 min(some, rows - begin), tiles, exchange, sum, &total, 1, 2, 2, 1, 1, 3, 3);
    parts += (part * window_out + f) * columns;
    UNROLL
    for (int r = 0; r < 4; ++r)
        UNROLL
        for (int e = 0; e < 2; ++e) {
            const int k = k0 + 32 * right + 16 * e + 4 * t;
            if (f + r < window_out) put_line4(sums_of(sum[0][0], r, e), parts + r * columns + k, window - k, 1);
        }
    tiles[id] = total;          // of four lanes each with the same rows
    barrier(CLK_LOCAL_MEM_FENCE);
    if (k0 + right + t > 0 || f >= window_out) return;
    const float4 biases = (tiles[id] + tiles[id + 1]) + (tiles[id + 2] + tiles[id + 3]);
    parts += columns - 4;
    parts[0] = biases.s0;
    parts[columns] = biases.s1;
    parts[2 * columns] = biases.s2;
    parts[3 * columns] = biases.s3;
}
