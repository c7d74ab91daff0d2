// mask_attention_gradients.cl: gradients of mask_attention_complex.cl, whose names it keeps.
//
// With dA[i,j] = Re <dout[i], v[j]>, dl = A (dA - Re <dout[i], out[i]>), ds = scale m dl and, where
// ``alike``, dc = dcosines / heads and x' = x / |x|, 0 for a vector shorter than eps:
//
//   dq[i] = sum_j ds[i,j] k[j] + sum_j dc[i,j] (k'[j] - c[i,j] q'[i]) / |q[i]|
//   dk[j] = sum_i ds[i,j] q[i] + sum_i dc[i,j] (q'[i] - c[i,j] k'[j]) / |k[j]|
//   dv[j] = sum_i A[i,j] dout[i]
//   dmask[i,j] = scale times the sum of dl[i,j] s[i,j] over the heads, 0 for i = j; added where ``alike``
//
// Heads that share keys are one work-group's, one after the other, so that a sum has one writer.
//
// Used by   ops/mask_attention_gradients.py      Checked against   reference/mask_attention_gradients.py
// Source    Wu et al., CATCH, arXiv:2410.12261. NeuroNet MaskAttentionGradientsComplex; errata C5-C15, C20.
// Overwrites dmask, or adds to it, and, of dq and dkv, the columns of the queries and of the keys and values,
//           which may lie in one array.

#include "mask_attention.clh"

// --- any device: a work-group has some heads of a row, and tiles of 32 x 32 -----------------------------
// Work-item ``lane`` has column lane % 32 of a tile, and 8 rows, 4 apart. scratch is the CPU's.

// sums are those of dmask over a work-group's heads
// group: 128, 1, 1
// grid: 128, parts, rows
__kernel void MaskAttentionGradientsComplex(
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
    __local float a[TILE * PITCH], b[TILE * PITCH], p[TILE * PITCH], ds[TILE * PITCH], along[TILE * PITCH];
    __local float some[LANES], turn[2 * TILE];
    const int lane = get_local_id(0), column = lane % TILE, row = lane / TILE, part = get_global_id(1);
    const int r = get_global_id(2), width = 2 * dimension, wide = heads * width, to_v = heads_kv * width;
    mask += r * units * units;
    dcosines += r * units * units;
    sums += (r * parts + part) * units * units;
    for (int g = part; g < heads_kv; g += parts)
        for (int h = g; h < heads; h += heads_kv)
            for (int i0 = 0; i0 < units; i0 += TILE)
                for (int j0 = 0; j0 < units; j0 += TILE) {
                    const int keys = units - j0, queries = units - i0;
                    const int q_at = (r * units + i0) * q_width + h * width;
                    const int k_at = (r * units + j0) * kv_width + k_column + g * width;
                    const int o_at = (r * units + i0) * wide + h * width;
                    float s[EACH], d[EACH], square = 0.0f, lead = 0.0f;
                    #pragma unroll
                    for (int t = 0; t < EACH; ++t)
                        s[t] = d[t] = 0.0f;
                    for (int w = 0; w < width; w += TILE) {
                        fetch(q + q_at + w, q_width, queries, width - w, a);
                        fetch(kv + k_at + w, kv_width, keys, width - w, b);
                        barrier(CLK_LOCAL_MEM_FENCE);
                        add_dots(a, b, width - w, s);
                        if (alike) square += square_of(a, b, width - w);
                        barrier(CLK_LOCAL_MEM_FENCE);
                        fetch(dout + o_at + w, wide, queries, width - w, a);
                        fetch(kv + k_at + to_v + w, kv_width, keys, width - w, b);
                        fetch(out + o_at + w, wide, queries, width - w, p);
                        barrier(CLK_LOCAL_MEM_FENCE);
                        add_dots(a, b, width - w, d);
                        const int eight = lane / 4 * PITCH + lane % 4 * EACH;
                        for (int c = 0; c < EACH; ++c)
                            lead += a[eight + c] * p[eight + c];
                        barrier(CLK_LOCAL_MEM_FENCE);
                    }
                    some[lane] = lead;
                    if (lane < 2 * TILE) turn[lane] = alike ? direction(square, eps) : 0.0f;
                    barrier(CLK_LOCAL_MEM_FENCE);
                    #pragma unroll
                    for (int t = 0; t < EACH; ++t) {
                        const int e = row + t * LANES / TILE, i = i0 + e, j = j0 + column;
                        float chance = 0.0f, step = 0.0f, off = 0.0f;
                        if (i < units && j < units) {
                            __local float *four = some + 4 * e;
                            const float mean = (four[0] + four[1]) + (four[2] + four[3]);
                            const float m = mask[i * units + j], factor = open(m, i == j, scale);
                            const float l = s[t] * factor + shut(m, i == j, closed);
                            chance = exp(l - lse[(r * units + i) * heads + h]);
                            const float dl = chance * (d[t] - mean);
                            const float before = h == part ? 0.0f : sums[i * units + j];
                            sums[i * units + j] = before + scale * dl * s[t];
                            step = dl * factor;
                            if (alike) {
                                const float both = turn[e] * turn[TILE + column];
                                const float dc = dcosines[i * units + j] / heads * both;
                                step += dc;
                                off = dc * s[t];
                            }
                        }
                        p[e * PITCH + column] = chance;
                        ds[e * PITCH + column] = step;
                        along[e * PITCH + column] = off;
                    }
                    barrier(CLK_LOCAL_MEM_FENCE);
                    if (alike && lane < 2 * TILE) {     // sums of dc c / |x|^2, of a query or of a key
                        float sum = 0.0f;
                        for (int c = 0; c < TILE; ++c)
                            sum += along[lane < TILE ? lane * PITCH + c : c * PITCH + lane - TILE];
                        turn[lane] *= turn[lane] * sum;
                    }
                    for (int w = 0; w < width; w += TILE) {
                        const int at = w + column;
                        const bool more = h > g || i0 > 0;
                        fetch(q + q_at + w, q_width, queries, width - w, a);
                        fetch(kv + k_at + w, kv_width, keys, width - w, b);
                        barrier(CLK_LOCAL_MEM_FENCE);
                        blend(ds, PITCH, 1, b, keys, s);
                        blend(ds, 1, PITCH, a, queries, d);
                        #pragma unroll
                        for (int t = 0; t < EACH; ++t) {
                            const int e = row + t * LANES / TILE, own = e * PITCH + column;
                            if (at < width && e < queries) {
                                __global float *to = dq + q_at + e * q_width + at;
                                *to = (j0 > 0 ? *to : 0.0f) + (s[t] - turn[e] * a[own]);
                            }
                            if (at < width && e < keys) {
                                __global float *to = dkv + k_at + e * kv_width + at;
                                *to = (more ? *to : 0.0f) + (d[t] - turn[TILE + e] * b[own]);
                            }
                        }
                        barrier(CLK_LOCAL_MEM_FENCE);
                        fetch(dout + o_at + w, wide, queries, width - w, a);
                        barrier(CLK_LOCAL_MEM_FENCE);
                        blend(p, 1, PITCH, a, queries, d);
                        #pragma unroll
                        for (int t = 0; t < EACH; ++t) {
                            const int e = row + t * LANES / TILE;
                            if (at >= width || e >= keys) continue;
                            __global float *to = dkv + k_at + to_v + e * kv_width + at;
                            *to = (more ? *to : 0.0f) + d[t];
                        }
                        barrier(CLK_LOCAL_MEM_FENCE);
                    }
                }
}

// dmask from the sums of MaskAttentionGradientsComplex
// grid: units, units, rows
__kernel void MaskAttentionMaskGradients(
    __global const float *sums,     // [rows, parts, units, units]
    __global float *dmask,          // [rows, units, units]
    const int parts, const int units, const int alike)
{
    const int i = get_global_id(1), j = get_global_id(0), cells = units * units, r = get_global_id(2);
    float sum = 0.0f;
    for (int part = 0; part < parts; ++part)
        sum += sums[(r * parts + part) * cells + i * units + j];
    const int at = r * cells + i * units + j;
    dmask[at] = i == j ? 0.0f : alike ? dmask[at] + sum : sum;
}

// --- CPU: 8 keys, or 8 floats of a vector, in the lanes; a work-item has rows, one after the other ------
// Each has a stretch of scratch: tiles [units, UP8(units)] in front, transposed vectors behind.

// x [units, width] -= factors of a unit times y
static void take8(__global const float *y, const int y_pitch, __global const float *factors, const int units,
                  const int width, __global float *x, const int x_pitch)
{
    for (int i = 0; i < units; ++i)
        for (int w = 0; w < width; w += 8)
            put8(-factors[i] * LOAD8(y + i * y_pitch + w), 1, x + i * x_pitch + w, width - w);
}

// group: 1
// grid: items
__kernel BY8 void MaskAttentionGradientsComplexCPU(
    __global const float *q,        // [rows, units, q_width]
    __global const float *kv,       // [rows, units, kv_width]
    __global const float *mask,     // [rows, units, units]
    __global const float *lse,      // [rows, units, heads]
    __global const float *out,      // [rows, units, heads, dimension, 2]
    __global const float *dout,     // [rows, units, heads, dimension, 2]
    __global const float *dcosines, // [rows, units, units]
    __global float *scratch,        // [items, space]
    __global float *sums,           // [rows, parts, units, units]  one part: dmask
    __global float *dq,             // [rows, units, q_width]
    __global float *dkv,            // [rows, units, kv_width]
    const int rows, const int units, const int heads, const int dimension, const int q_width,
    const int kv_width, const int items, const int space, const int heads_kv, const int k_column,
    const int alike, const float scale, const float closed, const float eps)
{
    const int width = 2 * dimension, wide = heads * width, columns = UP8(units), tile = units * columns;
    const int pitch = UP8(width);
    const float share = 1.0f / heads;
    __global float *factors = scratch + get_global_id(0) * space, *biases = factors + tile;
    __global float *ds = biases + tile, *p = ds + tile, *dm = p + tile, *dc = dm + tile, *kt = dc + tile;
    __global float *vt = kt + width * columns, *k = vt + width * columns, *qs = k + units * pitch;
    __global float *go = qs + units * pitch, *turns = go + units * pitch, *k_along = turns + columns;
    __global float *q_along = k_along + columns;
    for (int r = get_global_id(0); r < rows; r += items) {
        touch(q + r * units * q_width, units * q_width, factors);
        touch(out + r * units * wide, units * wide, factors);
        touch(dout + r * units * wide, units * wide, factors);
        touch(dq + r * units * q_width, units * q_width, factors);
        if (k_column == 0) {                                            // kv is no part of q
            touch(kv + r * units * kv_width, units * kv_width, factors);
            touch(dkv + r * units * kv_width, units * kv_width, factors);
        }
        unpack_mask(mask + r * units * units, units, columns, scale, closed, factors, biases);
        for (int i = 0; i < tile; i += 8)
            store8(0.0f, dm + i, 8);
        for (int i = 0; alike && i < units; ++i)
            for (int j = 0; j < columns; j += 8)
                store8(share * load8(dcosines + (r * units + i) * units + j, units - j), dc + i * columns + j,
                       8);
        for (int g = 0; g < heads_kv; ++g) {
            __global const float *key = kv + r * units * kv_width + k_column + g * width;
            __global float *dk = dkv + r * units * kv_width + k_column + g * width;
            packed8(key, kv_width, units, width, k);
            transposed8(k, pitch, units, width, kt);
            transposed8(key + heads_kv * width, kv_width, units, width, vt);
            if (alike) directions8(kt, columns, width, eps, turns);
            for (int j = 0; j < columns; j += 8)
                store8(0.0f, k_along + j, 8);
            for (int h = g; h < heads; h += heads_kv) {
                __global const float *o = out + r * units * wide + h * width;
                __global float *dqh = dq + r * units * q_width + h * width;
                packed8(q + r * units * q_width + h * width, q_width, units, width, qs);
                packed8(dout + r * units * wide + h * width, wide, units, width, go);
                dots8(qs, pitch, units, kt, columns, width, ds);
                dots8(go, pitch, units, vt, columns, width, p);
                for (int i = 0; i < units; ++i) {
                    const float sums = lse[(r * units + i) * heads + h];
                    const float turn = alike ? direction8(qs + i * pitch, width, eps) : 0.0f;
                    float8 along = 0.0f, off = 0.0f;
                    for (int w = 0; w < width; w += 8)
                        along += LOAD8(go + i * pitch + w) * load8(o + i * wide + w, width - w);
                    const float mean = sum8(along);
                    for (int c = 0, j = i * columns; c < columns; c += 8, j += 8) {
                        const float8 s = LOAD8(ds + j), factor = LOAD8(factors + j);
                        const float8 a = exp(s * factor + LOAD8(biases + j) - sums);
                        const float8 dl = a * (LOAD8(p + j) - mean);
                        float8 step = dl * factor;
                        if (alike) {
                            const float8 d = LOAD8(dc + j) * (turn * LOAD8(turns + c)), across = d * s;
                            step += d;
                            off += across;
                            store8(LOAD8(k_along + c) + across, k_along + c, 8);
                        }
                        store8(a, p + j, 8);
                        store8(step, ds + j, 8);
                        store8(LOAD8(dm + j) + scale * dl * s, dm + j, 8);
                    }
                    q_along[i] = turn * turn * sum8(off);
                }
                blended8(ds, columns, 1, k, pitch, units, width, 0, dqh, q_width, units);
                blended8(ds, 1, columns, qs, pitch, units, width, h > g, dk, kv_width, units);
                blended8(p, 1, columns, go, pitch, units, width, h > g, dk + heads_kv * width, kv_width,
                         units);
                if (alike) take8(qs, pitch, q_along, units, width, dqh, q_width);
            }
            for (int j = 0; alike && j < columns; j += 8)
                store8(LOAD8(k_along + j) * (LOAD8(turns + j) * LOAD8(turns + j)), k_along + j, 8);
            if (alike) take8(k, pitch, k_along, units, width, dk, kv_width);
        }
        for (int i = 0; i < units; ++i)
            for (int j = 0; j < units; ++j) {
                __global float *to = sums + (r * units + i) * units + j;
                *to = i == j ? 0.0f : alike ? *to + dm[i * columns + j] : dm[i * columns + j];
            }
    }
}
