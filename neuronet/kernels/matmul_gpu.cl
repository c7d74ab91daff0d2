// matmul_gpu.cl: products of matrices on a GPU, and the dense layer on many rows.
//
//   c[i, j] = act(sum_k a[i, k] b[k, j] + bias[j])
//
// A work-group loads tiles of a and b, 16 deep, into local memory, and a work-item sums 8 rows of results: 8 columns
// of them where 128 x 64 results make a work-group (wide), else 4, of 64 x 32 (narrow), so that a narrow or a small
// product has work-groups for the whole card. What comes next in depth is on its way into registers meanwhile. One
// kernel each for all products, with a and b as they are or turned: where a compiler does not optimise, each would
// take local memory of its own.
//
// Used by   ops/matmul_gpu.py        Checked against   reference/matmul_gpu.py

#define DEPTH 16

// Number n of what work-item ``id`` of ``items`` loads of a tile of ``side`` times DEPTH: m[i, k] at
// m[i * across + k * along]. Neighbours read neighbours in memory, eight along k, which then go to banks of their own.
static int k_of(const int along, const int id, const int items, const int side, const int n)
{
    return along == 1 ? id % 8 + n % (DEPTH / 8) * 8 : (id + n * items) / side;
}
static int i_of(const int along, const int id, const int items, const int side, const int n)
{
    return along == 1 ? id / 8 + n / (DEPTH / 8) * (items / 8) : (id + n * items) % side;
}

static void fetch(__global const float *m, const int across, const int along, const int first, const int count,
                  const int k0, const int depth, const int id, const int items, const int side, float *some)
{
    #pragma unroll
    for (int n = 0; n < side * DEPTH / items; ++n) {
        const int k = k0 + k_of(along, id, items, side, n), i = first + i_of(along, id, items, side, n);
        some[n] = i < count && k < depth ? m[i * across + k * along] : 0.0f;
    }
}

// The rows of a tile are four longer than it is wide, so that they begin in different banks
static void put(__local float *tile, const int along, const int id, const int items, const int side, const float *some)
{
    #pragma unroll
    for (int n = 0; n < side * DEPTH / items; ++n)
        tile[k_of(along, id, items, side, n) * (side + 4) + i_of(along, id, items, side, n)] = some[n];
}

// c = act(sum + bias) for four neighbours, of which the first ``left`` are there; at once where rows are aligned
static void put4(const float4 sum, __global const float *bias, __global float *c, const int left, const int biased,
                 const int cols, const int activation)
{
    float values[4];
    vstore4(sum, 0, values);
    #pragma unroll
    for (int j = 0; j < 4; ++j)
        values[j] = activate(values[j] + (biased && j < left ? bias[j] : 0.0f), activation);
    if (cols % 4 == 0 && left > 0) *(__global float4 *)c = vload4(0, values);
    else
        #pragma unroll
        for (int j = 0; j < 4; ++j)
            if (j < left) c[j] = values[j];
}

// --- 128 x 64 -----------------------------------------------------------------------------------------

// group: 8, 16, 1
// grid: cols/64*8, rows/128*16, variables
__kernel void MatMultWide(
    __global const float *a,    // [variables, a_rows, a_cols]     [rows, depth], or turned: [depth, rows]
    __global const float *b,    // [variables, b_rows, b_cols]     [depth, cols], or turned: [cols, depth]
    __global const float *bias, // [biases]                        [cols]; not read unless biased
    __global float *c,          // [variables, rows, cols]
    const int rows, const int cols, const int a_rows, const int a_cols, const int b_rows, const int b_cols,
    const int turned_a, const int turned_b, const int biased, const int activation)
{
    __local float a_tile[DEPTH * (128 + 4)], b_tile[DEPTH * (64 + 4)];
    const int lx = get_local_id(0), ly = get_local_id(1), id = 8 * ly + lx, v = get_group_id(2);
    const int row = 128 * get_group_id(1), col = 64 * get_group_id(0), depth = turned_a ? a_rows : a_cols;
    const int a_across = turned_a ? 1 : a_cols, a_along = turned_a ? a_cols : 1;
    const int b_across = turned_b ? b_cols : 1, b_along = turned_b ? 1 : b_cols;
    a += v * a_rows * a_cols;
    b += v * b_rows * b_cols;
    c += v * rows * cols;
    float4 left[8] = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
    float4 right[8] = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
    float next_a[16], next_b[8];
    fetch(a, a_across, a_along, row, rows, 0, depth, id, 128, 128, next_a);
    fetch(b, b_across, b_along, col, cols, 0, depth, id, 128, 64, next_b);
    for (int k0 = 0; k0 < depth; k0 += DEPTH) {
        put(a_tile, a_along, id, 128, 128, next_a);
        put(b_tile, b_along, id, 128, 64, next_b);
        barrier(CLK_LOCAL_MEM_FENCE);
        fetch(a, a_across, a_along, row, rows, k0 + DEPTH, depth, id, 128, 128, next_a);
        fetch(b, b_across, b_along, col, cols, k0 + DEPTH, depth, id, 128, 64, next_b);
        #pragma unroll
        for (int k = 0; k < DEPTH; ++k) {
            __local const float *a_row = a_tile + k * (128 + 4), *b_row = b_tile + k * (64 + 4);
            float p[8];
            vstore4(vload4(ly, a_row), 0, p);
            vstore4(vload4(ly, a_row + 64), 1, p);
            const float4 q = vload4(lx, b_row), r = vload4(lx, b_row + 32);
            #pragma unroll
            for (int i = 0; i < 8; ++i) {
                left[i] += p[i] * q;
                right[i] += p[i] * r;
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    #pragma unroll
    for (int i = 0; i < 8; ++i) {
        const int r = row + 4 * ly + (i < 4 ? i : 60 + i), f = col + 4 * lx;
        if (r >= rows) continue;
        put4(left[i], bias + f, c + r * cols + f, cols - f, biased, cols, activation);
        put4(right[i], bias + f + 32, c + r * cols + f + 32, cols - f - 32, biased, cols, activation);
    }
}

// --- 64 x 32 ------------------------------------------------------------------------------------------

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
    __local float a_tile[DEPTH * (64 + 4)], b_tile[DEPTH * (32 + 4)];
    const int lx = get_local_id(0), ly = get_local_id(1), id = 8 * ly + lx, v = get_group_id(2);
    const int row = 64 * get_group_id(1), col = 32 * get_group_id(0), depth = turned_a ? a_rows : a_cols;
    const int a_across = turned_a ? 1 : a_cols, a_along = turned_a ? a_cols : 1;
    const int b_across = turned_b ? b_cols : 1, b_along = turned_b ? 1 : b_cols;
    a += v * a_rows * a_cols;
    b += v * b_rows * b_cols;
    c += v * rows * cols;
    float4 sum[8] = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
    float next_a[16], next_b[8];
    fetch(a, a_across, a_along, row, rows, 0, depth, id, 64, 64, next_a);
    fetch(b, b_across, b_along, col, cols, 0, depth, id, 64, 32, next_b);
    for (int k0 = 0; k0 < depth; k0 += DEPTH) {
        put(a_tile, a_along, id, 64, 64, next_a);
        put(b_tile, b_along, id, 64, 32, next_b);
        barrier(CLK_LOCAL_MEM_FENCE);
        fetch(a, a_across, a_along, row, rows, k0 + DEPTH, depth, id, 64, 64, next_a);
        fetch(b, b_across, b_along, col, cols, k0 + DEPTH, depth, id, 64, 32, next_b);
        #pragma unroll
        for (int k = 0; k < DEPTH; ++k) {
            __local const float *a_row = a_tile + k * (64 + 4), *b_row = b_tile + k * (32 + 4);
            float p[8];
            vstore4(vload4(ly, a_row), 0, p);
            vstore4(vload4(ly, a_row + 32), 1, p);
            const float4 q = vload4(lx, b_row);
            #pragma unroll
            for (int i = 0; i < 8; ++i)
                sum[i] += p[i] * q;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    #pragma unroll
    for (int i = 0; i < 8; ++i) {
        const int r = row + 4 * ly + (i < 4 ? i : 28 + i), f = col + 4 * lx;
        if (r < rows) put4(sum[i], bias + f, c + r * cols + f, cols - f, biased, cols, activation);
    }
}
