// causal_channel_gradient.cl: gradients of causal_channel_attention.cl, whose names it keeps.
//
//   ds[t,i,j] = a dy[t,i] (v[t,j] - y[t,i])        r[s] = sum over t >= s of tau ds[t] / (|q_i|[t] |k_j|[t])
//   dq[s,i] = sum_j r[s,i,j] k[s,j] - q[s,i] * sum over t >= s, j of tau ds g / |q_i|[t]^2
//
// dk likewise; where a norm is eps, its term of the second sum is 0. Sums over later units run backwards from
// stretch to stretch: ``sums`` of a stretch and ``later`` behind each have line j for r[i,j], all i, and two
// more for the second sums of q and k. Everything of a unit is made again from lse, so that nothing of size
// units * dimension^2 is stored.
//
// Used by   ops/causal_channel_gradient.py      Checked against   reference/causal_channel_gradient.py
// NeuroNet  has none.
// Overwrites all outputs.

#define STRETCH 16

// --- any device ----------------------------------------------------------------------------

// Entry p is what the stretches from p on sum to, so that the last is 0.
// grid: cells/8, batch
__kernel BY8 void XCiTRunningBack(
    __global const float *sums,     // [batch, parts, cells]
    __global float *later,        // [batch, boundaries, cells]
    const int parts, const int boundaries, const int cells)
{
    const int i = 8 * get_global_id(0), n = get_global_id(1), count = cells - i;
    float8 sum = 0.0f;
    store8(sum, later + (n * boundaries + parts) * cells + i, count);
    for (int p = parts - 1; p >= 0; --p) {
        sum += load8(sums + (n * parts + p) * cells + i, count);
        store8(sum, later + (n * boundaries + p) * cells + i, count);
    }
}

// What a stretch adds to the sums that run backwards; tau_parts sum to dL/dtau.
// grid: dimension, boundaries*heads-heads, batch
__kernel void XCiTCausalSums(
    __global const float *rows,     // [batch, units, width]
    __global const float *running,  // [batch, boundaries, heads, lines, dimension]
    __global const float *scales,    // [batch, units, 2, inner]
    __global const float *tau,      // [heads]
    __global const float *lse,      // [batch, units, inner]
    __global const float *y,        // [batch, units, inner]
    __global const float *dy,       // [batch, units, inner]
    __global float *sums,           // [batch, parts, heads, lines, dimension]
    __global float *tau_parts,      // [batch, parts, dimension, heads]
    const int units, const int width, const int boundaries, const int parts, const int heads, const int lines,
    const int dimension, const int inner, const int v_column, const float eps)
{
    const int e = dimension, x = get_global_id(0), h = get_global_id(1) % heads, p = get_global_id(1) / heads;
    const int n = get_global_id(2), length = (units + parts - 1) / parts;
    const int first = n * units + p * length, count = min(length, units - p * length);
    rows += first * width + h * e;
    scales += first * 2 * inner + h * e;
    lse += first * inner + h * e;
    y += first * inner + h * e;
    dy += first * inner + h * e;
    running += ((n * boundaries + p) * heads + h) * lines * e;
    sums += ((n * parts + p) * heads + h) * lines * e;
    const float free = 1.0f / eps;                  // scales of norms that are not eps are less
    float along_q = 0.0f, along_k = 0.0f, dtau = 0.0f;
    for (int j = 0; j < e; ++j) {                   // x as i
        float c = running[j * e + x], sum = 0.0f;
        for (int t = 0; t < count; ++t) {
            __global const float *row = rows + t * width, *scale = scales + t * 2 * inner;
            const int at = t * inner + x;
            c += row[x] * row[inner + j];
            const float both = scale[x] * scale[inner + j], g = c * both;
            const float ds = exp(tau[h] * g - lse[at]) * dy[at] * (row[v_column + j] - y[at]);
            sum += tau[h] * ds * both;
            if (scale[x] < free) along_q += tau[h] * ds * g * scale[x] * scale[x];
            dtau += ds * g;
        }
        sums[j * e + x] = sum;
    }
    for (int i = 0; i < e; ++i) {                   // x as j
        float c = running[x * e + i];
        for (int t = 0; t < count; ++t) {
            __global const float *row = rows + t * width, *scale = scales + t * 2 * inner;
            const int at = t * inner + i;
            c += row[i] * row[inner + x];
            const float g = c * (scale[i] * scale[inner + x]);
            const float ds = exp(tau[h] * g - lse[at]) * dy[at] * (row[v_column + x] - y[at]);
            if (scale[inner + x] < free) along_k += tau[h] * ds * g * scale[inner + x] * scale[inner + x];
        }
    }
    sums[e * e + x] = along_q;
    sums[(e + 1) * e + x] = along_k;
    tau_parts[((n * parts + p) * e + x) * heads + h] = dtau;
}

// later: what the sums that run backwards hold behind each stretch
// grid: dimension, boundaries*heads-heads, batch
__kernel void XCiTCausalGradients(
    __global const float *rows,     // [batch, units, width]
    __global const float *running,  // [batch, boundaries, heads, lines, dimension]
    __global const float *later,    // [batch, boundaries, heads, lines, dimension]
    __global const float *scales,    // [batch, units, 2, inner]
    __global const float *tau,      // [heads]
    __global const float *lse,      // [batch, units, inner]
    __global const float *y,        // [batch, units, inner]
    __global const float *dy,       // [batch, units, inner]
    __global float *drows,          // [batch, units, width]
    const int units, const int width, const int boundaries, const int heads, const int lines,
    const int dimension, const int inner, const int v_column, const float eps)
{
    const int e = dimension, x = get_global_id(0), h = get_global_id(1) % heads, p = get_global_id(1) / heads;
    const int n = get_global_id(2), length = (units + boundaries - 2) / (boundaries - 1);
    const int first = n * units + p * length, count = min(length, units - p * length);
    rows += first * width + h * e;
    drows += first * width + h * e;
    scales += first * 2 * inner + h * e;
    lse += first * inner + h * e;
    y += first * inner + h * e;
    dy += first * inner + h * e;
    running += ((n * boundaries + p) * heads + h) * lines * e;
    later += ((n * boundaries + p + 1) * heads + h) * lines * e;
    const float free = 1.0f / eps;
    float m[STRETCH], dq[STRETCH], dk[STRETCH], dv[STRETCH], along[STRETCH];
    for (int t = 0; t < count; ++t)
        dq[t] = dk[t] = dv[t] = along[t] = 0.0f;
    for (int j = 0; j < e; ++j) {                   // x as i
        float c = running[j * e + x], sum = later[j * e + x];
        for (int t = 0; t < count; ++t) {
            __global const float *row = rows + t * width, *scale = scales + t * 2 * inner;
            const int at = t * inner + x;
            c += row[x] * row[inner + j];
            const float both = scale[x] * scale[inner + j], g = c * both;
            const float ds = exp(tau[h] * g - lse[at]) * dy[at] * (row[v_column + j] - y[at]);
            m[t] = tau[h] * ds * both;
            if (scale[x] < free) along[t] += tau[h] * ds * g * scale[x] * scale[x];
        }
        for (int t = count - 1; t >= 0; --t) {
            sum += m[t];
            dq[t] += sum * rows[t * width + inner + j];
        }
    }
    float back = later[e * e + x];
    for (int t = count - 1; t >= 0; --t) {
        back += along[t];
        dq[t] -= back * rows[t * width + x];
        along[t] = 0.0f;
    }
    for (int i = 0; i < e; ++i) {                   // x as j
        float c = running[x * e + i], sum = later[x * e + i];
        for (int t = 0; t < count; ++t) {
            __global const float *row = rows + t * width, *scale = scales + t * 2 * inner;
            const int at = t * inner + i;
            c += row[i] * row[inner + x];
            const float both = scale[i] * scale[inner + x], g = c * both;
            const float a = exp(tau[h] * g - lse[at]), ds = a * dy[at] * (row[v_column + x] - y[at]);
            dv[t] += a * dy[at];
            m[t] = tau[h] * ds * both;
            if (scale[inner + x] < free) along[t] += tau[h] * ds * g * scale[inner + x] * scale[inner + x];
        }
        for (int t = count - 1; t >= 0; --t) {
            sum += m[t];
            dk[t] += sum * rows[t * width + i];
        }
    }
    back = later[(e + 1) * e + x];
    for (int t = count - 1; t >= 0; --t) {
        back += along[t];
        __global float *out = drows + t * width + x;
        out[0] = v_column ? dq[t] : dq[t] + dv[t];
        out[inner] = dk[t] - back * rows[t * width + inner + x];
        if (v_column) out[v_column] = dv[t];
    }
}

// --- CPU: 8 channels in the lanes --------------------------------------------------------------------

#define BLOCKS 8        // of 8 channels whose sums are kept at once

// group: 1, 1
// grid: boundaries*heads-heads, batch
__kernel void XCiTCausalSumsCPU(
    __global const float *rows,     // [batch, units, width]
    __global const float *running,  // [batch, boundaries, heads, lines, dimension]
    __global const float *scales,    // [batch, units, 2, inner]
    __global const float *tau,      // [heads]
    __global const float *lse,      // [batch, units, inner]
    __global const float *y,        // [batch, units, inner]
    __global const float *dy,       // [batch, units, inner]
    __global float *sums,           // [batch, parts, heads, lines, dimension]
    __global float *tau_parts,      // [batch, parts, dimension, heads]
    const int units, const int width, const int boundaries, const int parts, const int heads, const int lines,
    const int dimension, const int inner, const int v_column, const float eps)
{
    const int e = dimension, h = get_global_id(0) % heads, p = get_global_id(0) / heads, n = get_global_id(1);
    const int length = (units + parts - 1) / parts;
    const int first = n * units + p * length, count = min(length, units - p * length);
    rows += first * width + h * e;
    scales += first * 2 * inner + h * e;
    lse += first * inner + h * e;
    y += first * inner + h * e;
    dy += first * inner + h * e;
    running += ((n * boundaries + p) * heads + h) * lines * e;
    sums += ((n * parts + p) * heads + h) * lines * e;
    tau_parts += (n * parts + p) * e * heads + h;
    for (int j = 0; j < e; ++j)
        sums[(e + 1) * e + j] = 0.0f;
    for (int i = 0; i < e; i += 8) {
        const int lanes = e - i;
        float8 q[STRETCH], scale[STRETCH], free[STRETCH], d[STRETCH], along = 0.0f, dtau = 0.0f;
        for (int t = 0; t < count; ++t) {
            q[t] = load8(rows + t * width + i, lanes);
            scale[t] = load8(scales + t * 2 * inner + i, lanes);
            free[t] = scale[t] < 1.0f / eps ? scale[t] * scale[t] : (float8)0.0f;
            d[t] = load8(dy + t * inner + i, lanes);
        }
        for (int j = 0; j < e; ++j) {
            float8 c = load8(running + j * e + i, lanes), sum = 0.0f, back = 0.0f;
            for (int t = 0; t < count; ++t) {
                __global const float *row = rows + t * width;
                const float k = scales[(2 * t + 1) * inner + j];
                c += q[t] * row[inner + j];
                const float8 both = scale[t] * k, g = c * both;
                const float8 a = exp(tau[h] * g - load8(lse + t * inner + i, lanes));
                const float8 ds = a * d[t] * (row[v_column + j] - load8(y + t * inner + i, lanes));
                sum += ds * both;
                along += ds * g * free[t];
                back += ds * g * (k < 1.0f / eps ? k * k : 0.0f);
                dtau += ds * g;
            }
            store8(tau[h] * sum, sums + j * e + i, lanes);
            sums[(e + 1) * e + j] += tau[h] * sum8(back);
        }
        store8(tau[h] * along, sums + e * e + i, lanes);
        float of_tau[8];
        vstore8(dtau, 0, of_tau);
        for (int r = 0; r < min(8, lanes); ++r) tau_parts[(i + r) * heads] = of_tau[r];
    }
}

// group: 1, 1
// grid: boundaries*heads-heads, batch
__kernel void XCiTCausalGradientsCPU(
    __global const float *rows,     // [batch, units, width]
    __global const float *running,  // [batch, boundaries, heads, lines, dimension]
    __global const float *later,    // [batch, boundaries, heads, lines, dimension]
    __global const float *scales,    // [batch, units, 2, inner]
    __global const float *tau,      // [heads]
    __global const float *lse,      // [batch, units, inner]
    __global const float *y,        // [batch, units, inner]
    __global const float *dy,       // [batch, units, inner]
    __global float *drows,          // [batch, units, width]
    const int units, const int width, const int boundaries, const int heads, const int lines,
    const int dimension, const int inner, const int v_column, const float eps)
{
    const int e = dimension, h = get_global_id(0) % heads, p = get_global_id(0) / heads, n = get_global_id(1);
    const int length = (units + boundaries - 2) / (boundaries - 1);
    const int first = n * units + p * length, count = min(length, units - p * length);
    rows += first * width + h * e;
    drows += first * width + h * e;
    scales += first * 2 * inner + h * e;
    lse += first * inner + h * e;
    y += first * inner + h * e;
    dy += first * inner + h * e;
    running += ((n * boundaries + p) * heads + h) * lines * e;
    later += ((n * boundaries + p + 1) * heads + h) * lines * e;
    for (int t = 0; t < count; ++t)
        for (int x = 0; x < e; ++x) {
            drows[t * width + x] = drows[t * width + inner + x] = 0.0f;
            if (v_column) drows[t * width + v_column + x] = 0.0f;
        }
    float8 m[STRETCH], dk[STRETCH], dv[STRETCH], along_k[STRETCH];
    float8 dq[BLOCKS][STRETCH], along_q[BLOCKS][STRETCH];
    for (int begin = 0; begin < e; begin += 8 * BLOCKS) {   // of the channels i
        const int blocks = min(BLOCKS, (e - begin + 7) / 8);
        for (int r = 0; r < blocks; ++r)
            for (int t = 0; t < count; ++t)
                dq[r][t] = along_q[r][t] = 0.0f;
        for (int j = 0; j < e; ++j) {
            for (int t = 0; t < count; ++t)
                dk[t] = dv[t] = along_k[t] = 0.0f;
            for (int r = 0; r < blocks; ++r) {
                const int i = begin + 8 * r, lanes = e - i;
                float8 c = load8(running + j * e + i, lanes), sum = load8(later + j * e + i, lanes);
                for (int t = 0; t < count; ++t) {
                    __global const float *row = rows + t * width, *scale = scales + t * 2 * inner;
                    const int at = t * inner + i;
                    c += load8(row + i, lanes) * row[inner + j];
                    const float8 both = load8(scale + i, lanes) * scale[inner + j], g = c * both;
                    const float8 a = exp(tau[h] * g - load8(lse + at, lanes)) * load8(dy + at, lanes);
                    const float8 ds = tau[h] * a * (row[v_column + j] - load8(y + at, lanes));
                    m[t] = ds * both;
                    dv[t] += a;
                    along_q[r][t] += ds * g;
                    along_k[t] += ds * g;
                }
                for (int t = count - 1; t >= 0; --t) {
                    sum += m[t];
                    dq[r][t] += sum * rows[t * width + inner + j];
                    dk[t] += sum * load8(rows + t * width + i, lanes);
                }
            }
            float back = begin == 0 ? later[(e + 1) * e + j] : 0.0f;
            for (int t = count - 1; t >= 0; --t) {
                const float scale = scales[(2 * t + 1) * inner + j];
                if (scale < 1.0f / eps) back += sum8(along_k[t]) * scale * scale;
                drows[t * width + inner + j] += sum8(dk[t]) - back * rows[t * width + inner + j];
                drows[t * width + v_column + j] += sum8(dv[t]);     // v may be q
            }
        }
        for (int r = 0; r < blocks; ++r) {
            const int i = begin + 8 * r, lanes = e - i;
            float8 back = load8(later + e * e + i, lanes);
            for (int t = count - 1; t >= 0; --t) {
                const float8 scale = load8(scales + t * 2 * inner + i, lanes);
                __global float *to = drows + t * width + i;
                back += scale < 1.0f / eps ? along_q[r][t] * scale * scale : (float8)0.0f;
                store8(load8(to, lanes) + dq[r][t] - back * load8(rows + t * width + i, lanes), to, lanes);
            }
        }
    }
}
