// matmul_gpu.cl: products of matrices on a GPU, and the dense layer on many rows.
//
//   c[i, j] = act(sum_k a[i, k] b[k, j] + bias[j])
//
// Wide, for many results, has 128 x 128 of them in a work-group of 16 x 16, 8 x 8 per work-item: a step in depth costs
// 16 reads of local memory for 64 products. Narrow has 32 x 32 in one of 8 x 8, so that a narrow or a small product has
// work-groups for the whole card. What comes next in depth is on its way into registers meanwhile. One kernel each for
// all products, with a and b as they are or turned: where a compiler does not optimise, each would take local memory.
//
// Used by   ops/matmul_gpu.py        Checked against   reference/matmul_gpu.py

// Number n of what work-item ``id`` of ``items`` loads of a tile that is ``side`` wide and ``depth`` deep: m[i, k] at
// m[i * across + k * along]. Neighbours read neighbours in memory, eight along k, which then go to banks of their own.
static int k_of(const int along, const int id, const int items, const int side, const int depth, const int n)
{
    return along == 1 ? id % 8 + n % (depth / 8) * 8 : (id + n * items) / side;
}
static int i_of(const int along, const int id, const int items, const int side, const int depth, const int n)
{
    return along == 1 ? id / 8 + n / (depth / 8) * (items / 8) : (id + n * items) % side;
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
        for (int j = 0; j < min(4, left); ++j)
            c[j] = values[j];
}

// --- 128 x 128 ----------------------------------------------------------------------------------------

#define SIDE 128
#define DEPTH 16
#define PITCH (SIDE + 4)    // so that the rows of a tile begin in different banks

// Eight numbers of a tile for one work-item, 0 outside
static float8 fetch(__global const float *m, const int across, const int along, const int first, const int count,
                    const int k0, const int depth)
{
    const int id = get_local_id(1) * 16 + get_local_id(0);
    float some[8];
    #pragma unroll
    for (int n = 0; n < 8; ++n) {
        const int k = k0 + k_of(along, id, 256, SIDE, DEPTH, n), i = first + i_of(along, id, 256, SIDE, DEPTH, n);
        some[n] = i < count && k < depth ? m[i * across + k * along] : 0.0f;
    }
    return vload8(0, some);
}

static void put(__local float *tile, const int along, const float8 values)
{
    const int id = get_local_id(1) * 16 + get_local_id(0);
    float some[8];
    vstore8(values, 0, some);
    #pragma unroll
    for (int n = 0; n < 8; ++n)
        tile[k_of(along, id, 256, SIDE, DEPTH, n) * PITCH + i_of(along, id, 256, SIDE, DEPTH, n)] = some[n];
}

// group: 16, 16, 1
// grid: cols/128*16, rows/128*16, variables
__kernel void MatMultWide(
    __global const float *a,    // [variables, a_rows, a_cols]     [rows, depth], or turned: [depth, rows]
    __global const float *b,    // [variables, b_rows, b_cols]     [depth, cols], or turned: [cols, depth]
    __global const float *bias, // [biases]                        [cols]; not read unless biased
    __global float *c,          // [variables, rows, cols]
    const int rows, const int cols, const int a_rows, const int a_cols, const int b_rows, const int b_cols,
    const int turned_a, const int turned_b, const int biased, const int activation)
{
    __local float a_tile[DEPTH * PITCH], b_tile[DEPTH * PITCH];
    const int lx = get_local_id(0), ly = get_local_id(1), v = get_group_id(2);
    const int row = get_group_id(1) * SIDE, col = get_group_id(0) * SIDE;
    const int depth = turned_a ? a_rows : a_cols;
    const int a_across = turned_a ? 1 : a_cols, a_along = turned_a ? a_cols : 1;
    const int b_across = turned_b ? b_cols : 1, b_along = turned_b ? 1 : b_cols;
    a += v * a_rows * a_cols;
    b += v * b_rows * b_cols;
    c += v * rows * cols;
    float4 left[8] = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
    float4 right[8] = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
    float8 next_a = fetch(a, a_across, a_along, row, rows, 0, depth);
    float8 next_b = fetch(b, b_across, b_along, col, cols, 0, depth);
    for (int k0 = 0; k0 < depth; k0 += DEPTH) {
        put(a_tile, a_along, next_a);
        put(b_tile, b_along, next_b);
        barrier(CLK_LOCAL_MEM_FENCE);
        next_a = fetch(a, a_across, a_along, row, rows, k0 + DEPTH, depth);
        next_b = fetch(b, b_across, b_along, col, cols, k0 + DEPTH, depth);
        #pragma unroll
        for (int k = 0; k < DEPTH; ++k) {
            float p[8];
            vstore4(vload4(ly, a_tile + k * PITCH), 0, p);
            vstore4(vload4(ly, a_tile + k * PITCH + 64), 1, p);
            const float4 q = vload4(lx, b_tile + k * PITCH), r = vload4(lx, b_tile + k * PITCH + 64);
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
        put4(right[i], bias + f + 64, c + r * cols + f + 64, cols - f - 64, biased, cols, activation);
    }
}

// --- 32 x 32 ------------------------------------------------------------------------------------------

#define SHORT 32            // results per side, and terms in depth at a time
#define SHORT_PITCH (SHORT + 4)

// Sixteen numbers of a tile for one work-item, 0 outside
static void fetch_short(__global const float *m, const int across, const int along, const int first, const int count,
                        const int k0, const int depth, float *some)
{
    const int id = get_local_id(1) * 8 + get_local_id(0);
    #pragma unroll
    for (int n = 0; n < 16; ++n) {
        const int k = k0 + k_of(along, id, 64, SHORT, SHORT, n), i = first + i_of(along, id, 64, SHORT, SHORT, n);
        some[n] = i < count && k < depth ? m[i * across + k * along] : 0.0f;
    }
}

static void put_short(__local float *tile, const int along, const float *some)
{
    const int id = get_local_id(1) * 8 + get_local_id(0);
    #pragma unroll
    for (int n = 0; n < 16; ++n)
        tile[k_of(along, id, 64, SHORT, SHORT, n) * SHORT_PITCH + i_of(along, id, 64, SHORT, SHORT, n)] = some[n];
}

// group: 8, 8, 1
// grid: cols/32*8, rows/32*8, variables
__kernel void MatMultNarrow(
    __global const float *a,    // [variables, a_rows, a_cols]     [rows, depth], or turned: [depth, rows]
    __global const float *b,    // [variables, b_rows, b_cols]     [depth, cols], or turned: [cols, depth]
    __global const float *bias, // [biases]                        [cols]; not read unless biased
    __global float *c,          // [variables, rows, cols]
    const int rows, const int cols, const int a_rows, const int a_cols, const int b_rows, const int b_cols,
    const int turned_a, const int turned_b, const int biased, const int activation)
{
    __local float a_tile[SHORT * SHORT_PITCH], b_tile[SHORT * SHORT_PITCH];
    const int lx = get_local_id(0), ly = get_local_id(1), v = get_group_id(2);
    const int row = get_group_id(1) * SHORT, col = get_group_id(0) * SHORT;
    const int depth = turned_a ? a_rows : a_cols;
    const int a_across = turned_a ? 1 : a_cols, a_along = turned_a ? a_cols : 1;
    const int b_across = turned_b ? b_cols : 1, b_along = turned_b ? 1 : b_cols;
    a += v * a_rows * a_cols;
    b += v * b_rows * b_cols;
    c += v * rows * cols;
    float4 sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    float next_a[16], next_b[16];
    fetch_short(a, a_across, a_along, row, rows, 0, depth, next_a);
    fetch_short(b, b_across, b_along, col, cols, 0, depth, next_b);
    for (int k0 = 0; k0 < depth; k0 += SHORT) {
        put_short(a_tile, a_along, next_a);
        put_short(b_tile, b_along, next_b);
        barrier(CLK_LOCAL_MEM_FENCE);
        fetch_short(a, a_across, a_along, row, rows, k0 + SHORT, depth, next_a);
        fetch_short(b, b_across, b_along, col, cols, k0 + SHORT, depth, next_b);
        #pragma unroll
        for (int k = 0; k < SHORT; ++k) {
            const float4 p = vload4(ly, a_tile + k * SHORT_PITCH), q = vload4(lx, b_tile + k * SHORT_PITCH);
            sum[0] += p.s0 * q;
            sum[1] += p.s1 * q;
            sum[2] += p.s2 * q;
            sum[3] += p.s3 * q;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    #pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int r = row + 4 * ly + i, f = col + 4 * lx;
        if (r < rows) put4(sum[i], bias + f, c + r * cols + f, cols - f, biased, cols, activation);
    }
}
