// sgd.cl: gradient descent with momentum over any flat piece of the parameter pool.
//
//   m = momentum * m + g       w = w - lr * (m + l2 * w + l1 * sign(w))
//
// Used by   ops/sgd.py           Checked against   reference/sgd.py
// NeuroNet  UpdateWeightsMomentum (errata E12: a NaN does not freeze a weight for ever)

// grid: n/8
__kernel BY8 void SgdStep(
    __global float *w,              // [n]
    __global float *g,              // [n]  set to zero after use
    __global float *m,              // [n]
    __global const float *hyper,    // [hyper]  [HYPER_BETA1] is the momentum
    const int n)
{
    const int i = 8 * get_global_id(0), count = n - i;
    if (hyper[HYPER_GO] != 0.0f) {
        const float8 wi = load8(w + i, count);
        const float8 mi = hyper[HYPER_BETA1] * load8(m + i, count) + load8(g + i, count);
        const float8 decay = hyper[HYPER_L2] * wi + hyper[HYPER_L1] * sign(wi);
        store8(mi, m + i, count);
        store8(wi - hyper[HYPER_LR] * (mi + decay), w + i, count);
    }
    store8(0.0f, g + i, count);
}
