// matmul_wide.cl: products of large matrices on a GPU, and the dense layer on many rows.
//
// A work-group of 16 x 16 makes 128 x 128 results, 8 x 8 per work-item: a step in depth then costs 16 reads of
// local memory for 64 products. The next 16 of the depth are on their way into registers meanwhile.
//
// Used by   ops/matmul_wide.py        Checked against   reference/matmul_wide.py

#define SIDE 128
#define DEPTH 16
#define PITCH (SIDE + 4)    // so that the columns of a tile begin in different banks

// Eight numbers of a tile for one work-item, 0 outside: m[i, k] at m[i * across + k * along], i < count, k < depth.
// Neighbouring work-items read neighbours in memory, along k or across i.
static float8 fetch(__global const float *m, const int across, const int along, const int first, const int count,
                    const int k0, const int depth)
{
    const int id = get_local_id(1) * 16 + get_local_id(0);
    float some[8];
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
        const int k = k0 + (along == 1 ? id % DEPTH : id / SIDE + 2 * j);
        const int i = first + (along == 1 ? id / DEPTH + 16 * j : id % SIDE);
        some[j] = i < count && k < depth ? m[i * across + k * along] : 0.0f;
    }
    return vload8(0, some);
}

static void put(__local float *tile, const int along, const float8 values)
{
    const int id = get_local_id(1) * 16 + get_local_id(0);
    float some[8];
    vstore8(values, 0, some);
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
        const int k = along == 1 ? id % DEPTH : id / SIDE + 2 * j;
        const int i = along == 1 ? id / DEPTH + 16 * j : id % SIDE;
        tile[k * PITCH + i] = some[j];
    }
}

// c[i, j] = act(sum_k a[i, k] b[k, j] + bias[j]), with a and b as they are or turned. One kernel for all products,
// as each would take local memory of its own where a compiler does not optimise.
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
        const int r = row + 4 * ly + (i < 4 ? i : 60 + i);
        float values[8];
        vstore4(left[i], 0, values);
        vstore4(right[i], 1, values);
        #pragma unroll
        for (int j = 0; j < 8; ++j) {
            const int f = col + 4 * lx + (j < 4 ? j : 60 + j);
            if (r < rows && f < cols)
                c[r * cols + f] = activate(values[j] + (biased ? bias[f] : 0.0f), activation);
        }
    }
}
