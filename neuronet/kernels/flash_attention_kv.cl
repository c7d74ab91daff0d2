// flash_attention_kv.cl: gradients of the keys and values of attention (flash_attention.cl).
//
//   p = exp(s - lse)      ds = p (dout[i,h]·V[t,g] - delta[i,h])      delta from flash_attention_q.cl
//   dK[t,g] = scale sum_ih ds Q[i,h]      dV[t,g] = sum_ih p dout[i,h]      over questions that see t
//
// Used by   ops/flash_attention_kv.py      Checked against   reference/flash_attention_kv.py
// Source    Dao, arXiv:2307.08691.
// Overwrites the heads' columns of dk and dv.

#include "attention.clh"

// --- any device -------------------------------------------------------------------------------

// grid: heads_kv, keys, batch
__kernel void MHFlashAttentionGradientKV(
    __global const float *q,        // [batch, queries, q_width]
    __global const float *k,        // [batch, keys, k_width]
    __global const float *v,        // [batch, keys, v_width]
    __global const int *limits,     // [marks, queries, 2]
    __global const float *lse,      // [batch, queries, heads]
    __global const float *dout,     // [batch, queries, heads, dimension]
    __global const float *delta,    // [batch, queries, heads]
    __global float *dk,             // [batch, keys, k_width]
    __global float *dv,             // [batch, keys, v_width]
    const int queries, const int keys, const int q_width, const int k_width, const int v_width,
    const int marks, const int heads, const int dimension, const int heads_kv, const int q_column,
    const int k_column, const int v_column, const float scale)
{
    const int g = get_global_id(0), t = get_global_id(1), n = get_global_id(2), d = dimension;
    const int shared = heads / heads_kv;
    limits += marks > 1 ? 2 * n * queries : 0;
    k += (size_t)(n * keys + t) * k_width + k_column + g * d;
    v += (size_t)(n * keys + t) * v_width + v_column + g * d;
    dk += (size_t)(n * keys + t) * k_width + k_column + g * d;
    dv += (size_t)(n * keys + t) * v_width + v_column + g * d;
    for (int j = 0; j < d; ++j) dk[j] = dv[j] = 0.0f;
    for (int h = g * shared; h < (g + 1) * shared; ++h)
        for (int i = 0; i < queries; ++i) {
            if (t < limits[2 * i] || t >= limits[2 * i + 1]) continue;
            const int at = (n * queries + i) * heads + h;
            __global const float *ask = q + (size_t)(n * queries + i) * q_width + q_column + h * d;
            __global const float *back = dout + (size_t)at * d;
            const float p = exp(scale * along(ask, k, d) - lse[at]);
            const float ds = scale * p * (along(back, v, d) - delta[at]);
            for (int j = 0; j < d; ++j) {
                dk[j] += ds * ask[j];
                dv[j] += p * back[j];
            }
        }
}

// --- CPU: a work-item has a head of 8 keys: they are in the lanes for scores, numbers of Q for sums ---

#define BLOCK 64        // rows on the other side at a time, fewer where they are long
#define DEPTH 128       // numbers of 8 rows that are turned at a time

// group: 1, 1, 1
// grid: keys/8, heads_kv, batch
__kernel void MHFlashAttentionGradientKVCPU(
    __global const float *q,        // [batch, queries, q_width]
    __global const float *k,        // [batch, keys, k_width]
    __global const float *v,        // [batch, keys, v_width]
    __global const int *limits,     // [marks, queries, 2]
    __global const float *lse,      // [batch, queries, heads]
    __global const float *dout,     // [batch, queries, heads, dimension]
    __global const float *delta,    // [batch, queries, heads]
    __global float *dk,             // [batch, keys, k_width]
    __global float *dv,             // [batch, keys, v_width]
    const int queries, const int keys, const int q_width, const int k_width, const int v_width,
    const int marks, const int heads, const int dimension, const int heads_kv, const int q_column,
    const int k_column, const int v_column, const float scale)
{
    const int g = get_global_id(1), n = get_global_id(2), t0 = 8 * get_global_id(0), d = dimension;
    const int count = min(8, keys - t0), shared = heads / heads_kv, pitch = heads * d;
    const int tile = clamp(4096 / d & ~7, 8, BLOCK);
    limits += marks > 1 ? 2 * n * queries : 0;
    k += (size_t)(n * keys + t0) * k_width + k_column + g * d;
    v += (size_t)(n * keys + t0) * v_width + v_column + g * d;
    dk += (size_t)(n * keys + t0) * k_width + k_column + g * d;
    dv += (size_t)(n * keys + t0) * v_width + v_column + g * d;
    q += (size_t)n * queries * q_width + q_column;
    dout += (size_t)n * queries * pitch;
    lse += n * queries * heads;
    delta += n * queries * heads;
    float8 turned[DEPTH], values[DEPTH], p[BLOCK], ds[BLOCK], none = 0.0f;
    const int8 key = t0 + (int8)(0, 1, 2, 3, 4, 5, 6, 7);
    bool ready = false;
    for (int r = 0; r < count; ++r)
        for (int j = 0; j < d; j += 8) {
            store8(none, dk + r * k_width + j, d - j);
            store8(none, dv + r * v_width + j, d - j);
        }
    for (int b = 0; b < queries; b += tile) {
        int begin = queries, end = 0;                   // questions here that see any of the keys
        for (int i = b; i < min(b + tile, queries); ++i)
            if (max(limits[2 * i], t0) < min(limits[2 * i + 1], t0 + count)) {
                begin = min(begin, i);
                end = i + 1;
            }
        if (begin >= end) continue;
        for (int h = g * shared; h < (g + 1) * shared; ++h) {
            __global const float *ask = q + (size_t)begin * q_width + h * d;
            __global const float *back = dout + (size_t)begin * pitch + h * d;
            for (int j0 = 0; j0 < d; j0 += DEPTH) {
                const int depth = min(DEPTH, d - j0);
                if (!ready)
                    for (int j = 0; j < depth; ++j) {
                        turned[j] = gather8(k + j0 + j, k_width, count);
                        values[j] = gather8(v + j0 + j, v_width, count);
                    }
                paired8(turned, values, ask + j0, q_width, back + j0, pitch, end - begin, depth, j0 > 0,
                        p, ds);
            }
            ready = d <= DEPTH;
            for (int i = begin; i < end; ++i) {
                const float8 s = scale * p[i - begin] - lse[i * heads + h];
                const float8 e = exp(key >= limits[2 * i] && key < limits[2 * i + 1] ? s : (float8)-INFINITY);
                p[i - begin] = e;
                ds[i - begin] = scale * e * (ds[i - begin] - delta[i * heads + h]);
            }
            weigh8(p, 1.0f, back, pitch, end - begin, d, count, dv, v_width);
            weigh8(ds, 1.0f, ask, q_width, end - begin, d, count, dk, k_width);
        }
    }
}

// --- GPU: a work-group has a head of 8 keys, and loads tiles of Q and dout into local memory ---
// Scores: a work-item has a question and 2 keys. Sums: 4 numbers and every slices-th 4 questions, for all 8.

#define GROUP 128
#define ROWS 8
#define TURN 32         // rows of the tiles at most
#define TILE 544        // float4 of each tile
#define CHUNK 256       // float4 of 8 rows

// group: 128, 1, 1
// grid: keys/8*128, heads_kv, batch
__kernel void MHFlashAttentionGradientKVGPU(
    __global const float *q,        // [batch, queries, q_width]
    __global const float *k,        // [batch, keys, k_width]
    __global const float *v,        // [batch, keys, v_width]
    __global const int *limits,     // [marks, queries, 2]
    __global const float *lse,      // [batch, queries, heads]
    __global const float *dout,     // [batch, queries, heads, dimension]
    __global const float *delta,    // [batch, queries, heads]
    __global float *dk,             // [batch, keys, k_width]
    __global float *dv,             // [batch, keys, v_width]
    const int queries, const int keys, const int q_width, const int k_width, const int v_width,
    const int marks, const int heads, const int dimension, const int heads_kv, const int q_column,
    const int k_column, const int v_column, const float scale)
{
    __local float4 tile[2 * TILE], key[CHUNK], value[CHUNK], weight[ROWS * TURN / 4], slant[ROWS * TURN / 4];
    __local int firsts[GROUP], lasts[GROUP];
    __local float *p = (__local float *)weight, *ds = (__local float *)slant;       // [key, question]
    const int id = get_local_id(0), g = get_global_id(1), n = get_global_id(2), d = dimension;
    const int lanes = (d + 3) / 4, pitch = lanes | 1;   // an odd pitch: neighbours in different banks
    const int chunk = min(ROWS, CHUNK / lanes), block = min(TURN, TILE / pitch & ~3);
    const int shared = heads / heads_kv;
    const int lane = id % lanes, slice = id / lanes, slices = GROUP / lanes;
    const int t1 = id % block, r1 = id / block * 2, end_key = min(ROWS * (int)get_group_id(0) + ROWS, keys);
    const bool q4 = (q_width | q_column | d) % 4 == 0, k4 = (k_width | k_column | d) % 4 == 0;
    const bool v4 = (v_width | v_column | d) % 4 == 0, d4 = d % 4 == 0;
    limits += marks > 1 ? 2 * n * queries : 0;
    q += (size_t)n * queries * q_width + q_column;
    dout += (size_t)n * queries * heads * d;
    lse += n * queries * heads;
    delta += n * queries * heads;
    for (int r0 = ROWS * get_group_id(0); r0 < end_key; r0 += chunk) {
        const int count = min(chunk, end_key - r0);
        int begin = queries, end = 0;                   // questions that see any of the keys lie in there
        for (int i = id; i < queries; i += GROUP)
            if (max(limits[2 * i], r0) < min(limits[2 * i + 1], r0 + count)) {
                begin = min(begin, i);
                end = i + 1;
            }
        firsts[id] = begin;
        lasts[id] = end;
        for (int i = id; i < chunk * lanes; i += GROUP) {
            const size_t row = n * keys + r0 + min(i / lanes, count - 1);
            const float4 a = load4(k + row * k_width + k_column + g * d, i % lanes, d, k4);
            const float4 c = load4(v + row * v_width + v_column + g * d, i % lanes, d, v4);
            key[i] = i < count * lanes ? a : (float4)0.0f;
            value[i] = i < count * lanes ? c : (float4)0.0f;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = 0; i < GROUP; ++i) {
            begin = min(begin, firsts[i]);
            end = max(end, lasts[i]);
        }
        float4 sum[ROWS], back[ROWS];
        for (int r = 0; r < ROWS; ++r) sum[r] = back[r] = 0.0f;
        for (int h = g * shared; h < (g + 1) * shared; ++h)
            for (int b = begin; b < end; b += block) {
                const int stop = min(block, end - b);
                if (slice < slices)
                    for (int t = slice; t < block; t += slices) {
                        const size_t row = b + min(t, stop - 1);
                        const float4 a = load4(q + row * q_width + h * d, lane, d, q4);
                        const float4 c = load4(dout + (row * heads + h) * d, lane, d, d4);
                        tile[t * pitch + lane] = t < stop ? a : (float4)0.0f;
                        tile[TILE + t * pitch + lane] = t < stop ? c : (float4)0.0f;
                    }
                barrier(CLK_LOCAL_MEM_FENCE);
                if (id < 4 * block) {
                    const int i1 = b + min(t1, stop - 1), first = limits[2 * i1], last = limits[2 * i1 + 1];
                    const float level = lse[i1 * heads + h], whole = delta[i1 * heads + h];
                    float s[2] = {0.0f, 0.0f}, dp[2] = {0.0f, 0.0f};
                    for (int i = 0; i < lanes; ++i) {
                        const float4 a = tile[t1 * pitch + i], c = tile[TILE + t1 * pitch + i];
                        #pragma unroll
                        for (int r = 0; r < 2; ++r) {
                            const int at_row = min(r1 + r, chunk - 1) * lanes + i;
                            s[r] += dot4(key[at_row], a);
                            dp[r] += dot4(value[at_row], c);
                        }
                    }
                    for (int r = r1; r < r1 + 2; ++r) {
                        const bool seen = t1 < stop && r < count && r0 + r >= first && r0 + r < last;
                        const float e = seen ? exp(scale * s[r - r1] - level) : 0.0f;
                        p[r * TURN + t1] = e;
                        ds[r * TURN + t1] = scale * e * (dp[r - r1] - whole);
                    }
                }
                barrier(CLK_LOCAL_MEM_FENCE);
                if (slice < slices)
                    for (int t = 4 * slice; t < block; t += 4 * slices) {
                        __local const float4 *one = tile + t * pitch + lane, *two = one + TILE;
                        #pragma unroll
                        for (int r = 0; r < ROWS; ++r) {    // those behind the last weigh nothing
                            const float4 w = slant[(r * TURN + t) / 4], e = weight[(r * TURN + t) / 4];
                            sum[r] += w.s0 * one[0] + w.s1 * one[pitch] + w.s2 * one[2 * pitch] +
                                      w.s3 * one[3 * pitch];
                            back[r] += e.s0 * two[0] + e.s1 * two[pitch] + e.s2 * two[2 * pitch] +
                                       e.s3 * two[3 * pitch];
                        }
                    }
                barrier(CLK_LOCAL_MEM_FENCE);
            }
        for (int which = 0; which < 2; ++which) {
            if (slice < slices)
                #pragma unroll
                for (int r = 0; r < ROWS; ++r)  // unrolled, so that the sums stay in registers
                    if (r < count) tile[(slice * chunk + r) * lanes + lane] = which ? back[r] : sum[r];
            barrier(CLK_LOCAL_MEM_FENCE);
            for (int i = id; i < count * lanes; i += GROUP) {
                float4 all = tile[i];
                for (int s = 1; s < slices; ++s) all += tile[s * chunk * lanes + i];
                const float number[4] = {all.s0, all.s1, all.s2, all.s3};
                const int j0 = i % lanes * 4;
                const size_t row = n * keys + r0 + i / lanes;
                __global float *to = which ? dv + row * v_width + v_column : dk + row * k_width + k_column;
                for (int j = 0; j < min(4, d - j0); ++j) to[g * d + j0 + j] = number[j];
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }
}
