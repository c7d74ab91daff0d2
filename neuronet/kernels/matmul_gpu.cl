// matmul_gpu.cl: products of matrices on a GPU, and the dense layer on many rows.
//
//   c[i, j] = act(sum_k a[i, k] b[k, j] + bias[j])
//
// A work-group of 8 x 8 loads tiles of a and b, 16 deep, into local memory, and a work-item sums 8 rows of results: 8
// columns of them where 64 x 64 results make a work-group (wide), else 4, of 64 x 32 (narrow), so that a narrow or a
// small product has work-groups for the whole card. What comes next in depth is on its way into registers meanwhile.
// Matrices whose rows are no multiples of four have a kernel of their own (ragged). One kernel each for all products,
// with a and b as they are or turned: where a compiler does not optimise, each would take local memory of its own.
//
// Used by   ops/matmul_gpu.py        Checked against   reference/matmul_gpu.py

#include "tile.clh"

#define DEPTH 16
#define ROWS 64     // results of a work-group

// c = act(sum + bias) of a work-group. Results with an activation go through local memory, 32 rows at a time, to a
// loop: unrolled like the sums it would outgrow the caches for instructions.
static void finish(float4 (*sum)[8], __global const float *bias, __global float *c, const int rows, const int cols,
                   const int row, const int col, const int biased, const int activation, __local float4 *tiles,
                   const int blocks, const int whole)
{
    const int lx = get_local_id(0), ly = get_local_id(1), id = 8 * ly + lx, wide = 8 * blocks;
    if (biased) {
        #pragma unroll
        for (int u = 0; u < blocks; ++u) {
            const int f = col + 4 * lx + 32 * u;
            const float4 shift = line4(bias + f, cols - f, 0);
            #pragma unroll
            for (int i = 0; i < 8; ++i)
                sum[u][i] += shift;
        }
    }
    #pragma unroll
    for (int part = 0; part < 2; ++part) {
        const int top = row + 32 * part;
        if (activation == ACT_NONE) {
            #pragma unroll
            for (int i = 0; i < 4; ++i) {
                const int r = top + 4 * ly + i;
                #pragma unroll
                for (int u = 0; u < blocks; ++u) {
                    const int f = col + 4 * lx + 32 * u;
                    if (r < rows) put_line4(sum[u][4 * part + i], c + r * cols + f, cols - f, whole);
                }
            }
        } else {
            barrier(CLK_LOCAL_MEM_FENCE);
            #pragma unroll
            for (int i = 0; i < 4; ++i)
                #pragma unroll
                for (int u = 0; u < blocks; ++u)
                    tiles[(4 * ly + i) * wide + lx + 8 * u] = sum[u][4 * part + i];
            barrier(CLK_LOCAL_MEM_FENCE);
            for (int n = id; n < 32 * wide; n += ITEMS) {
                const int r = top + n / wide, f = col + 4 * (n % wide);
                const float4 z = tiles[n];
                const float4 y = (float4)(activate(z.s0, activation), activate(z.s1, activation),
                                          activate(z.s2, activation), activate(z.s3, activation));
                if (r < rows) put_line4(y, c + r * cols + f, cols - f, whole);
            }
        }
    }
}

// All of a work-group: 64 results down, 32 * blocks across. `blocks` and `whole`, see tile.clh, are constants.
static void product(__global const float *a, __global const float *b, __global const float *bias, __global float *c,
                    const int rows, const int cols, const int a_rows, const int a_cols, const int b_rows,
                    const int b_cols, const int turned_a, const int turned_b, const int biased, const int activation,
                    __local float4 *tiles, const int blocks, const int whole)
{
    const int lx = get_local_id(0), ly = get_local_id(1), id = 8 * ly + lx, v = get_group_id(2), across = 32 * blocks;
    const int row = ROWS * get_group_id(1), col = across * get_group_id(0), depth = turned_a ? a_rows : a_cols;
    __local float4 *a_tile = tiles, *b_tile = tiles + DEPTH * PITCH(ROWS);
    a += v * a_rows * a_cols;
    b += v * b_rows * b_cols;
    float4 sum[2][8], next_a[4], next_b[4];
    #pragma unroll
    for (int i = 0; i < 8; ++i)
        sum[0][i] = sum[1][i] = 0.0f;
    fetch(a, a_cols, !turned_a, row, rows, 0, depth, id, ROWS, DEPTH, whole, next_a);
    fetch(b, b_cols, turned_b, col, cols, 0, depth, id, across, DEPTH, whole, next_b);
    for (int k0 = 0; k0 < depth; k0 += DEPTH) {
        put(a_tile, !turned_a, id, ROWS, DEPTH, next_a);
        put(b_tile, turned_b, id, across, DEPTH, next_b);
        barrier(CLK_LOCAL_MEM_FENCE);
        fetch(a, a_cols, !turned_a, row, rows, k0 + DEPTH, depth, id, ROWS, DEPTH, whole, next_a);
        fetch(b, b_cols, turned_b, col, cols, k0 + DEPTH, depth, id, across, DEPTH, whole, next_b);
        #pragma unroll
        for (int k = 0; k < DEPTH; ++k) {
            const float4 p = a_tile[k * PITCH(ROWS) + ly], q = a_tile[k * PITCH(ROWS) + ly + 8];
            #pragma unroll
            for (int u = 0; u < blocks; ++u) {
                const float4 r = b_tile[k * PITCH(across) + lx + 8 * u];
                add_rows(sum[u], p, r);
                add_rows(sum[u] + 4, q, r);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    finish(sum, bias, c + v * rows * cols, rows, cols, row, col, biased, activation, tiles, blocks, whole);
}

#define TILES(across) (DEPTH * (PITCH(ROWS) + PITCH(across)))

// group: 8, 8, 1
// grid: cols/64*8, rows/64*8, variables
__kernel void MatMultWide(
    __global const float *a,    // [variables, a_rows, a_cols]     [rows, depth], or turned: [depth, rows]
    __global const float *b,    // [variables, b_rows, b_cols]     [depth, cols], or turned: [cols, depth]
    __global const float *bias, // [biases]                        [cols]; not read unless biased
    __global float *c,          // [variables, rows, cols]
    const int rows, const int cols, const int a_rows, const int a_cols, const int b_rows, const int b_cols,
    const int turned_a, const int turned_b, const int biased, const int activation)
{
    __local float4 tiles[TILES(64)];
    product(a, b, bias, c, rows, cols, a_rows, a_cols, b_rows, b_cols, turned_a, turned_b, biased, activation,
            tiles, 2, 1);
}

// group: 8, 8, 1
// grid: cols/32*8, rows/64*8, variables
__kernel void MatMultNarrow(
    __global const float *a,    // [variables, a_rows, a_cols]     [rows, depth], or turned: [depth, rows]
    __global const float *b,    // [variables, b_rows, b_cols]     [depth, cols], or turned: [cols, depth]
    __global const float *bias, // [biases]                        [cols]; not read unless biased
    __global float *c,          // [variables, rows, cols]
    const int rows, const int cols, const int a_rows, const int a_cols, const int b_rows, const int b_cols,
    const int turned_a, const int turned_b, const int biased, const int activation)
{
    __local float4 tiles[TILES(32)];
    product(a, b, bias, c, rows, cols, a_rows, a_cols, b_rows, b_cols, turned_a, turned_b, biased, activation,
            tiles, 1, 1);
}

// group: 8, 8, 1
// grid: cols/32*8, rows/64*8, variables
__kernel void MatMultRagged(
    __global const float *a,    // [variables, a_rows, a_cols]     [rows, depth], or turned: [depth, rows]
    __global const float *b,    // [variables, b_rows, b_cols]     [depth, cols], or turned: [cols, depth]
    __global const float *bias, // [biases]                        [cols]; not read unless biased
    __global float *c,          // [variables, rows, cols]
    const int rows, const int cols, const int a_rows, const int a_cols, const int b_rows, const int b_cols,
    const int turned_a, const int turned_b, const int biased, const int activation)
{
    __local float4 tiles[TILES(32)];
    product(a, b, bias, c, rows, cols, a_rows, a_cols, b_rows, b_cols, turned_a, turned_b, biased, activation,
            tiles, 1, 0);
}
