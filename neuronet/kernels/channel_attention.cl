// channel_attention.cl: attention between the channels of a head, over all units of a sample.
//
//   g[i,j] = <q_i, k_j> / (|q_i| |k_j|)      a[i,:] = softmax_j(tau g[i,:])      y[t,i] = sum_j a[i,j] v[t,j]
//
// q_i is channel i of the queries along all units, |q_i| at least eps; tau is learned, one for each head. A row
// holds q | k | v of all heads, or q | k where the values are the queries; a head has ``dimension`` channels.
// Sums over units are made in parts of equal length and put together by the next launch. Matrices lie in memory
// as [j,i] or [i,j], so that what a kernel writes side by side it reads side by side.
//
// Used by   ops/channel_attention.py    Checked against   reference/channel_attention.py
// Source    El-Nouby et al., arXiv:2106.09681; DFFT, arXiv:2206.06829.
// NeuroNet  XCiTFeedForward, XCiTInsideGradients; errata G20-G24.
// Overwrites all outputs.

// --- any device ----------------------------------------------------------------------------

// What a stretch of units sums to. Line j < dimension is sum_t a[t,j] b[t,i] for all i, the line behind them
// sum_t b[t,i] c[t,i], the last sum_t a[t,i]^2. Forward: a = k, b = c = q. Backward: a = v, b = dy, c = y.
// grid: dimension, lines*heads, parts*batch
__kernel void XCiTSums(
    __global const float *a,        // [batch, units, width_a]
    __global const float *b,        // [batch, units, width_b]
    __global const float *c,        // [batch, units, width_b]
    __global float *sums,           // [batch, parts, heads, lines, dimension]
    const int units, const int width_a, const int width_b, const int parts, const int heads, const int lines,
    const int dimension, const int a_column, const int b_column)
{
    const int i = get_global_id(0), line = get_global_id(1) % lines, h = get_global_id(1) / lines;
    const int part = get_global_id(2) % parts, n = get_global_id(2) / parts;
    const int length = (units + parts - 1) / parts, first = part * length, last = min(first + length, units);
    a += n * units * width_a + a_column + h * dimension;
    b += n * units * width_b + b_column + h * dimension;
    c += n * units * width_b + b_column + h * dimension;
    float sum = 0.0f;
    for (int t = first; t < last; ++t) {
        const float at = a[t * width_a + (line < dimension ? line : i)], bt = b[t * width_b + i];
        sum += line < dimension ? at * bt : line == dimension ? bt * c[t * width_b + i] : at * at;
    }
    sums[(((n * parts + part) * heads + h) * lines + line) * dimension + i] = sum;
}

static float over_parts(__global const float *sums, const int at, const int parts, const int stride)
{
    float sum = 0.0f;
    for (int p = 0; p < parts; ++p) sum += sums[p * stride + at];
    return sum;
}

// Row i of the attention. scores: g, and in its last two lines |q| and |k|, which are eps where they are less.
// grid: dimension, heads, batch
__kernel void XCiTScores(
    __global const float *sums,     // [batch, parts, heads, lines, dimension]
    __global const float *tau,      // [heads]
    __global float *scores,         // [batch, heads, lines, dimension]
    __global float *mix,            // [batch, heads, dimension, dimension]
    const int parts, const int heads, const int lines, const int dimension, const float eps)
{
    const int i = get_global_id(0), h = get_global_id(1), n = get_global_id(2);
    const int e = dimension, stride = heads * lines * e;
    sums += n * parts * stride + h * lines * e;
    scores += (n * heads + h) * lines * e;
    mix += (n * heads + h) * e * e;
    const float q = fmax(sqrt(over_parts(sums, e * e + i, parts, stride)), eps);
    float most = -INFINITY, total = 0.0f;
    for (int j = 0; j < e; ++j) {
        const float k = fmax(sqrt(over_parts(sums, (e + 1) * e + j, parts, stride)), eps);
        const float g = over_parts(sums, j * e + i, parts, stride) / (q * k);
        scores[j * e + i] = g;
        if (i == j) scores[(e + 1) * e + i] = k;
        most = fmax(most, tau[h] * g);
    }
    scores[e * e + i] = q;
    for (int j = 0; j < e; ++j) {
        const float p = exp(tau[h] * scores[j * e + i] - most);
        mix[j * e + i] = p;
        total += p;
    }
    for (int j = 0; j < e; ++j) mix[j * e + i] /= total;
}

// grid: inner, units, batch
__kernel void XCiTFeedForward(
    __global const float *rows,     // [batch, units, width]
    __global const float *mix,      // [batch, heads, dimension, dimension]
    __global float *y,              // [batch, units, inner]
    const int units, const int width, const int heads, const int dimension, const int inner,
    const int v_column)
{
    const int i = get_global_id(0) % dimension, h = get_global_id(0) / dimension;
    const int t = get_global_id(1), n = get_global_id(2);
    rows += (n * units + t) * width + v_column + h * dimension;
    mix += (n * heads + h) * dimension * dimension;
    float sum = 0.0f;
    for (int j = 0; j < dimension; ++j)
        sum += mix[j * dimension + i] * rows[j];
    y[(n * units + t) * inner + h * dimension + i] = sum;
}

// What the input gradients need of ds = a (da - D), D[i] = sum_t dy[t,i] y[t,i]: with m = tau ds / (|q| |k|)
// factors m as [j,i], m as [i,j] and a as [i,j]; corrections tau sum_j ds g / |q|^2 and the same of k, 0 where
// the norm is eps; tau_parts the sums of ds g for channel i.
// grid: dimension, heads, batch
__kernel void XCiTFactors(
    __global const float *sums,     // [batch, parts, heads, lines, dimension]
    __global const float *scores,   // [batch, heads, lines, dimension]
    __global const float *mix,      // [batch, heads, dimension, dimension]
    __global const float *tau,      // [heads]
    __global float *factors,        // [batch, heads, 3, dimension, dimension]
    __global float *corrections,    // [batch, heads, 2, dimension]
    __global float *tau_parts,      // [batch, dimension, heads]
    const int parts, const int heads, const int lines, const int dimension, const float eps)
{
    const int x = get_global_id(0), h = get_global_id(1), n = get_global_id(2);
    const int e = dimension, stride = heads * lines * e;
    sums += n * parts * stride + h * lines * e;
    scores += (n * heads + h) * lines * e;
    mix += (n * heads + h) * e * e;
    factors += (n * heads + h) * 3 * e * e;
    corrections += (n * heads + h) * 2 * e;
    __global const float *q = scores + e * e, *k = q + e;
    float along_q = 0.0f, along_k = 0.0f;
    const float d = over_parts(sums, e * e + x, parts, stride);
    for (int j = 0; j < e; ++j) {                   // x as i
        const float ds = mix[j * e + x] * (over_parts(sums, j * e + x, parts, stride) - d);
        along_q += ds * scores[j * e + x];
        factors[j * e + x] = tau[h] * ds / (q[x] * k[j]);
    }
    for (int i = 0; i < e; ++i) {                   // x as j
        const float di = over_parts(sums, e * e + i, parts, stride), a = mix[x * e + i];
        const float ds = a * (over_parts(sums, x * e + i, parts, stride) - di);
        along_k += ds * scores[x * e + i];
        factors[(e + i) * e + x] = tau[h] * ds / (q[i] * k[x]);
        factors[(2 * e + i) * e + x] = a;
    }
    corrections[x] = q[x] > eps ? tau[h] * along_q / (q[x] * q[x]) : 0.0f;
    corrections[e + x] = k[x] > eps ? tau[h] * along_k / (k[x] * k[x]) : 0.0f;
    tau_parts[(n * e + x) * heads + h] = along_q;
}

// grid: inner, units, batch
__kernel void XCiTInsideGradients(
    __global const float *rows,         // [batch, units, width]
    __global const float *factors,      // [batch, heads, 3, dimension, dimension]
    __global const float *corrections,  // [batch, heads, 2, dimension]
    __global const float *dy,           // [batch, units, inner]
    __global float *drows,              // [batch, units, width]
    const int units, const int width, const int heads, const int dimension, const int inner,
    const int v_column)
{
    const int e = dimension, x = get_global_id(0) % e, h = get_global_id(0) / e;
    const int t = get_global_id(1), n = get_global_id(2);
    rows += (n * units + t) * width + h * e;
    drows += (n * units + t) * width + h * e;
    dy += (n * units + t) * inner + h * e;
    factors += (n * heads + h) * 3 * e * e + x;
    corrections += (n * heads + h) * 2 * e + x;
    float dq = -rows[x] * corrections[0], dk = -rows[inner + x] * corrections[e], dv = 0.0f;
    for (int j = 0; j < e; ++j) {
        dq += factors[j * e] * rows[inner + j];
        dk += factors[(e + j) * e] * rows[j];
        dv += factors[(2 * e + j) * e] * dy[j];
    }
    drows[x] = v_column ? dq : dq + dv;
    drows[inner + x] = dk;
    if (v_column) drows[v_column + x] = dv;
}

// --- CPU: 8 channels in the lanes, several lines or units at once ----------------------------------------

#define LINES 8     // of sums in registers
#define UNITS 4     // whose channels are in registers
#define BLOCK 16    // units of a work-item

// group: 1, 1
// grid: heads*parts, batch
__kernel void XCiTSumsCPU(
    __global const float *a,        // [batch, units, width_a]
    __global const float *b,        // [batch, units, width_b]
    __global const float *c,        // [batch, units, width_b]
    __global float *sums,           // [batch, parts, heads, lines, dimension]
    const int units, const int width_a, const int width_b, const int parts, const int heads, const int lines,
    const int dimension, const int a_column, const int b_column)
{
    const int h = get_global_id(0) % heads, part = get_global_id(0) / heads, n = get_global_id(1);
    const int e = dimension;
    const int length = (units + parts - 1) / parts, first = part * length, last = min(first + length, units);
    a += n * units * width_a + a_column + h * e;
    b += n * units * width_b + b_column + h * e;
    c += n * units * width_b + b_column + h * e;
    sums += ((n * parts + part) * heads + h) * lines * e;
    for (int i = 0; i < lines * e; ++i) sums[i] = 0.0f;
    for (int begin = first; begin < last; begin += BLOCK) {     // rows far apart share few places of a cache
        const int end = min(begin + BLOCK, last);
        for (int i = 0; i < e; i += 8) {
            for (int j = 0; j < e; j += LINES) {
                int from[LINES];                        // lines behind the last repeat it
                float8 sum[LINES];
                #pragma unroll
                for (int r = 0; r < LINES; ++r) {
                    from[r] = min(j + r, e - 1);
                    sum[r] = load8(sums + from[r] * e + i, e - i);
                }
                for (int t = begin; t < end; ++t) {
                    const float8 bt = load8(b + t * width_b + i, e - i);
                    #pragma unroll
                    for (int r = 0; r < LINES; ++r) sum[r] += a[t * width_a + from[r]] * bt;
                }
                #pragma unroll
                for (int r = 0; r < LINES; ++r)
                    if (j + r < e) store8(sum[r], sums + (j + r) * e + i, e - i);
            }
            float8 products = load8(sums + e * e + i, e - i), squares = load8(sums + (e + 1) * e + i, e - i);
            for (int t = begin; t < end; ++t) {
                const float8 at = load8(a + t * width_a + i, e - i);
                products += load8(b + t * width_b + i, e - i) * load8(c + t * width_b + i, e - i);
                squares += at * at;
            }
            store8(products, sums + e * e + i, e - i);
            store8(squares, sums + (e + 1) * e + i, e - i);
        }
    }
}

static float8 over_parts8(__global const float *sums, const int parts, const int stride, const int count)
{
    float8 sum = 0.0f;
    for (int p = 0; p < parts; ++p) sum += load8(sums + p * stride, count);
    return sum;
}

// group: 1, 1
// grid: heads, batch
__kernel void XCiTScoresCPU(
    __global const float *sums,     // [batch, parts, heads, lines, dimension]
    __global const float *tau,      // [heads]
    __global float *scores,         // [batch, heads, lines, dimension]
    __global float *mix,            // [batch, heads, dimension, dimension]
    const int parts, const int heads, const int lines, const int dimension, const float eps)
{
    const int h = get_global_id(0), n = get_global_id(1), e = dimension, stride = heads * lines * e;
    sums += n * parts * stride + h * lines * e;
    scores += (n * heads + h) * lines * e;
    mix += (n * heads + h) * e * e;
    for (int i = e * e; i < (e + 2) * e; i += 8)    // both norms
        store8(fmax(sqrt(over_parts8(sums + i, parts, stride, (e + 2) * e - i)), (float8)eps), scores + i,
               (e + 2) * e - i);
    for (int i = 0; i < e; i += 8) {
        const float8 q = fmax(load8(scores + e * e + i, e - i), (float8)eps);
        float8 most = -INFINITY, total = 0.0f;
        for (int j = 0; j < e; ++j) {
            const float8 qk = q * scores[(e + 1) * e + j];
            const float8 g = over_parts8(sums + j * e + i, parts, stride, e - i) / qk;
            store8(g, scores + j * e + i, e - i);
            most = fmax(most, tau[h] * g);
        }
        for (int j = 0; j < e; ++j) {
            const float8 p = exp(tau[h] * load8(scores + j * e + i, e - i) - most);
            store8(p, mix + j * e + i, e - i);
            total += p;
        }
        for (int j = 0; j < e; ++j) store8(load8(mix + j * e + i, e - i) / total, mix + j * e + i, e - i);
    }
}

// group: 1, 1
// grid: units/16, batch
__kernel void XCiTFeedForwardCPU(
    __global const float *rows,     // [batch, units, width]
    __global const float *mix,      // [batch, heads, dimension, dimension]
    __global float *y,              // [batch, units, inner]
    const int units, const int width, const int heads, const int dimension, const int inner,
    const int v_column)
{
    const int n = get_global_id(1), e = dimension, begin = BLOCK * get_global_id(0);
    const int end = min(begin + BLOCK, units);
    for (int h = 0; h < heads; ++h)
        for (int t = begin; t < end; t += UNITS)
            for (int i = 0; i < e; i += 16) {
                __global const float *m = mix + (n * heads + h) * e * e + i, *v[UNITS];
                float8 sum[UNITS], next[UNITS];
                #pragma unroll
                for (int r = 0; r < UNITS; ++r) {       // units behind the last repeat it
                    v[r] = rows + (n * units + min(t + r, end - 1)) * width + v_column + h * e;
                    sum[r] = next[r] = 0.0f;
                }
                for (int j = 0; j < e; ++j) {
                    const float8 m0 = load8(m + j * e, e - i), m1 = load8(m + j * e + 8, e - i - 8);
                    #pragma unroll
                    for (int r = 0; r < UNITS; ++r) {
                        sum[r] += v[r][j] * m0;
                        next[r] += v[r][j] * m1;
                    }
                }
                #pragma unroll
                for (int r = 0; r < UNITS; ++r)
                    if (t + r < end) {
                        store8(sum[r], y + (n * units + t + r) * inner + h * e + i, e - i);
                        store8(next[r], y + (n * units + t + r) * inner + h * e + i + 8, e - i - 8);
                    }
            }
}

static void scatter8(const float8 v, __global float *p, const int stride, const int count)
{
    float value[8];
    vstore8(v, 0, value);
    for (int r = 0; r < min(8, count); ++r) p[r * stride] = value[r];
}

// group: 1, 1
// grid: heads, batch
__kernel void XCiTFactorsCPU(
    __global const float *sums,     // [batch, parts, heads, lines, dimension]
    __global const float *scores,   // [batch, heads, lines, dimension]
    __global const float *mix,      // [batch, heads, dimension, dimension]
    __global const float *tau,      // [heads]
    __global float *factors,        // [batch, heads, 3, dimension, dimension]
    __global float *corrections,    // [batch, heads, 2, dimension]
    __global float *tau_parts,      // [batch, dimension, heads]
    const int parts, const int heads, const int lines, const int dimension, const float eps)
{
    const int h = get_global_id(0), n = get_global_id(1), e = dimension, stride = heads * lines * e;
    sums += n * parts * stride + h * lines * e;
    scores += (n * heads + h) * lines * e;
    mix += (n * heads + h) * e * e;
    factors += (n * heads + h) * 3 * e * e;
    corrections += (n * heads + h) * 2 * e;
    __global const float *q = scores + e * e, *k = q + e;
    for (int j = 0; j < e; ++j) corrections[e + j] = 0.0f;
    for (int i = 0; i < e; i += 8) {
        const int count = e - i;
        const float8 d = over_parts8(sums + e * e + i, parts, stride, count);
        float8 qi = fmax(load8(q + i, count), (float8)eps), along = 0.0f;  // not 0 behind the last lane
        for (int j = 0; j < e; ++j) {
            const float8 a = load8(mix + j * e + i, count);
            const float8 ds = a * (over_parts8(sums + j * e + i, parts, stride, count) - d);
            const float8 part = ds * load8(scores + j * e + i, count), m = tau[h] * ds / (qi * k[j]);
            along += part;
            corrections[e + j] += sum8(part);
            store8(m, factors + j * e + i, count);
            scatter8(m, factors + (e + i) * e + j, e, count);
            scatter8(a, factors + (2 * e + i) * e + j, e, count);
        }
        scatter8(along, tau_parts + (n * e + i) * heads + h, heads, count);
        store8(qi > eps ? tau[h] * along / (qi * qi) : (float8)0.0f, corrections + i, count);
    }
    for (int j = 0; j < e; ++j)
        corrections[e + j] = k[j] > eps ? tau[h] * corrections[e + j] / (k[j] * k[j]) : 0.0f;
}

// group: 1, 1
// grid: units/16, batch
__kernel void XCiTInsideGradientsCPU(
    __global const float *rows,         // [batch, units, width]
    __global const float *factors,      // [batch, heads, 3, dimension, dimension]
    __global const float *corrections,  // [batch, heads, 2, dimension]
    __global const float *dy,           // [batch, units, inner]
    __global float *drows,              // [batch, units, width]
    const int units, const int width, const int heads, const int dimension, const int inner,
    const int v_column)
{
    const int n = get_global_id(1), e = dimension, begin = BLOCK * get_global_id(0);
    const int end = min(begin + BLOCK, units);
    for (int h = 0; h < heads; ++h)
        for (int t = begin; t < end; t += UNITS)
            for (int x = 0; x < e; x += 8) {
                __global const float *f = factors + (n * heads + h) * 3 * e * e + x, *q[UNITS], *d[UNITS];
                const float8 of_q = load8(corrections + (n * heads + h) * 2 * e + x, e - x);
                const float8 of_k = load8(corrections + ((n * heads + h) * 2 + 1) * e + x, e - x);
                float8 dq[UNITS], dk[UNITS], dv[UNITS];
                #pragma unroll
                for (int r = 0; r < UNITS; ++r) {
                    const int row = n * units + min(t + r, end - 1);
                    q[r] = rows + row * width + h * e;
                    d[r] = dy + row * inner + h * e;
                    dq[r] = -load8(q[r] + x, e - x) * of_q;
                    dk[r] = -load8(q[r] + inner + x, e - x) * of_k;
                    dv[r] = 0.0f;
                }
                for (int j = 0; j < e; ++j) {
                    const float8 f0 = load8(f + j * e, e - x), f1 = load8(f + (e + j) * e, e - x);
                    const float8 f2 = load8(f + (2 * e + j) * e, e - x);
                    #pragma unroll
                    for (int r = 0; r < UNITS; ++r) {
                        dq[r] += f0 * q[r][inner + j];
                        dk[r] += f1 * q[r][j];
                        dv[r] += f2 * d[r][j];
                    }
                }
                #pragma unroll
                for (int r = 0; r < UNITS; ++r)
                    if (t + r < end) {
                        __global float *out = drows + (n * units + t + r) * width + h * e + x;
                        store8(v_column ? dq[r] : dq[r] + dv[r], out, e - x);
                        store8(dk[r], out + inner, e - x);
                        if (v_column) store8(dv[r], out + v_column, e - x);
                    }
            }
}
