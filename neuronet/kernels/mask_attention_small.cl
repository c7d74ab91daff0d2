// mask_attention_small.cl: mask_attention_complex.cl and its gradients on a GPU, for up to 20 and up to 32
// units and vectors of up to 32 floats.
//
// A work-group of 32 has some heads of a row, one after the other, with all of a head in local memory, in
// tiles with a row of 32 floats for each unit. Work-item ``lane`` computes the rows a + 4 t, t < R, of a
// product, with a = lane / 8 and b = lane % 8: in them the units b + 8 u, u < U, or the floats 4 b to 4 b +
// 3. R and U are literals in the kernels, so that sums stay in registers; 4 R and 8 U are at least the units.
// What is read from local memory serves R or U products.
//
// Used by   ops/mask_attention_complex.py, ops/mask_attention_gradients.py
// Checked against   reference/mask_attention_small.py
// Source    that of mask_attention_complex.cl and mask_attention_gradients.cl, which have the formulas.
// Overwrites what those do. scratch is the CPU's. BY8 is for CPUs that check these kernels: one's compiler
//           breaks when it packs work-items with private arrays.

#include "mask_attention.clh"
#include "mask_attention_small.clh"

// --- forward ---------------------------------------------------------------------------------------------

// Head h of row r, with the keys and values of g. Tiles: of q, then of p; of k; of v
INLINE void attend(const int R, const int U, const int r, const int part, const int g, const int h,
                   __global const float *q, __global const float *kv, __global const float *mask,
                   __global float *sums, __global float *lse, __global float *out, const int parts,
                   const int units, const int heads, const int width, const int q_width, const int kv_width,
                   const int heads_kv, const int k_column, const int alike, const float scale,
                   const float closed, const float eps, __local float4 *tiles, __local float *some,
                   __local float *lines)
{
    const int k_at = r * units * kv_width + k_column + g * width, lse_at = r * units * heads + h;
    __local float4 *p = tiles, *keys = p + 8 * U * FOURS, *values = keys + 8 * U * FOURS;
    __local float *line = lines, *turn = lines + TILE;
    const int lane = get_local_id(0), row = lane / 8, column = lane % 8;
    float s[8][4], c[8][4], m[8][4];
    load_tile(U, q, r * units * q_width + h * width, q_width, units, width, p);
    load_tile(U, kv, k_at, kv_width, units, width, keys);
    load_tile(U, kv, k_at + heads_kv * width, kv_width, units, width, values);
    read_cells(R, U, mask, r * units * units, units, m);
    barrier(CLK_LOCAL_MEM_FENCE);
    dots(R, U, p, keys, width, s);
    if (alike) {
        line[lane] = own_direction(p, units, eps);
        turn[lane] = own_direction(keys, units, eps);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (alike) {
        #pragma unroll
        for (int t = 0; t < R; ++t)
            #pragma unroll
            for (int u = 0; u < U; ++u)
                c[t][u] = s[t][u] * (line[row + 4 * t] * turn[column + 8 * u]);
        add_cells(R, U, c, h != part, sums, (r * parts + part) * units * units, units);
    }
    #pragma unroll
    for (int t = 0; t < R; ++t) {
        const int i = row + 4 * t;
        float most = -INFINITY;
        #pragma unroll
        for (int u = 0; u < U; ++u) {
            const int j = column + 8 * u;
            const float l = s[t][u] * open(m[t][u], i == j, scale) + shut(m[t][u], i == j, closed);
            s[t][u] = j < units ? l : -INFINITY;
            most = fmax(most, s[t][u]);
        }
        some[i * 9 + column] = most;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    float top = -INFINITY;
    if (lane < units) {
        #pragma unroll
        for (int e = 0; e < 8; ++e)
            top = fmax(top, some[lane * 9 + e]);
    }
    line[lane] = top;
    barrier(CLK_LOCAL_MEM_FENCE);
    #pragma unroll
    for (int t = 0; t < R; ++t) {
        const int i = row + 4 * t;
        float all = 0.0f;
        #pragma unroll
        for (int u = 0; u < U; ++u) {
            const float e = exp(s[t][u] - line[i]);         // NaN behind the last row, which nothing reads
            ((__local float *)p)[i * FLOATS + column + 8 * u] = e;
            all += e;
        }
        some[i * 9 + column] = all;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const float all = own_sum(some, 8, units);
    if (lane < units) lse[lse_at + lane * heads] = top + log(all);
    line[lane] = 1.0f / all;
    barrier(CLK_LOCAL_MEM_FENCE);
    float4 o[8];
    weigh(R, p, values, units, o);
    #pragma unroll
    for (int t = 0; t < R; ++t)
        o[t] *= line[row + 4 * t];
    write_rows(R, o, out, lse_at * width, heads * width, units, width);
    barrier(CLK_LOCAL_MEM_FENCE);
}

#define ATTEND(R, U) \
    __local float4 tiles[3 * 8 * U * FOURS]; \
    __local float some[9 * 4 * R], lines[2 * TILE]; \
    const int part = get_global_id(1), r = get_global_id(2), width = 2 * dimension; \
    for (int g = part; g < heads_kv; g += parts) \
        for (int h = g; h < heads; h += heads_kv) \
            attend(R, U, r, part, g, h, q, kv, mask, sums, lse, out, parts, units, heads, width, q_width, \
                   kv_width, heads_kv, k_column, alike, scale, closed, eps, tiles, some, lines);

// group: 32, 1, 1
// grid: 32, parts, rows
__kernel BY8 void MaskAttentionComplex20(
    __global const float *q,        // [rows, units, q_width]
    __global const float *kv,       // [rows, units, kv_width]
    __global const float *mask,     // [rows, units, units]
    __global float *scratch,        // [items, space]
    __global float *sums,           // [rows, parts, units, units]
    __global float *lse,            // [rows, units, heads]
    __global float *out,            // [rows, units, heads, dimension, 2]
    const int parts, const int units, const int heads, const int dimension, const int q_width,
    const int kv_width, const int heads_kv, const int k_column, const int alike, const float scale,
    const float closed, const float eps)
{
    ATTEND(5, 3)
}

// group: 32, 1, 1
// grid: 32, parts, rows
__kernel BY8 void MaskAttentionComplex32(
    __global const float *q,        // [rows, units, q_width]
    __global const float *kv,       // [rows, units, kv_width]
    __global const float *mask,     // [rows, units, units]
    __global float *scratch,        // [items, space]
    __global float *sums,           // [rows, parts, units, units]
    __global float *lse,            // [rows, units, heads]
    __global float *out,            // [rows, units, heads, dimension, 2]
    const int parts, const int units, const int heads, const int dimension, const int q_width,
    const int kv_width, const int heads_kv, const int k_column, const int alike, const float scale,
    const float closed, const float eps)
{
    ATTEND(8, 4)
}

// --- backward --------------------------------------------------------------------------------------------

// The same. Tiles: of q; of k; of dout, then of ds; of v, then of p and of ds transposed
INLINE void attend_back(const int R, const int U, const int r, const int part, const int g, const int h,
                        __global const float *q, __global const float *kv, __global const float *mask,
                        __global const float *lse, __global const float *out, __global const float *dout,
                        __global const float *dcosines, __global float *sums, __global float *dq,
                        __global float *dkv, const int parts, const int units, const int heads,
                        const int width, const int q_width, const int kv_width, const int heads_kv,
                        const int k_column, const int alike, const float scale, const float closed,
                        const float eps, __local float4 *tiles, __local float *some, __local float *few,
                        __local float *lines)
{
    const int q_at = r * units * q_width + h * width, k_at = r * units * kv_width + k_column + g * width;
    const int v_at = k_at + heads_kv * width, lse_at = r * units * heads + h, cells_at = r * units * units;
    const int wide = heads * width;
    __local float4 *queries = tiles, *keys = queries + 8 * U * FOURS, *c = keys + 8 * U * FOURS;
    __local float4 *d = c + 8 * U * FOURS;
    __local float *across = (__local float *)c, *down = (__local float *)d;
    __local float *line = lines, *mean = line + TILE, *q_turn = mean + TILE, *k_turn = q_turn + TILE;
    const int lane = get_local_id(0), row = lane / 8, column = lane % 8;
    const float share = 1.0f / heads;
    float s[8][4], x[8][4], m[8][4], dc[8][4];
    float4 v[8];
    load_tile(U, q, q_at, q_width, units, width, queries);
    load_tile(U, kv, k_at, kv_width, units, width, keys);
    load_tile(U, dout, lse_at * width, wide, units, width, c);
    load_tile(U, kv, v_at, kv_width, units, width, d);
    read_rows(R, out, lse_at * width, wide, units, width, v);
    read_cells(R, U, mask, cells_at, units, m);
    if (alike) read_cells(R, U, dcosines, cells_at, units, dc);
    line[lane] = lane < units ? lse[lse_at + lane * heads] : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    #pragma unroll
    for (int t = 0; t < R; ++t)
        some[(row + 4 * t) * 9 + column] = add_dot(0.0f, c[(row + 4 * t) * FOURS + column], v[t]);
    dots(R, U, queries, keys, width, s);
    barrier(CLK_LOCAL_MEM_FENCE);
    mean[lane] = own_sum(some, 8, units);
    if (alike) {
        q_turn[lane] = own_direction(queries, units, eps);
        k_turn[lane] = own_direction(keys, units, eps);
    }
    dots(R, U, c, d, width, x);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (alike) {
        float off_k[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        #pragma unroll
        for (int t = 0; t < R; ++t) {
            const int i = row + 4 * t;
            float off_q = 0.0f;
            #pragma unroll
            for (int u = 0; u < U; ++u) {
                const int j = column + 8 * u;
                const float both = i < units && j < units ? share * (q_turn[i] * k_turn[j]) : 0.0f;
                dc[t][u] *= both;
                off_q += dc[t][u] * s[t][u];
                off_k[u] += dc[t][u] * s[t][u];
            }
            some[i * 9 + column] = off_q;
        }
        #pragma unroll
        for (int u = 0; u < U; ++u)
            few[(column + 8 * u) * 5 + row] = off_k[u];
    }
    #pragma unroll
    for (int t = 0; t < R; ++t) {
        const int i = row + 4 * t;
        #pragma unroll
        for (int u = 0; u < U; ++u) {
            const int j = column + 8 * u, inside = i < units && j < units;
            const float factor = inside ? open(m[t][u], i == j, scale) : 0.0f;
            const float l = s[t][u] * factor + shut(m[t][u], i == j, closed) - line[i];
            const float chance = exp(inside ? l : -INFINITY), dl = chance * (x[t][u] - mean[i]);
            x[t][u] = scale * dl * s[t][u];
            s[t][u] = alike ? dl * factor + dc[t][u] : dl * factor;
            down[j * FLOATS + i] = chance;
        }
    }
    add_cells(R, U, x, h != part, sums, (r * parts + part) * units * units, units);
    barrier(CLK_LOCAL_MEM_FENCE);
    weigh(R, d, c, units, v);
    add_rows(R, v, h > g, dkv, v_at, kv_width, units, width);
    if (alike) {                                    // sums of dc c / |x|^2, of a query and of a key
        q_turn[lane] *= q_turn[lane] * own_sum(some, 8, units);
        k_turn[lane] *= k_turn[lane] * own_sum(few, 4, units);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    #pragma unroll
    for (int t = 0; t < R; ++t)
        #pragma unroll
        for (int u = 0; u < U; ++u) {
            const int i = row + 4 * t, j = column + 8 * u;
            across[i * FLOATS + j] = s[t][u];
            down[j * FLOATS + i] = s[t][u];
        }
    barrier(CLK_LOCAL_MEM_FENCE);
    weigh(R, c, keys, units, v);
    if (alike) take_rows(R, q_turn, queries, v);
    write_rows(R, v, dq, q_at, q_width, units, width);
    weigh(R, d, queries, units, v);
    if (alike) take_rows(R, k_turn, keys, v);
    add_rows(R, v, h > g, dkv, k_at, kv_width, units, width);
    barrier(CLK_LOCAL_MEM_FENCE);
}

#define ATTEND_BACK(R, U) \
    __local float4 tiles[4 * 8 * U * FOURS]; \
    __local float some[9 * 4 * R], few[5 * 8 * U], lines[4 * TILE]; \
    const int part = get_global_id(1), r = get_global_id(2), width = 2 * dimension; \
    for (int g = part; g < heads_kv; g += parts) \
        for (int h = g; h < heads; h += heads_kv) \
            attend_back(R, U, r, part, g, h, q, kv, mask, lse, out, dout, dcosines, sums, dq, dkv, parts, \
                        units, heads, width, q_width, kv_width, heads_kv, k_column, alike, scale, closed, \
                        eps, tiles, some, few, lines);

// group: 32, 1, 1
// grid: 32, parts, rows
__kernel BY8 void MaskAttentionGradientsComplex20(
    __global const float *q,        // [rows, units, q_width]
    __global const float *kv,       // [rows, units, kv_width]
    __global const float *mask,     // [rows, units, units]
    __global const float *lse,      // [rows, units, heads]
    __global const float *out,      // [rows, units, heads, dimension, 2]
    __global const float *dout,     // [rows, units, heads, dimension, 2]
    __global const float *dcosines, // [rows, units, units]
    __global float *scratch,        // [items, space]
    __global float *sums,           // [rows, parts, units, units]
    __global float *dq,             // [rows, units, q_width]
    __global float *dkv,            // [rows, units, kv_width]
    const int parts, const int units, const int heads, const int dimension, const int q_width,
    const int kv_width, const int heads_kv, const int k_column, const int alike, const float scale,
    const float closed, const float eps)
{
    ATTEND_BACK(5, 3)
}

// group: 32, 1, 1
// grid: 32, parts, rows
__kernel BY8 void MaskAttentionGradientsComplex32(
    __global const float *q,        // [rows, units, q_width]
    __global const float *kv,       // [rows, units, kv_width]
    __global const float *mask,     // [rows, units, units]
    __global const float *lse,      // [rows, units, heads]
    __global const float *out,      // [rows, units, heads, dimension, 2]
    __global const float *dout,     // [rows, units, heads, dimension, 2]
    __global const float *dcosines, // [rows, units, units]
    __global float *scratch,        // [items, space]
    __global float *sums,           // [rows, parts, units, units]
    __global float *dq,             // [rows, units, q_width]
    __global float *dkv,            // [rows, units, kv_width]
    const int parts, const int units, const int heads, const int dimension, const int q_width,
    const int kv_width, const int heads_kv, const int k_column, const int alike, const float scale,
    const float closed, const float eps)
{
    ATTEND_BACK(8, 4)
}
