// dot.cl: attention of each unit to the units around it, separately for each head.
//
//   s[u,h,j] = scale Q[u,h]·K[u+j-radius,h] + rpb[u,h,j]         score = softmax of s over j
//   out[u,h] = sum_j score[u,h,j] V[u+j-radius,h]
//
// Of ``width`` slots j, slot ``radius`` is the unit itself: 2 radius + 1 slots look both ways, radius + 1
// back only. Slots of units that do not exist have score 0. rpb with one row is the same for all units.
//
// Used by   ops/dot.py           Checked against   reference/dot.py
// Source    Chen et al., arXiv:2206.06829 (DFFT). NeuroNet DOTFeedForward, DOTInsideGradients; errata G1-G10.
// Overwrites score, out, dscore; of dqkv DOTScoreGradients the queries, DOTInsideGradients keys and values.

// --- any device ----------------------------------------------------------------------------

// grid: heads, units, batch
__kernel void DOTFeedForward(
    __global const float *qkv,      // [batch, units, 3, heads, dimension]
    __global const float *rpb,      // [positions, heads, width]
    __global float *score,          // [batch, units, heads, width]
    __global float *out,            // [batch, units, heads, dimension]
    const int units, const int heads, const int dimension, const int width, const int positions,
    const int radius, const float scale)
{
    const int h = get_global_id(0), u = get_global_id(1), n = get_global_id(2), unit = n * units + u;
    const int first = max(0, radius - u), last = min(width, units + radius - u);    // slots that exist
    const int row = 3 * heads * dimension;
    __global const float *q = qkv + unit * row + h * dimension;
    __global const float *k = q + heads * dimension, *v = k + heads * dimension;
    rpb += ((positions > 1 ? u : 0) * heads + h) * width;
    score += (unit * heads + h) * width;
    out += (unit * heads + h) * dimension;
    float top = -INFINITY, sum = 0.0f;
    for (int j = first; j < last; ++j) {
        float s = 0.0f;
        for (int d = 0; d < dimension; ++d)
            s += q[d] * k[(j - radius) * row + d];
        score[j] = scale * s + rpb[j];
        top = fmax(top, score[j]);
    }
    for (int j = first; j < last; ++j) {
        score[j] = exp(score[j] - top);
        sum += score[j];
    }
    for (int j = 0; j < width; ++j)
        score[j] = j >= first && j < last ? score[j] / sum : 0.0f;
    for (int d = 0; d < dimension; ++d) {
        float value = 0.0f;
        for (int j = first; j < last; ++j)
            value += score[j] * v[(j - radius) * row + d];
        out[d] = value;
    }
}

// dscore = score (dp - sum of score dp), with dp[j] = dout·V[j], is dL/ds; from it dL/dQ
// grid: heads, units, batch
__kernel void DOTScoreGradients(
    __global const float *qkv,      // [batch, units, 3, heads, dimension]
    __global const float *score,    // [batch, units, heads, width]
    __global const float *dout,     // [batch, units, heads, dimension]
    __global float *dscore,         // [batch, units, heads, width]
    __global float *dqkv,           // [batch, units, 3, heads, dimension]
    const int units, const int heads, const int dimension, const int width, const int radius,
    const float scale)
{
    const int h = get_global_id(0), u = get_global_id(1), n = get_global_id(2), unit = n * units + u;
    const int first = max(0, radius - u), last = min(width, units + radius - u);
    const int row = 3 * heads * dimension, at = unit * row + h * dimension;
    __global const float *k = qkv + at + heads * dimension, *v = k + heads * dimension;
    score += (unit * heads + h) * width;
    dscore += (unit * heads + h) * width;
    dout += (unit * heads + h) * dimension;
    dqkv += at;
    float along = 0.0f;
    for (int j = first; j < last; ++j) {
        float dp = 0.0f;
        for (int d = 0; d < dimension; ++d)
            dp += dout[d] * v[(j - radius) * row + d];
        dscore[j] = dp;
        along += score[j] * dp;
    }
    for (int j = 0; j < width; ++j)
        dscore[j] = j >= first && j < last ? score[j] * (dscore[j] - along) : 0.0f;
    for (int d = 0; d < dimension; ++d) {
        float dq = 0.0f;
        for (int j = first; j < last; ++j)
            dq += dscore[j] * k[(j - radius) * row + d];
        dqkv[d] = scale * dq;
    }
}

// Unit u is slot j of unit u - j + radius, the asker.
// grid: dimension, units*heads, batch
__kernel void DOTInsideGradients(
    __global const float *qkv,      // [batch, units, 3, heads, dimension]
    __global const float *score,    // [batch, units, heads, width]
    __global const float *dscore,   // [batch, units, heads, width]
    __global const float *dout,     // [batch, units, heads, dimension]
    __global float *dqkv,           // [batch, units, 3, heads, dimension]
    const int units, const int heads, const int dimension, const int width, const int radius,
    const float scale)
{
    const int d = get_global_id(0), h = (int)get_global_id(1) % heads, u = (int)get_global_id(1) / heads;
    const int unit = get_global_id(2) * units + u, wide = heads * dimension;
    const int first = max(0, u + radius - units + 1), last = min(width, u + radius + 1);
    float dk = 0.0f, dv = 0.0f;
    for (int j = first; j < last; ++j) {
        const int asker = unit - j + radius, slot = (asker * heads + h) * width + j;
        dk += dscore[slot] * qkv[3 * asker * wide + h * dimension + d];
        dv += score[slot] * dout[asker * wide + h * dimension + d];
    }
    dqkv += (3 * unit + 1) * wide + h * dimension + d;
    dqkv[0] = scale * dk;
    dqkv[wide] = dv;
}

// --- CPU: 8 values of a head in the lanes; a work-item has all heads of 16 units ---------------------------

#define STRETCH 16

// to[j] = a·b[j] for j in [first, last), where neighbours in b are ``pitch`` apart
static void products8(__global const float *a, __global const float *b, const int pitch, const int dimension,
                      const int first, const int last, __global float *to)
{
    if (dimension == 8) {
        const float8 all = LOAD8(a);
        for (int j = first; j < last; ++j)
            to[j] = sum8(all * LOAD8(b + j * pitch));
        return;
    }
    for (int j = first; j < last; ++j) {
        float8 sum = 0.0f;
        for (int d = 0; d < dimension; d += 8)
            sum += load8(a + d, dimension - d) * load8(b + j * pitch + d, dimension - d);
        to[j] = sum8(sum);
    }
}

// to = scale sum over j in [first, last) of p[j] b[j], where neighbours in p are ``step`` apart
static void weighted8(__global const float *p, const int step, __global const float *b, const int pitch,
                      const int dimension, const int first, const int last, const float scale,
                      __global float *to)
{
    for (int d = 0; d < dimension; d += 8) {
        const int count = dimension - d;
        float8 sum = 0.0f;
        if (count >= 8)
            for (int j = first; j < last; ++j)
                sum += p[j * step] * LOAD8(b + j * pitch + d);
        else
            for (int j = first; j < last; ++j)
                sum += p[j * step] * load8(b + j * pitch + d, count);
        store8(scale * sum, to + d, count);
    }
}

// group: 1, 1
// grid: units/16, batch
__kernel void DOTFeedForwardCPU(
    __global const float *qkv,      // [batch, units, 3, heads, dimension]
    __global const float *rpb,      // [positions, heads, width]
    __global float *score,          // [batch, units, heads, width]
    __global float *out,            // [batch, units, heads, dimension]
    const int units, const int heads, const int dimension, const int width, const int positions,
    const int radius, const float scale)
{
    const int begin = STRETCH * get_global_id(0), end = min(begin + STRETCH, units);
    const int wide = heads * dimension, row = 3 * wide, slots = heads * width;
    const int before = get_global_id(1) * units;                // units of the samples in front
    for (int u = begin; u < end; ++u) {
        const int unit = before + u;
        const int first = max(0, radius - u), last = min(width, units + radius - u);
        for (int h = 0; h < heads; ++h) {
            __global const float *q = qkv + unit * row + h * dimension;
            __global const float *bias = rpb + ((positions > 1 ? u : 0) * heads + h) * width;
            __global float *s = score + unit * slots + h * width;
            float top = -INFINITY;
            products8(q, q + wide - radius * row, row, dimension, first, last, s);
            for (int j = first; j < last; ++j) {
                s[j] = scale * s[j] + bias[j];
                top = fmax(top, s[j]);
            }
            for (int j = 0; j < width; ++j)
                s[j] = j >= first && j < last ? s[j] - top : 0.0f;
        }
    }
    const int stop = (before + end) * slots;
    for (int i = (before + begin) * slots; i < stop; i += 8)    // of all units and heads, side by side
        store8(exp(load8(score + i, stop - i)), score + i, stop - i);
    for (int u = begin; u < end; ++u) {
        const int unit = before + u;
        const int first = max(0, radius - u), last = min(width, units + radius - u);
        for (int h = 0; h < heads; ++h) {
            __global const float *v = qkv + (unit - radius) * row + 2 * wide + h * dimension;
            __global float *s = score + unit * slots + h * width;
            float sum = 0.0f;
            for (int j = first; j < last; ++j)
                sum += s[j];
            sum = 1.0f / sum;
            for (int j = 0; j < width; ++j)
                s[j] = j >= first && j < last ? s[j] * sum : 0.0f;
            weighted8(s, 1, v, row, dimension, first, last, 1.0f, out + unit * wide + h * dimension);
        }
    }
}

// group: 1, 1
// grid: units/16, batch
__kernel void DOTScoreGradientsCPU(
    __global const float *qkv,      // [batch, units, 3, heads, dimension]
    __global const float *score,    // [batch, units, heads, width]
    __global const float *dout,     // [batch, units, heads, dimension]
    __global float *dscore,         // [batch, units, heads, width]
    __global float *dqkv,           // [batch, units, 3, heads, dimension]
    const int units, const int heads, const int dimension, const int width, const int radius,
    const float scale)
{
    const int begin = STRETCH * get_global_id(0), end = min(begin + STRETCH, units);
    const int wide = heads * dimension, row = 3 * wide, slots = heads * width;
    const int before = get_global_id(1) * units;
    for (int u = begin; u < end; ++u) {
        const int unit = before + u;
        const int first = max(0, radius - u), last = min(width, units + radius - u);
        for (int h = 0; h < heads; ++h) {
            __global const float *k = qkv + (unit - radius) * row + wide + h * dimension, *v = k + wide;
            __global const float *p = score + unit * slots + h * width;
            __global float *ds = dscore + unit * slots + h * width;
            float along = 0.0f;
            products8(dout + unit * wide + h * dimension, v, row, dimension, first, last, ds);
            for (int j = first; j < last; ++j)
                along += p[j] * ds[j];
            for (int j = 0; j < width; ++j)
                ds[j] = j >= first && j < last ? p[j] * (ds[j] - along) : 0.0f;
            weighted8(ds, 1, k, row, dimension, first, last, scale, dqkv + unit * row + h * dimension);
        }
    }
}

// group: 1, 1
// grid: units/16, batch
__kernel void DOTInsideGradientsCPU(
    __global const float *qkv,      // [batch, units, 3, heads, dimension]
    __global const float *score,    // [batch, units, heads, width]
    __global const float *dscore,   // [batch, units, heads, width]
    __global const float *dout,     // [batch, units, heads, dimension]
    __global float *dqkv,           // [batch, units, 3, heads, dimension]
    const int units, const int heads, const int dimension, const int width, const int radius,
    const float scale)
{
    const int begin = STRETCH * get_global_id(0), end = min(begin + STRETCH, units);
    const int wide = heads * dimension, row = 3 * wide, slots = heads * width;
    const int before = get_global_id(1) * units;
    for (int u = begin; u < end; ++u) {
        const int unit = before + u;
        const int first = max(0, u + radius - units + 1), last = min(width, u + radius + 1);
        for (int h = 0; h < heads; ++h) {
            const int asker = unit + radius, slot = asker * slots + h * width;      // of slot 0
            __global const float *q = qkv + asker * row + h * dimension;
            __global const float *d = dout + asker * wide + h * dimension;
            __global float *dk = dqkv + unit * row + wide + h * dimension;
            weighted8(dscore + slot, 1 - slots, q, -row, dimension, first, last, scale, dk);
            weighted8(score + slot, 1 - slots, d, -wide, dimension, first, last, 1.0f, dk + wide);
        }
    }
}

// --- GPU: 8 work-items share a head of a unit, a work-group has 8 of those ------------------------------

#define LANES 8

// a·b for the slot of this lane among 8 from ``slot`` on, where 8 lanes share each sum; 0 where it is not in
// [first, last). b is slot 0's.
static float slot_product(__global const float *a, __global const float *b, const int row,
                          const int dimension, const int slot, const int first, const int last,
                          __local float *part)
{
    const int lane = get_local_id(0);
    float sum[LANES] = {0.0f}, whole = 0.0f;
    for (int d = lane; d < dimension; d += LANES) {
        #pragma unroll
        for (int i = 0; i < LANES; ++i)
            if (slot + i >= first && slot + i < last) sum[i] += a[d] * b[(slot + i) * row + d];
    }
    for (int i = 0; i < LANES; ++i)
        part[i * (LANES + 1) + lane] = sum[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < LANES; ++i)
        whole += part[lane * (LANES + 1) + i];
    barrier(CLK_LOCAL_MEM_FENCE);
    return whole;
}

// The sum, or the largest, of one value of each of the 8 lanes, for all of them
static float over_lanes(const float mine, const bool largest, __local float *part)
{
    part[get_local_id(0)] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    float all = part[0];
    for (int i = 1; i < LANES; ++i)
        all = largest ? fmax(all, part[i]) : all + part[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    return all;
}

// group: 8, 8
// grid: 8, batch*units*heads
__kernel void DOTFeedForwardGPU(
    __global const float *qkv,      // [batch, units, 3, heads, dimension]
    __global const float *rpb,      // [positions, heads, width]
    __global float *score,          // [batch, units, heads, width]
    __global float *out,            // [batch, units, heads, dimension]
    const int batch, const int units, const int heads, const int dimension, const int width,
    const int positions, const int radius, const float scale)
{
    __local float parts[LANES * LANES * (LANES + 1)];
    __local float *part = parts + get_local_id(1) * LANES * (LANES + 1);
    const int lane = get_local_id(0), all = batch * units * heads;
    const bool live = get_global_id(1) < all;                   // others join in at the barriers only
    const int at = live ? get_global_id(1) : 0, h = at % heads, u = at / heads % units;
    const int first = max(0, radius - u), last = live ? min(width, units + radius - u) : 0;
    const int wide = heads * dimension, row = 3 * wide;
    __global const float *q = qkv + (at / heads) * row + h * dimension;
    __global const float *k = q + wide - radius * row, *v = k + wide;
    rpb += ((positions > 1 ? u : 0) * heads + h) * width;
    score += at * width;
    out += at * dimension;
    float top = -INFINITY, sum = 0.0f;
    for (int slot = 0; slot < width; slot += LANES) {
        const int j = slot + lane;
        const float s = slot_product(q, k, row, dimension, slot, first, last, part);
        if (j >= first && j < last) {
            score[j] = scale * s + rpb[j];
            top = fmax(top, score[j]);
        }
    }
    top = over_lanes(top, true, part);
    for (int j = lane; j < last; j += LANES)                    // which this lane has written
        if (j >= first) {
            score[j] = exp(score[j] - top);
            sum += score[j];
        }
    sum = over_lanes(sum, false, part);
    if (live)
        for (int j = lane; j < width; j += LANES)
            score[j] = j >= first && j < last ? score[j] / sum : 0.0f;
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (!live) return;
    for (int d = lane; d < dimension; d += LANES) {
        float value = 0.0f;
        for (int j = first; j < last; ++j)
            value += score[j] * v[j * row + d];
        out[d] = value;
    }
}

// group: 8, 8
// grid: 8, batch*units*heads
__kernel void DOTScoreGradientsGPU(
    __global const float *qkv,      // [batch, units, 3, heads, dimension]
    __global const float *score,    // [batch, units, heads, width]
    __global const float *dout,     // [batch, units, heads, dimension]
    __global float *dscore,         // [batch, units, heads, width]
    __global float *dqkv,           // [batch, units, 3, heads, dimension]
    const int batch, const int units, const int heads, const int dimension, const int width,
    const int radius, const float scale)
{
    __local float parts[LANES * LANES * (LANES + 1)];
    __local float *part = parts + get_local_id(1) * LANES * (LANES + 1);
    const int lane = get_local_id(0), all = batch * units * heads;
    const bool live = get_global_id(1) < all;
    const int at = live ? get_global_id(1) : 0, h = at % heads, u = at / heads % units;
    const int first = max(0, radius - u), last = live ? min(width, units + radius - u) : 0;
    const int wide = heads * dimension, row = 3 * wide, from = (at / heads) * row + h * dimension;
    __global const float *k = qkv + from + wide - radius * row, *v = k + wide;
    score += at * width;
    dscore += at * width;
    dout += at * dimension;
    dqkv += from;
    float along = 0.0f;
    for (int slot = 0; slot < width; slot += LANES) {
        const int j = slot + lane;
        const float dp = slot_product(dout, v, row, dimension, slot, first, last, part);
        if (j >= first && j < last) {
            dscore[j] = dp;
            along += score[j] * dp;
        }
    }
    along = over_lanes(along, false, part);
    if (live)
        for (int j = lane; j < width; j += LANES)
            dscore[j] = j >= first && j < last ? score[j] * (dscore[j] - along) : 0.0f;
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (!live) return;
    for (int d = lane; d < dimension; d += LANES) {
        float dq = 0.0f;
        for (int j = first; j < last; ++j)
            dq += dscore[j] * k[j * row + d];
        dqkv[d] = scale * dq;
    }
}
