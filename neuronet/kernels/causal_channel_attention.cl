// causal_channel_attention.cl: attention between the channels of a head that sees no later unit.
//
//   c[t] = c[t-1] + q[t] k[t]'           |q_i|[t]^2 = |q_i|[t-1]^2 + q[t,i]^2, and |k_j|[t] likewise
//   g[t,i,j] = c[t,i,j] / (|q_i|[t] |k_j|[t])      a[t,i,:] = softmax_j(tau g[t,i,:])      y[t] = a[t] v[t]
//
// so that unit t has the attention that channel_attention.cl gives the units up to t. Units are cut into
// stretches of up to 16; ``running`` holds the sums in front of each: line j is c[i,j] for all i, the last two
// are |q|^2 and |k|^2, as XCiTSums makes them.
//
// Used by   ops/causal_channel_attention.py     Checked against   reference/causal_channel_attention.py
// NeuroNet  has none: its scales look at units to come.
// Overwrites all outputs.

#define STRETCH 16
#define SMALL_TAU 40.0f     // up to here exp(-2 tau) is no 0, and as |g| <= 1 no row needs its maximum

// --- any device ----------------------------------------------------------------------------

// Entry p is initial and what the stretches before p sum to.
// grid: cells/8, batch
__kernel BY8 void XCiTRunning(
    __global const float *initial,  // [batch, cells]
    __global const float *sums,     // [batch, parts, cells]
    __global float *running,        // [batch, boundaries, cells]
    const int parts, const int boundaries, const int cells)
{
    const int i = 8 * get_global_id(0), n = get_global_id(1), count = cells - i;
    float8 sum = load8(initial + n * cells + i, count);
    store8(sum, running + n * boundaries * cells + i, count);
    for (int p = 0; p < parts; ++p) {
        sum += load8(sums + (n * parts + p) * cells + i, count);
        store8(sum, running + (n * boundaries + p + 1) * cells + i, count);
    }
}

// scales: 1 / |q| and 1 / |k|, norms at least eps
// grid: inner, boundaries-1, batch
__kernel void XCiTScales(
    __global const float *rows,     // [batch, units, width]
    __global const float *running,  // [batch, boundaries, heads, lines, dimension]
    __global float *scales,          // [batch, units, 2, inner]
    const int units, const int width, const int boundaries, const int heads, const int lines,
    const int dimension, const int inner, const float eps)
{
    const int c = get_global_id(0), i = c % dimension, h = c / dimension, p = get_global_id(1);
    const int n = get_global_id(2), length = (units + boundaries - 2) / (boundaries - 1);
    const int last = min((p + 1) * length, units);
    running += (((n * boundaries + p) * heads + h) * lines + dimension) * dimension + i;
    float q = running[0], k = running[dimension];
    for (int t = p * length; t < last; ++t) {
        __global const float *row = rows + (n * units + t) * width + c;
        q += row[0] * row[0];
        k += row[inner] * row[inner];
        scales[(n * units + t) * 2 * inner + c] = 1.0f / fmax(sqrt(q), eps);
        scales[((n * units + t) * 2 + 1) * inner + c] = 1.0f / fmax(sqrt(k), eps);
    }
}

// lse: the logarithm of the sum of exponentials of row i
// grid: inner, boundaries-1, batch
__kernel void XCiTCausal(
    __global const float *rows,     // [batch, units, width]
    __global const float *running,  // [batch, boundaries, heads, lines, dimension]
    __global const float *scales,    // [batch, units, 2, inner]
    __global const float *tau,      // [heads]
    __global float *lse,            // [batch, units, inner]
    __global float *y,              // [batch, units, inner]
    const int units, const int width, const int boundaries, const int heads, const int lines,
    const int dimension, const int inner, const int v_column)
{
    const int e = dimension, i = get_global_id(0) % e, h = get_global_id(0) / e, p = get_global_id(1);
    const int n = get_global_id(2), length = (units + boundaries - 2) / (boundaries - 1);
    const int first = n * units + p * length, count = min(length, units - p * length);
    rows += first * width + h * e;
    scales += first * 2 * inner + h * e;
    running += ((n * boundaries + p) * heads + h) * lines * e + i;
    const bool small = fabs(tau[h]) < SMALL_TAU;
    float most[STRETCH], total[STRETCH], sum[STRETCH];
    for (int t = 0; t < count; ++t) {
        most[t] = small ? fabs(tau[h]) : -INFINITY;
        total[t] = sum[t] = 0.0f;
    }
    for (int pass = small ? 1 : 0; pass < 2; ++pass)
        for (int j = 0; j < e; ++j) {
            float c = running[j * e];
            for (int t = 0; t < count; ++t) {
                __global const float *row = rows + t * width, *scale = scales + t * 2 * inner;
                c += row[i] * row[inner + j];
                const float s = tau[h] * c * (scale[i] * scale[inner + j]);
                if (pass == 0) {
                    most[t] = fmax(most[t], s);
                } else {
                    const float a = exp(s - most[t]);
                    total[t] += a;
                    sum[t] += a * row[v_column + j];
                }
            }
        }
    for (int t = 0; t < count; ++t) {
        lse[(first + t) * inner + h * e + i] = most[t] + log(total[t]);
        y[(first + t) * inner + h * e + i] = sum[t] / total[t];
    }
}

// --- CPU: 8 channels in the lanes --------------------------------------------------------------------

// group: 1, 1
// grid: boundaries-1, batch
__kernel void XCiTScalesCPU(
    __global const float *rows,     // [batch, units, width]
    __global const float *running,  // [batch, boundaries, heads, lines, dimension]
    __global float *scales,         // [batch, units, 2, inner]
    const int units, const int width, const int boundaries, const int heads, const int lines,
    const int dimension, const int inner, const float eps)
{
    const int e = dimension, p = get_global_id(0), n = get_global_id(1);
    const int length = (units + boundaries - 2) / (boundaries - 1), last = min((p + 1) * length, units);
    for (int h = 0; h < heads; ++h)
        for (int i = 0; i < e; i += 8) {
            __global const float *sum = running + (((n * boundaries + p) * heads + h) * lines + e) * e + i;
            float8 q = load8(sum, e - i), k = load8(sum + e, e - i);
            for (int t = p * length; t < last; ++t) {
                __global const float *row = rows + (n * units + t) * width + h * e + i;
                __global float *scale = scales + (n * units + t) * 2 * inner + h * e + i;
                const float8 qt = load8(row, e - i), kt = load8(row + inner, e - i);
                q += qt * qt;
                k += kt * kt;
                store8(1.0f / fmax(sqrt(q), (float8)eps), scale, e - i);
                store8(1.0f / fmax(sqrt(k), (float8)eps), scale + inner, e - i);
            }
        }
}

// group: 1, 1
// grid: boundaries*heads-heads, batch
__kernel void XCiTCausalCPU(
    __global const float *rows,     // [batch, units, width]
    __global const float *running,  // [batch, boundaries, heads, lines, dimension]
    __global const float *scales,    // [batch, units, 2, inner]
    __global const float *tau,      // [heads]
    __global float *lse,            // [batch, units, inner]
    __global float *y,              // [batch, units, inner]
    const int units, const int width, const int boundaries, const int heads, const int lines,
    const int dimension, const int inner, const int v_column)
{
    const int e = dimension, h = get_global_id(0) % heads, p = get_global_id(0) / heads, n = get_global_id(1);
    const int length = (units + boundaries - 2) / (boundaries - 1);
    const int first = n * units + p * length, count = min(length, units - p * length);
    rows += first * width + h * e;
    scales += first * 2 * inner + h * e;
    running += ((n * boundaries + p) * heads + h) * lines * e;
    const bool small = fabs(tau[h]) < SMALL_TAU;
    for (int i = 0; i < e; i += 8) {
        float8 q[STRETCH], tau_scale[STRETCH], most[STRETCH], total[STRETCH], sum[STRETCH];
        for (int t = 0; t < count; ++t) {
            q[t] = load8(rows + t * width + i, e - i);
            tau_scale[t] = tau[h] * load8(scales + t * 2 * inner + i, e - i);
            most[t] = small ? fabs(tau[h]) : -INFINITY;
            total[t] = sum[t] = 0.0f;
        }
        for (int j = 0; j < e && !small; ++j) {
            float8 c = load8(running + j * e + i, e - i);
            for (int t = 0; t < count; ++t) {
                c += q[t] * rows[t * width + inner + j];
                most[t] = fmax(most[t], c * (tau_scale[t] * scales[(2 * t + 1) * inner + j]));
            }
        }
        for (int j = 0; j < e; ++j) {
            float8 c = load8(running + j * e + i, e - i);
            for (int t = 0; t < count; ++t) {
                __global const float *row = rows + t * width;
                c += q[t] * row[inner + j];
                const float8 a = exp(c * (tau_scale[t] * scales[(2 * t + 1) * inner + j]) - most[t]);
                total[t] += a;
                sum[t] += a * row[v_column + j];
            }
        }
        for (int t = 0; t < count; ++t) {
            store8(most[t] + log(total[t]), lse + (first + t) * inner + h * e + i, e - i);
            store8(sum[t] / total[t], y + (first + t) * inner + h * e + i, e - i);
        }
    }
}
