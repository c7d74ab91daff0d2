// channel_correlation.cl: how alike channels are, and a loss that keeps like ones open in the mask.
//
//   c[i,j]  = mean over heads h of Re <q[h,i], k[g,j]> / (|q[h,i]| |k[g,j]|)     g = h % heads_kv
//   E[i,j]  = exp(c[i,j] / tau)      P[i] = sum_j E[i,j] m[i,j]      S[i] = sum_j E[i,j]
//   value   = weight (-mean_i log(P[i] / S[i]) + regular / (units (units - 1)) sum_{i != j} |m[i,j]|)
//
// for each row. Norms are at least eps; a shorter vector has no direction and gets no gradient (it would be
// 1 / eps times the others'). m[i,i] is 1 whatever the mask says. With the unit vectors K = k / |k| and the
// sum Q of q / |q| over the heads that share a key, c is Q·K over all heads_kv, divided by heads.
//
// Used by   ops/channel_correlation.py      Checked against   reference/channel_correlation.py
// Source    Wu et al., CATCH, arXiv:2410.12261 (its channel correlation discovering). NeuroNet has none;
//           errata C19, C20.
// Adds to what MaskAttentionGradientsComplex wrote in dq, dkv and dmask; overwrites all else. A row of kv has
// keys from k_column on. scratch is the CPU's.

// The norms of heads queries and heads_kv keys, at least eps
// grid: slots, units, rows
__kernel void ChannelLengths(
    __global const float *q,        // [rows, units, q_width]
    __global const float *kv,       // [rows, units, kv_width]
    __global float *lengths,        // [rows, units, slots]
    const int units, const int slots, const int q_width, const int kv_width, const int heads,
    const int dimension, const int k_column, const float eps)
{
    const int at = get_global_id(2) * units + get_global_id(1), slot = get_global_id(0);
    const int width = 2 * dimension;
    __global const float *x = slot < heads ? q + at * q_width + slot * width
                                           : kv + at * kv_width + k_column + (slot - heads) * width;
    float sum = 0.0f;
    for (int w = 0; w < width; ++w)
        sum += x[w] * x[w];
    const float norm = sqrt(sum);
    lengths[at * slots + slot] = norm < eps ? eps : norm;
}

// grid: units, units, rows
__kernel void ChannelCosines(
    __global const float *q,        // [rows, units, q_width]
    __global const float *kv,       // [rows, units, kv_width]
    __global const float *lengths,  // [rows, units, slots]
    __global float *scratch,        // [items, space]
    __global float *cosines,        // [rows, units, units]
    const int units, const int slots, const int q_width, const int kv_width, const int heads,
    const int dimension, const int k_column)
{
    const int j = get_global_id(0), i = get_global_id(1), first = get_global_id(2) * units;
    const int width = 2 * dimension, heads_kv = slots - heads;
    __global const float *k = kv + (first + j) * kv_width + k_column;
    float cosine = 0.0f;
    q += (first + i) * q_width;
    for (int h = 0; h < heads; ++h) {
        const int g = h % heads_kv;
        float s = 0.0f;
        for (int w = 0; w < width; ++w)
            s += q[h * width + w] * k[g * width + w];
        cosine += s / (lengths[(first + i) * slots + h] * lengths[(first + j) * slots + heads + g]);
    }
    cosines[(first + i) * units + j] = cosine / heads;
}

static float opened(__global const float *mask, const int i, const int j) { return i == j ? 1.0f : mask[j]; }

// P and S of one channel, of E divided by its largest
static float2 sums_of(__global const float *c, __global const float *mask, const int i, const int units,
                      const float tau, float *top)
{
    float2 sums = 0.0f;
    *top = c[0];
    for (int j = 1; j < units; ++j)
        *top = fmax(*top, c[j]);
    for (int j = 0; j < units; ++j) {
        const float e = exp((c[j] - *top) / tau);
        sums += (float2)(e * opened(mask, i, j), e);
    }
    return sums;
}

// grid: rows
__kernel void ChannelCorrelation(
    __global const float *cosines,  // [rows, units, units]
    __global const float *mask,     // [rows, units, units]
    __global float *value,          // [rows]
    const int units, const float tau, const float regular, const float weight)
{
    const int r = get_global_id(0);
    float cluster = 0.0f, open = 0.0f, top;
    for (int i = 0; i < units; ++i) {
        const int at = (r * units + i) * units;
        const float2 sums = sums_of(cosines + at, mask + at, i, units, tau, &top);
        cluster -= log(sums.x / sums.y);
        for (int j = 0; j < units; ++j)
            open += i == j ? 0.0f : fabs(mask[at + j]);
    }
    const int pairs = max(1, units * (units - 1));              // none for one channel: the loss is 0
    value[r] = weight * (cluster / units + regular * open / pairs);
}

// dcosines = dvalue/dc, and dmask += dvalue/dm
// grid: units, rows
__kernel void ChannelCorrelationMaskGradients(
    __global const float *cosines,  // [rows, units, units]
    __global const float *mask,     // [rows, units, units]
    __global float *dcosines,       // [rows, units, units]
    __global float *dmask,          // [rows, units, units]
    const int units, const float tau, const float regular, const float weight)
{
    const int i = get_global_id(0), at = (get_global_id(1) * units + i) * units;
    const int pairs = max(1, units * (units - 1));
    float top;
    const float2 sums = sums_of(cosines + at, mask + at, i, units, tau, &top);
    for (int j = 0; j < units; ++j) {
        const float e = exp((cosines[at + j] - top) / tau), m = opened(mask + at, i, j);
        dcosines[at + j] = weight / (units * tau) * e * (1.0f / sums.y - m / sums.x);
        if (i != j) dmask[at + j] += weight * (regular * sign(m) / pairs - e / sums.x / units);
    }
}

// With U = sum_j dc[i,j] K[j] / heads for a query, sum_i dc[i,j] Q[i] / heads for a key, and x' = x / |x|:
// dx += (U - x' <U, x'>) / |x|. A work-item has one query or key.
// grid: slots, units, rows
__kernel void ChannelCorrelationGradients(
    __global const float *q,        // [rows, units, q_width]
    __global const float *kv,       // [rows, units, kv_width]
    __global const float *lengths,  // [rows, units, slots]
    __global const float *dcosines, // [rows, units, units]
    __global float *scratch,        // [items, space]
    __global float *dq,             // [rows, units, q_width]
    __global float *dkv,            // [rows, units, kv_width]
    const int units, const int slots, const int q_width, const int kv_width, const int heads,
    const int dimension, const int k_column, const float eps)
{
    const int slot = get_global_id(0), i = get_global_id(1), first = get_global_id(2) * units, at = first + i;
    const int width = 2 * dimension, heads_kv = slots - heads;
    const bool query = slot < heads;
    const int g = query ? slot % heads_kv : slot - heads;
    const int x_at = query ? at * q_width + slot * width : at * kv_width + k_column + g * width;
    __global const float *x = (query ? q : kv) + x_at;
    __global float *dx = (query ? dq : dkv) + x_at;
    const float part = 1.0f / lengths[at * slots + slot];
    float along = 0.0f;
    for (int pass = 0; pass < 2; ++pass)                        // first <U, x'>, then the gradient
        for (int w = 0; w < width; ++w) {
            float u = 0.0f;
            for (int j = 0; j < units; ++j) {
                const int other = first + j;
                if (query) {
                    u += dcosines[at * units + j] * kv[other * kv_width + k_column + g * width + w]
                         / lengths[other * slots + heads + g];
                } else {
                    float sum = 0.0f;
                    for (int h = g; h < heads; h += heads_kv)
                        sum += q[other * q_width + h * width + w] / lengths[other * slots + h];
                    u += dcosines[other * units + i] * sum;
                }
            }
            u /= heads;
            if (pass == 0) along += u * x[w] * part;
            else if (part * eps < 1.0f) dx[w] += part * (u - along * x[w] * part);
        }
}

// --- CPU: 8 keys, or 8 floats of a vector, in the lanes; a work-item has rows, one after the other ------

// to[i] = factor / lengths of a unit times its vector, added where ``more``: to [units, width]
static void unit_vectors(__global const float *x, const int pitch, __global const float *lengths,
                         const int slots, const int units, const int width, const float factor,
                         const int more, __global float *to)
{
    for (int i = 0; i < units; ++i) {
        const float part = factor / lengths[i * slots];
        for (int w = 0; w < width; w += 8)
            put8(part * load8(x + i * pitch + w, width - w), more, to + i * width + w, width - w);
    }
}

// dx += (u - x' <u, x'>) / |x| for each unit
static void add_across(__global const float *u, __global const float *x, const int pitch,
                       __global const float *lengths, const int slots, const int units, const int width,
                       const float eps, __global float *dx)
{
    for (int i = 0; i < units; ++i, u += width, x += pitch, dx += pitch) {
        const float part = 1.0f / lengths[i * slots];
        if (part * eps >= 1.0f) continue;
        float8 sum = 0.0f;
        for (int w = 0; w < width; w += 8)
            sum += load8(u + w, width - w) * load8(x + w, width - w);
        const float along = sum8(sum) * part * part;
        for (int w = 0; w < width; w += 8)
            put8(part * (load8(u + w, width - w) - along * load8(x + w, width - w)), 1, dx + w, width - w);
    }
}

// grid: units, rows
__kernel BY8 void ChannelLengthsCPU(
    __global const float *q,        // [rows, units, q_width]
    __global const float *kv,       // [rows, units, kv_width]
    __global float *lengths,        // [rows, units, slots]
    const int units, const int slots, const int q_width, const int kv_width, const int heads,
    const int dimension, const int k_column, const float eps)
{
    const int at = get_global_id(1) * units + get_global_id(0), width = 2 * dimension;
    __global const float *x = q + at * q_width;
    for (int slot = 0; slot < slots; ++slot, x += width) {
        if (slot == heads) x = kv + at * kv_width + k_column;
        float8 sum = 0.0f;
        for (int w = 0; w < width; w += 8) {
            const float8 part = load8(x + w, width - w);
            sum += part * part;
        }
        const float norm = sqrt(sum8(sum));
        lengths[at * slots + slot] = norm < eps ? eps : norm;
    }
}

// group: 1
// grid: items
__kernel BY8 void ChannelCosinesCPU(
    __global const float *q,        // [rows, units, q_width]
    __global const float *kv,       // [rows, units, kv_width]
    __global const float *lengths,  // [rows, units, slots]
    __global float *scratch,        // [items, space]
    __global float *cosines,        // [rows, units, units]
    const int rows, const int units, const int slots, const int q_width, const int kv_width, const int items,
    const int space, const int heads, const int dimension, const int k_column)
{
    const int width = 2 * dimension, columns = UP8(units), heads_kv = slots - heads;
    __global float *tile = scratch + get_global_id(0) * space, *sum = tile + units * columns;
    __global float *at = sum + units * columns, *kt = at + columns * width;
    for (int r = get_global_id(0); r < rows; r += items) {
        const int first = r * units;
        for (int g = 0; g < heads_kv; ++g) {
            __global const float *norms = lengths + first * slots;
            __global const float *k = kv + first * kv_width + k_column + g * width;
            unit_vectors(k, kv_width, norms + heads + g, slots, units, width, 1.0f / heads, 0, at);
            transposed8(at, width, units, width, kt);
            for (int h = g; h < heads; h += heads_kv)
                unit_vectors(q + first * q_width + h * width, q_width, norms + h, slots, units, width, 1.0f,
                             h > g, at);
            dots8(at, width, units, kt, columns, width, tile);
            for (int i = 0; i < units * columns; i += 8)
                put8(LOAD8(tile + i), g > 0, sum + i, 8);
        }
        for (int i = 0; i < units; ++i)
            for (int j = 0; j < units; j += 8)
                store8(LOAD8(sum + i * columns + j), cosines + (first + i) * units + j, units - j);
    }
}

// group: 1
// grid: items
__kernel BY8 void ChannelCorrelationGradientsCPU(
    __global const float *q,        // [rows, units, q_width]
    __global const float *kv,       // [rows, units, kv_width]
    __global const float *lengths,  // [rows, units, slots]
    __global const float *dcosines, // [rows, units, units]
    __global float *scratch,        // [items, space]
    __global float *dq,             // [rows, units, q_width]
    __global float *dkv,            // [rows, units, kv_width]
    const int rows, const int units, const int slots, const int q_width, const int kv_width, const int items,
    const int space, const int heads, const int dimension, const int k_column, const float eps)
{
    const int width = 2 * dimension, heads_kv = slots - heads;
    const float part = 1.0f / heads;
    __global float *vectors = scratch + get_global_id(0) * space, *u = vectors + units * width;
    for (int r = get_global_id(0); r < rows; r += items) {
        __global const float *dc = dcosines + r * units * units, *norms = lengths + r * units * slots;
        for (int g = 0; g < heads_kv; ++g) {
            const int k_at = r * units * kv_width + k_column + g * width, q_at = r * units * q_width;
            unit_vectors(kv + k_at, kv_width, norms + heads + g, slots, units, width, part, 0, vectors);
            blended8(dc, units, 1, vectors, width, units, width, 0, u, width, units);
            for (int h = g; h < heads; h += heads_kv)
                add_across(u, q + q_at + h * width, q_width, norms + h, slots, units, width, eps,
                           dq + q_at + h * width);
            for (int h = g; h < heads; h += heads_kv)
                unit_vectors(q + q_at + h * width, q_width, norms + h, slots, units, width, part, h > g,
                             vectors);
            blended8(dc, 1, units, vectors, width, units, width, 0, u, width, units);
            add_across(u, kv + k_at, kv_width, norms + heads + g, slots, units, width, eps, dkv + k_at);
        }
    }
}
